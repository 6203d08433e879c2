/**
 * Property of the custom resource that registers a cluster: the registration as JSON text
 * (shared/clusters/registration.ts).
 */
export const registrationProperty = 'Registration';

/**
 * Raise the value if register writes other records than before. The next deploy of each cluster's stack then
 * writes them without further changes.
 */
export const registrationVersion = { property: 'RegistrationVersion', value: '2' } as const;

/** The custom resource whose deletion register refuses, and its property with the cluster's id. */
export const removalGuard = { type: 'Custom::FleetEndpointsRemoval', property: 'Cluster' } as const;
