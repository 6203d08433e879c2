import { capacity } from './script/capacity.ts';
import { foreign } from './script/foreign.ts';
import { kinds } from './script/kinds.ts';
import { lifecycle } from './script/lifecycle.ts';
import { ports } from './script/ports.ts';
import { rollouts } from './script/rollouts.ts';
import { topology } from './script/topology.ts';
import type { OpenEnds } from './snapshot.ts';
import type { Step } from './step.ts';

/** About an hour in the life of a cluster. */
export const script: readonly Step[] = [
  rollouts,
  ports,
  kinds,
  topology,
  foreign,
  lifecycle,
  capacity,
].flat();

/** Open whenever the service is there. */
export const openThroughout: OpenEnds = { auto: ['hints'] };
