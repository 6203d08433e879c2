/** Why something cannot be reached, or deserves a look, and what to do next. */

/** For programs. docs/use/why-not-an-endpoint.md lists them; a code keeps its meaning from version 0.1 on. */
export const causeCodes = [
  'ServiceMissing',
  'ServiceDeleted',
  'NamespaceDeleted',
  'ExternalName',
  'NoSelector',
  'InvalidAnnotation',
  'OptIn',
  'ScaledToZero',
  'PodsRefused',
  'SelectorMismatch',
  'NoPods',
  'OtherNamespace',
  'SeveralWorkloads',
  'NoMatchingPort',
  'PortNotDeclared',
  'NoServicePorts',
  'NoAddressOfFamily',
  'NoPodIP',
  'SharedAddress',
  'PodEnded',
  'PodTerminating',
  'Unschedulable',
  'NodeNotReady',
  'NodeUnknown',
  'InitContainer',
  'ContainerWaiting',
  'ContainerEnded',
  'StartupProbe',
  'ReadinessProbe',
  'ReadinessGate',
  'NotReady',
  'PublishedNotReady',
  'OverCapacity',
  'ZoneAway',
  'NotWritten',
  'Stale',
  'Refused',
  'AdmissionPolicy',
  'Leftover',
  'OtherManager',
  'PortNames',
  'NotMirrored',
  'SliceWithoutService',
  'NoHints',
  'ZoneHints',
  'TrafficPolicy',
  'NoHostname',
  'NetworkPolicy',
  'LoadBalancer',
  'Export',
] as const;
export type CauseCode = (typeof causeCodes)[number];

export interface Cause {
  readonly code: CauseCode;
  /** `bad`: something cannot be reached. `warning`: some of it, or at some times. `note`: as it is wanted. */
  readonly weight: 'bad' | 'warning' | 'note';
  /** A clause. */
  readonly text: string;
  /** What to do next, or undefined if nothing is to be done. */
  readonly next?: string | undefined;
  /** The pods that have it. Empty for a cause of the Service itself. */
  readonly pods: readonly string[];
}

export const bad = (code: CauseCode, text: string, next?: string): Cause => ({
  ...{ code, weight: 'bad', text, pods: [] },
  ...(next !== undefined && { next }),
});
export const warning = (code: CauseCode, text: string, next?: string): Cause => ({
  ...bad(code, text, next),
  weight: 'warning',
});
export const note = (code: CauseCode, text: string, next?: string): Cause => ({
  ...bad(code, text, next),
  weight: 'note',
});

/** Pods with the same cause are told together, in the order of their first ones. */
export function gathered(causes: readonly (readonly [pod: string, cause: Cause])[]): readonly Cause[] {
  const alike = Map.groupBy(causes, ([, { code, text }]) => `${code} ${text}`);
  return [...alike.values()].map((alike) => {
    const [, first] = alike[0] as (typeof alike)[number];
    return { ...first, pods: alike.map(([pod]) => pod) };
  });
}
