/** Property of the custom resource that registers a cluster: the registration as JSON text (shared/clusters/registration.ts). */
export const registrationProperty = 'Registration';

/** Raised when register writes other records than before: the next deploy of a cluster's stack then writes them, though nothing else of it changed. */
export const registrationVersion = { property: 'RegistrationVersion', value: '2' } as const;
