/** Names of the Service that the check before a switch to active creates in the cluster and deletes again. */
const prefix = 'fleet-endpoints-canary-';

export const canaryName = (suffix: string): string => `${prefix}${suffix}`;
export const isCanary = (service: string): boolean => service.startsWith(prefix);
