import { fileURLToPath } from 'node:url';

/** Where Node keeps what it has compiled: eight processes with the AWS SDK start in a third of the time. */
export const compileCache = fileURLToPath(new URL('../../node_modules/.cache/compile', import.meta.url));
