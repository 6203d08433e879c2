import type { RelayInstall } from './manifest.ts';
import { relayParts } from './wing.ts';

/** The values by which the Helm chart renders the same objects as `relayManifest`. */
export function chartValues(install: RelayInstall): { readonly [value: string]: unknown } {
  const {
    cluster,
    namespace,
    eventsQueueUrl,
    region,
    outputs,
    resyncSeconds,
    replicas,
    program,
    tasks,
    clusterset,
  } = install;
  if (!('image' in program)) throw new Error('the chart has no bundle: it needs an image');
  return {
    cluster,
    namespace,
    eventsQueueUrl,
    region,
    image: program.image,
    outputs,
    resyncSeconds: Number(resyncSeconds),
    writes: tasks?.optIn ? (tasks.builtIn ? 'both' : 'optIn') : 'builtIn',
    ...(tasks?.optIn && { cleanup: tasks.cleanup }),
    ...(clusterset && Object.assign({}, ...relayParts.map(({ chart }) => chart.values(clusterset)))),
    replicas,
    ...(install.roleArn && { roleArn: install.roleArn }),
    ...(install.priorityClassName !== undefined && { priorityClassName: install.priorityClassName }),
    ...Object.fromEntries(Object.entries(install.extras ?? {}).filter(([, parts]) => parts.length > 0)),
  };
}
