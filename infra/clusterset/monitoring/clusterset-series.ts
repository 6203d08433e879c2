/** The series of exports and imports on the fleet's dashboard (docs/use/clusterset.md). */
export const clustersetCounts = [
  { metric: 'SourcesSilent', statistic: 'Sum', label: 'silent sources' },
  { metric: 'SourcesUnknown', statistic: 'Sum', label: 'unknown sources' },
  { metric: 'SourcesEvicted', statistic: 'Sum', label: 'evicted sources' },
  { metric: 'EvictionsHeld', statistic: 'Sum', label: 'evictions held' },
  { metric: 'ExportsRefused', statistic: 'Sum', label: 'invalid exports' },
  { metric: 'ImportsBlocked', statistic: 'Sum', label: 'blocked imports' },
  { metric: 'ImportsDelayed', statistic: 'Sum', label: 'delayed imports' },
  { metric: 'AddressCollisions', statistic: 'Sum', label: 'collisions' },
  { metric: 'AddressesOutside', statistic: 'Sum', label: 'outside of ranges' },
  { metric: 'WritesImports', statistic: 'Sum', label: 'writes of slices' },
] as const;

export const clustersetDelays = [
  { metric: 'ImportLatency', statistic: 'p50', label: 'until imported p50' },
  { metric: 'ImportLatency', statistic: 'p99', label: 'until imported p99' },
] as const;
