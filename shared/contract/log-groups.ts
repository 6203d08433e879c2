/**
 * Names of the functions' log groups. The bill finds them by name in an app whose stacks have names of their
 * own.
 */
export const functionRoles = ['ingest', 'sync', 'sweep', 'register'] as const;

export const logGroupNameOf = (hub: string, role: string): string => `${hub}-${role}`;
