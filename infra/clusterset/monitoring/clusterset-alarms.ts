/** What can fail between the clusters of a set, for the hub as a whole (docs/use/clusterset.md). */
import { type Alarm, on } from '#infra/aws/monitoring/alarm.ts';

export const clustersetAlarms: readonly Alarm[] = [
  on('SourceSilent', 'SourcesSilent', 'Maximum', {
    severity: 'ticket',
    threshold: 0,
    periods: 5,
    meaning: 'a source is silent: its endpoints stay in other clusters as they are',
  }),
  on('SourceEvicted', 'SourcesEvicted', 'Maximum', {
    severity: 'ticket',
    threshold: 0,
    meaning: 'a source is evicted: its endpoints are removed from other clusters',
  }),
  on('EvictionHeld', 'EvictionsHeld', 'Sum', {
    severity: 'page',
    threshold: 0,
    periodMinutes: 5,
    periods: 3,
    datapoints: 2,
    meaning:
      'a source is gone, and its eviction waits: no other source can take its traffic, or the hub does not reach the clusters',
  }),
  on('SourceUnknown', 'SourcesUnknown', 'Sum', {
    severity: 'ticket',
    threshold: 0,
    periodMinutes: 5,
    periods: 3,
    datapoints: 2,
    meaning: 'imports stay as they were, as the hub does not know what some of their clusters export',
  }),
  on('ExportRefused', 'ExportsRefused', 'Sum', {
    severity: 'ticket',
    threshold: 0,
    periodMinutes: 5,
    meaning: 'a ServiceExport is not valid',
  }),
  on('ImportBlocked', 'ImportsBlocked', 'Sum', {
    severity: 'ticket',
    threshold: 0,
    periodMinutes: 5,
    meaning: 'an object of another owner has the name of an import, or its cluster refuses a write of it',
  }),
  on('AddressCollision', 'AddressCollisions', 'Sum', {
    severity: 'ticket',
    threshold: 0,
    periodMinutes: 5,
    meaning: 'two clusters export the same address',
  }),
  on('AddressOutside', 'AddressesOutside', 'Sum', {
    severity: 'ticket',
    threshold: 0,
    periodMinutes: 5,
    meaning:
      'pods of an export have addresses outside of the ranges of its cluster, and no importer has them',
  }),
];
