/** dynalite ships no types. These are the ones in use. */
declare module 'dynalite' {
  import type { Server } from 'node:http';

  /** `path` is a folder for LevelDB. Without it the data is in memory. */
  export default function dynalite(options?: { path?: string; createTableMs?: number }): Server;
}
