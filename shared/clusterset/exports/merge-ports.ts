/** The ports of an import: the union of those of its exports (MC-15, MC-59). */

import type { ImportPort } from '#shared/kube/mcs-types.ts';
import type { ServicePort } from '#shared/kube/types.ts';
import type { ExportedService } from './precedence.ts';

/** Further ports are left out, and the conditions name them. */
export const maxPorts = 64;

export interface MergedPorts {
  readonly ports: readonly ImportPort[];
  /** Undefined: every export has exactly these ports. */
  readonly conflict: string | undefined;
}

/**
 * `exports` in the order of their precedence. A port that does not fit those before it is left out: the
 * derived Service could not have both. A port that differs by its appProtocol alone is the same port, so no
 * live endpoint is withdrawn for it.
 */
export function mergePorts(exports: readonly ExportedService[]): MergedPorts {
  const merged: PortOf[] = [];
  let first: string | undefined;
  const all = exports.flatMap(({ cluster, spec }) =>
    importPorts(spec.ports).map((port) => ({ cluster, port })),
  );
  for (const { cluster, port } of all) {
    if (merged.some((m) => isEqual(m.port, port))) continue;
    const conflict = conflictWith(merged, port, cluster);
    if (conflict === undefined) merged.push({ port, cluster });
    else first ??= conflict;
  }
  const ports = merged.map((m) => m.port);
  const differing = exports
    .filter(({ spec }) => !hasExactly(importPorts(spec.ports), ports))
    .map((e) => e.cluster);
  if (differing.length === 0) return { ports, conflict: undefined };
  const count = `${differing.length}/${exports.length} clusters do not have exactly the ports of the import.`;
  return {
    ports,
    conflict: first === undefined ? `Conflicting ports. ${count}` : `Conflicting ports. ${first} ${count}`,
  };
}

interface PortOf {
  readonly port: ImportPort;
  readonly cluster: string;
}

/** Returns why the port cannot join those before it, or undefined if it can. */
function conflictWith(merged: readonly PortOf[], port: ImportPort, cluster: string): string | undefined {
  const other = merged.find((m) => isSamePort(m.port, port)) ?? merged.find((m) => excludes(m.port, port));
  if (other) return againstOther(port, cluster, other);
  return merged.length < maxPorts
    ? undefined
    : `Port ${show(port)} of cluster "${cluster}" is left out: ${maxPorts} are the most.`;
}

/**
 * Returns the ports that the export's Service and the import share, with the import's appProtocol. Traffic to
 * other ports goes only to other clusters ("strict", MC-15).
 */
export function exposedPorts(
  own: readonly ServicePort[] | undefined,
  merged: readonly ImportPort[],
): readonly ServicePort[] {
  return (own ?? []).flatMap((port) => {
    const { appProtocol: _, ...rest } = port;
    const same = merged.find((m) => isSamePort(m, importPort(port)));
    return same ? [{ ...rest, ...(same.appProtocol && { appProtocol: same.appProtocol }) }] : [];
  });
}

/** Without targetPort and nodePort, which are the export's own business. */
const importPorts = (ports: readonly ServicePort[] | undefined): readonly ImportPort[] =>
  (ports ?? []).map(importPort);

const importPort = ({ name, port, protocol, appProtocol }: ServicePort): ImportPort => ({
  ...(name && { name }),
  port,
  protocol: protocol || 'TCP',
  ...(appProtocol && { appProtocol }),
});

const isSamePort = (a: ImportPort, b: ImportPort): boolean =>
  a.name === b.name && a.port === b.port && a.protocol === b.protocol;

const isEqual = (a: ImportPort, b: ImportPort): boolean =>
  isSamePort(a, b) && a.appProtocol === b.appProtocol;

/** May no Service have both? Names and numbers are there once, and a port without a name is alone. */
const excludes = (a: ImportPort, b: ImportPort): boolean =>
  a.name === b.name ||
  (a.port === b.port && a.protocol === b.protocol) ||
  a.name === undefined ||
  b.name === undefined;

const hasExactly = (own: readonly ImportPort[], merged: readonly ImportPort[]): boolean =>
  own.length === merged.length && own.every((port) => merged.some((m) => isEqual(m, port)));

function againstOther(
  port: ImportPort,
  cluster: string,
  other: { readonly port: ImportPort; readonly cluster: string },
): string {
  const effect = isSamePort(port, other.port) ? 'imported as' : 'left out for';
  return `Port ${show(port)} of cluster "${cluster}" is ${effect} ${show(other.port)} of cluster "${other.cluster}", which has precedence.`;
}

const show = ({ name, port, protocol, appProtocol }: ImportPort): string =>
  `${name ?? '(unnamed)'} ${port}/${protocol}${appProtocol ? ` (${appProtocol})` : ''}`;
