/** One point of `fleet-endpoints opt-in check`. docs/reference/codes.md lists the codes. */
export const optInCodes = [
  'Type',
  'Annotation',
  'Switch',
  'Hub',
  'ZonalShift',
  'State',
  'Cluster',
  'SelectorOwner',
  'ReadinessGates',
  'LoadBalancer',
  'OtherWriters',
  'Exported',
  'Headless',
  'Kubectl',
  'HubOutage',
] as const;

/**
 * `applies` works differently without the selector. `blocks` must be repaired before the removal of the
 * selector.
 */
export const optInVerdicts = ['fine', 'applies', 'blocks', 'unknown'] as const;

export interface OptInFinding {
  readonly code: (typeof optInCodes)[number];
  readonly verdict: (typeof optInVerdicts)[number];
  readonly message: string;
  readonly remedy: string | null;
}

export const point = (
  code: OptInFinding['code'],
  verdict: OptInFinding['verdict'],
  message: string,
  remedy: string | null = null,
): OptInFinding => ({
  code,
  verdict,
  message,
  remedy,
});
