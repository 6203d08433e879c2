/** Reads docs/develop/parity.yaml. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

export const parityFile = 'docs/develop/parity.yaml';

/** What upstream does. Only context, as an older version's behaviour, has neither test nor difference. */
export interface Statement {
  readonly id: string;
  readonly text: string;
  /** "file below test/: part of a title", "file below test/", or "conformance: family of vectors". */
  readonly tests?: readonly string[];
  /** The deliberate differences from it. */
  readonly differences?: readonly string[];
  /** Why no test can show it. */
  readonly noTest?: string;
}

/** A deliberate difference. */
export interface Difference {
  readonly id: string;
  readonly upstream: string;
  /** What this project does instead, and why. */
  readonly here: string;
  readonly tests: readonly string[];
}

export interface Section {
  readonly number: string;
  readonly title: string;
  /** Upstream's packages or files, below k8s.io/kubernetes if no module is named. */
  readonly source?: string;
  readonly note?: string;
  readonly statements: readonly Statement[];
}

export interface Parity {
  readonly differences: readonly Difference[];
  readonly sections: readonly Section[];
}

export const readParity = (): Parity => parse(readFileSync(parityFile, 'utf8')) as Parity;

export const statementsOf = ({ sections }: Parity): readonly Statement[] =>
  sections.flatMap(({ statements }) => statements);
