/** dynalite ships no types; this is the part that is used. */
declare module 'dynalite' {
  import type { Server } from 'node:http';

  /** `path` is a folder for LevelDB; without it everything is in memory. */
  export default function dynalite(options?: { path?: string; createTableMs?: number }): Server;
}
