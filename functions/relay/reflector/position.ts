import type { Kind } from '#shared/kube/types.ts';
import { isNewer } from '../source/resource-version.ts';

/** How far one kind has been read in a session. Its reflector moves it, and messages of live states carry it. */
export class Position {
  readonly #kind: Kind;
  readonly #answered: Map<Kind, string>;
  /** A watch resumes after this version: that of its list, or of what it has read since. */
  #readUpTo: string | undefined;

  /** `answered`: `ReflectorDeps.answered`. */
  constructor(kind: Kind, answered: Map<Kind, string>) {
    this.#kind = kind;
    this.#answered = answered;
  }

  /** Undefined before the first list is sent. */
  get readUpTo(): string | undefined {
    return this.#readUpTo;
  }

  moveTo(version: string): void {
    this.#readUpTo = version;
  }

  /** The API server has answered with this version, in a page or before a watch. */
  noteAnswer(version: string): void {
    this.#answered.set(this.#kind, newerOf(this.#answered.get(this.#kind), version) ?? version);
  }

  /** The newest version that the kind was seen at: no later answer of the same history is older. */
  floor(listed: string | undefined): string | undefined {
    return newerOf(this.#answered.get(this.#kind), this.newest(listed));
  }

  /** The newer one of the versions that whole lists and the watch have read. */
  newest(listed: string | undefined): string | undefined {
    return newerOf(listed, this.#readUpTo);
  }
}

const newerOf = (a: string | undefined, b: string | undefined): string | undefined =>
  a !== undefined && b !== undefined ? (isNewer(a, b) ? a : b) : (a ?? b);
