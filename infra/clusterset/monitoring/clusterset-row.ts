/** The row of the fleet's dashboard for exports and imports (docs/clusterset.md). */
export const clustersetRow = {
  title: 'Across clusters',
  widgets: [
    {
      title: 'Sources of imports',
      kind: 'lines',
      unit: 'Count',
      series: [
        { metric: 'SourcesSilent', statistic: 'Sum', label: 'silent' },
        { metric: 'SourcesUnknown', statistic: 'Sum', label: 'of imports, unknown' },
        { metric: 'SourcesEvicted', statistic: 'Sum', label: 'evicted' },
        { metric: 'EvictionsHeld', statistic: 'Sum', label: 'evictions held' },
      ],
    },
    {
      title: 'Exports and imports',
      kind: 'lines',
      unit: 'Count',
      series: [
        { metric: 'ExportsRefused', statistic: 'Sum', label: 'invalid exports' },
        { metric: 'ImportsBlocked', statistic: 'Sum', label: 'blocked imports' },
        { metric: 'ImportsDelayed', statistic: 'Sum', label: 'delayed imports' },
        { metric: 'AddressCollisions', statistic: 'Sum', label: 'collisions' },
        { metric: 'AddressesOutside', statistic: 'Sum', label: 'outside of ranges' },
        { metric: 'WritesImports', statistic: 'Sum', label: 'writes of slices' },
      ],
    },
    {
      title: 'From a source’s pod to its import',
      kind: 'lines',
      unit: 'Milliseconds',
      series: [
        { metric: 'ImportLatency', statistic: 'p50', label: 'p50' },
        { metric: 'ImportLatency', statistic: 'p99', label: 'p99' },
      ],
    },
  ],
} as const;
