/** What can fail between the clusters of a set, for the hub as a whole (docs/use/clusterset.md). */
import { type Alarm, on } from '#infra/aws/monitoring/alarm.ts';

export const clustersetAlarms: readonly Alarm[] = [
  on('SourceSilent', 'SourcesSilent', 'Maximum', {
    severity: 'ticket',
    threshold: 0,
    periods: 5,
    meaning: 'an exporting cluster is silent, so other clusters keep its endpoints unchanged',
  }),
  on('SourceEvicted', 'SourcesEvicted', 'Maximum', {
    severity: 'ticket',
    threshold: 0,
    meaning: 'an exporting cluster is lost, and its endpoints leave other clusters',
  }),
  on('EvictionHeld', 'EvictionsHeld', 'Sum', {
    severity: 'page',
    threshold: 0,
    periodMinutes: 5,
    periods: 3,
    datapoints: 2,
    meaning:
      'an exporting cluster is lost, and its endpoints stay in other clusters: nothing else can take its traffic, or the hub doesn’t reach the clusters',
  }),
  on('SourceUnknown', 'SourcesUnknown', 'Sum', {
    severity: 'ticket',
    threshold: 0,
    periodMinutes: 5,
    periods: 3,
    datapoints: 2,
    meaning: 'imports aren’t updated, because the hub doesn’t know what some of their clusters export',
  }),
  on('ExportRefused', 'ExportsRefused', 'Sum', {
    severity: 'ticket',
    threshold: 0,
    periodMinutes: 5,
    meaning: 'a ServiceExport isn’t valid, so other clusters don’t import its Service',
  }),
  on('ImportBlocked', 'ImportsBlocked', 'Sum', {
    severity: 'ticket',
    threshold: 0,
    periodMinutes: 5,
    meaning:
      'a cluster can’t reach an exported Service: another owner’s object has its name, or a write is refused',
  }),
  on('AddressCollision', 'AddressCollisions', 'Sum', {
    severity: 'ticket',
    threshold: 0,
    periodMinutes: 5,
    meaning: 'two clusters export the same address, and importers omit one',
  }),
  on('AddressOutside', 'AddressesOutside', 'Sum', {
    severity: 'ticket',
    threshold: 0,
    periodMinutes: 5,
    meaning: 'pods of an export have addresses outside their cluster’s ranges, so importers omit them',
  }),
];
