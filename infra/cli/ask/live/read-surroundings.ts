/** Reads the objects beside a Service that explain its endpoints, in the form of an answer. */
import type {
  V1Deployment,
  V1LabelSelector,
  V1NetworkPolicy,
  V1ValidatingAdmissionPolicy,
  V1ValidatingWebhookConfiguration,
} from '@kubernetes/client-node';
import type { AdmissionRule, NetworkPolicy, Workload } from '#infra/cli/ask/answer/world.ts';
import type { Labels } from '#shared/kube/labels.ts';
import { selectorMatches } from '#shared/kube/selectors/label-selector.ts';
import type { Named, Wire } from '#shared/kube/types.ts';
import type { LiveCluster } from './live-cluster.ts';

const kinds = {
  deployments: 'Deployment',
  replicasets: 'ReplicaSet',
  statefulsets: 'StatefulSet',
  daemonsets: 'DaemonSet',
} as const;

export async function readWorkloads(
  cluster: LiveCluster,
  /** Undefined: of every namespace. */
  namespace: string | undefined,
): Promise<readonly Workload[] | undefined> {
  const where = namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  const lists = await Promise.all(
    Object.entries(kinds).map(async ([plural, kind]) => {
      const path = `/apis/apps/v1${where}/${plural}`;
      const found = await cluster.list<Named<V1Deployment>>(plural, path);
      return found?.map(
        ({ metadata, spec, status }): Workload => ({
          ...{ kind, metadata },
          replicas: kind === 'DaemonSet' ? undefined : (spec?.replicas ?? 1),
          templateLabels: spec?.template?.metadata?.labels ?? {},
          conditions: status?.conditions ?? [],
        }),
      );
    }),
  );
  return lists.every((l) => l === undefined) ? undefined : lists.flatMap((l) => l ?? []);
}

/** Policies for ingress whose selector has pairs only. Ranges of ports count as every port. */
export async function readNetworkPolicies(
  cluster: LiveCluster,
  namespace: string,
): Promise<readonly NetworkPolicy[] | undefined> {
  const path = `/apis/networking.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/networkpolicies`;
  const found = await cluster.list<Named<V1NetworkPolicy>>('networkpolicies', path);
  return found
    ?.filter(({ spec }) => spec?.policyTypes?.includes('Ingress') ?? true)
    .filter(({ spec }) => !spec?.podSelector?.matchExpressions?.length)
    .map(({ metadata, spec }) => ({
      name: metadata.name,
      podSelector: spec?.podSelector?.matchLabels ?? {},
      ingress: (spec?.ingress ?? []).flatMap(({ ports }) =>
        ports && ports.length > 0
          ? ports.map(({ port, endPort }) => (port === undefined || endPort ? ('any' as const) : port))
          : ['any' as const],
      ),
    }));
}

const admission = '/apis/admissionregistration.k8s.io/v1';

/** Admission rules that see EndpointSlices of a namespace with these labels. */
export async function readAdmission(cluster: LiveCluster, labels: Labels): Promise<readonly AdmissionRule[]> {
  const [policies, configurations] = await Promise.all([
    cluster.list<Named<V1ValidatingAdmissionPolicy>>(
      'validatingadmissionpolicies',
      `${admission}/validatingadmissionpolicies`,
    ),
    cluster.list<Named<V1ValidatingWebhookConfiguration>>(
      'validatingwebhookconfigurations',
      `${admission}/validatingwebhookconfigurations`,
    ),
  ]);
  return [
    ...(policies ?? [])
      .filter(({ spec = {} }) =>
        sees(spec.matchConstraints?.resourceRules, spec.matchConstraints?.namespaceSelector, labels),
      )
      .map(({ metadata, spec }) => ({
        kind: 'ValidatingAdmissionPolicy',
        name: metadata.name,
        messages: (spec?.validations ?? []).flatMap((v) => v.message ?? v.expression ?? []),
      })),
    ...(configurations ?? []).flatMap(({ metadata, webhooks = [] }) =>
      webhooks
        .filter((w) => sees(w.rules, w.namespaceSelector, labels))
        .map((w) => ({
          kind: 'ValidatingWebhookConfiguration',
          name: metadata.name,
          messages: [`webhook ${w.name}`],
        })),
    ),
  ];
}

/** Selectors with expressions are taken as matching: the rule may apply. */
function sees(
  rules: readonly { readonly apiGroups?: readonly string[]; readonly resources?: readonly string[] }[] = [],
  namespaces: Wire<V1LabelSelector> = {},
  labels: Labels,
): boolean {
  const isOne = (all: readonly string[] = [], one: string): boolean => all.includes(one) || all.includes('*');
  return (
    rules.some((r) => isOne(r.apiGroups, 'discovery.k8s.io') && isOne(r.resources, 'endpointslices')) &&
    selectorMatches(namespaces.matchLabels ?? {}, labels)
  );
}
