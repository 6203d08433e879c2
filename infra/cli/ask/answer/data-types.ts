/** Types of data for programs, of which a schema says more than TypeScript. */
export const apiVersion = 'fleet-endpoints/v1';

/**
 * RFC 3339, in UTC.
 *
 * @format date-time
 */
export type Time = string;

/**
 * @asType integer
 * @minimum 0
 */
export type Count = number;
