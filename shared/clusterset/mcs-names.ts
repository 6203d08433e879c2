/** Names of the Multi-Cluster Services API: the contract has those that infra's admission policies hold the writer to. */
export { annotationDerivedService, derivedPrefix, excludedNamespaces, importManagedBy } from '#shared/contract/clusterset-names.ts';
