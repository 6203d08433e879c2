/**
 * Conditions of exports and imports. An unchanged condition keeps its time, and an unchanged status is not
 * written.
 */

import type { Condition } from '#shared/kube/mcs-types.ts';
import type { ExportValidity } from './export-validity.ts';
import type { Conflict, MergedExports } from './merge.ts';

export interface ExportStatus {
  readonly validity: ExportValidity;
  /** Conflicts between all exports of the name. An export that is not in the set has none. */
  readonly conflicts: readonly Conflict[];
  /** Why the export has not come to each of its importers, or not whole; undefined: it has. */
  readonly failure?: ExportFailure | undefined;
  /** Problems that do not make the export invalid, for instance of annotations. */
  readonly problems?: readonly string[];
  /**
   * An export that is not valid any more may stay in the set (`staysInSet`). Undefined: it is not there. By
   * default the valid ones are.
   */
  readonly endpoints?: ExportedEndpoints | undefined;
}

/** What importers have of an export that is in the set. */
export type ExportedEndpoints = 'followed' | 'last-selector' | 'frozen' | 'none';

export interface ExportFailure {
  /** `Exported`: the import is there, and lacks what the message names. */
  readonly reason: 'Exported' | 'Pending' | 'Failed' | 'ImportNotOurs';
  readonly message: string;
}

/** The conditions of a ServiceExport (MC-3, MC-14). */
export function exportConditions({
  validity,
  conflicts,
  failure,
  problems = [],
  endpoints = validity.valid ? 'followed' : undefined,
}: ExportStatus): readonly UntimedCondition[] {
  const conflict = endpoints !== undefined && conflicts.length > 0;
  return [
    validity.valid
      ? { type: 'Valid', status: 'True', reason: 'Valid', message: shortened(problems.join(' ')) }
      : { type: 'Valid', status: 'False', reason: validity.reason, message: shortened(validity.message) },
    readiness({ validity, failure, endpoints }),
    conflict
      ? {
          type: 'Conflict',
          status: 'True',
          reason: conflicts.map((c) => c.reason).join(','),
          message: shortened(conflicts.map((c) => c.message).join(' ')),
        }
      : { type: 'Conflict', status: 'False', reason: 'NoConflicts', message: '' },
  ];
}

function readiness({
  validity,
  failure,
  endpoints,
}: Pick<ExportStatus, 'validity' | 'failure' | 'endpoints'>): UntimedCondition {
  if (!validity.valid) {
    const stays = endpoints
      ? `: its import stays until the ServiceExport is deleted, ${endpointsTexts[endpoints]}`
      : '';
    return { type: 'Ready', status: 'False', reason: 'Failed', message: `the export is not valid${stays}` };
  }
  const { reason = 'Exported', message = '' } = failure ?? {};
  return {
    type: 'Ready',
    status: reason === 'Exported' ? 'True' : 'False',
    reason,
    message: shortened(message),
  };
}

const endpointsTexts: Readonly<Record<ExportedEndpoints, string>> = {
  followed: 'and its endpoints follow the pods',
  'last-selector': 'and its endpoints follow the pods of the last valid selector',
  frozen: 'and its endpoints stay as they are, because the last valid selector is not known any more',
  none: 'without endpoints',
};

/** Undefined: nodes use the endpoints of other clusters too. */
export function localTrafficText({
  spec,
  winner,
}: Pick<MergedExports, 'spec' | 'winner'>): string | undefined {
  if (spec.internalTrafficPolicy !== 'Local') return undefined;
  return `internalTrafficPolicy is Local by the export of cluster "${winner.cluster}": a node uses only pods on itself, so no cluster reaches the pods of another one.`;
}

/** A condition without its time. */
export type UntimedCondition = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

export interface Existing {
  readonly generation: number | undefined;
  readonly conditions: readonly Condition[] | undefined;
}

/**
 * Returns the conditions to write, or undefined if the object has them already. Conditions of other types
 * belong to other controllers and stay. `now` is RFC 3339 with whole seconds.
 */
export function changedConditions(
  said: readonly UntimedCondition[],
  { generation, conditions = [] }: Existing,
  now: string,
): readonly Condition[] | undefined {
  const next = said.map((s): Condition => {
    const before = conditions.find((c) => c.type === s.type);
    const lastTransitionTime = before?.status === s.status ? before.lastTransitionTime : now;
    return { ...s, ...(generation !== undefined && { observedGeneration: generation }), lastTransitionTime };
  });
  const isSaid = (c: Condition): boolean => conditions.some((b) => b.type === c.type && isSame(b, c));
  if (next.every(isSaid)) return undefined;
  return [...conditions.filter((c) => !said.some((s) => s.type === c.type)), ...next];
}

const isSame = (a: Condition, b: Condition): boolean =>
  a.status === b.status &&
  a.reason === b.reason &&
  a.message === b.message &&
  a.observedGeneration === b.observedGeneration;

/** The API takes 32,768 bytes. */
const maxMessageLength = 8_000;
const shortened = (text: string): string =>
  text.length <= maxMessageLength ? text : `${text.slice(0, maxMessageLength)}…`;
