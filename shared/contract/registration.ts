/** Property of the custom resource that registers a cluster: the registration as JSON text (shared/snapshot/meta.ts). */
export const registrationProperty = 'Registration';
