/**
 * The writer of a Service's Endpoints or slices in a cluster, and the task of the hub. Pure; the truth table
 * is test/unit/shared/clusters/writer-for.test.ts.
 */

import { type Writer, writerOf } from '#shared/controllers/opt-in/writer.ts';
import type { Controller } from '#shared/kube/controllers.ts';
import { endpointsManagedBy, optInManagedBy, slicesManagedBy } from '#shared/kube/names.ts';
import type { Service } from '#shared/kube/types.ts';
import type { ClusterRecord } from '../record.ts';
import { hasRuns, isShadow } from './mode.ts';

export type WriterSwitches = Pick<
  ClusterRecord,
  'mode' | 'optIn' | 'withdrawsOptIn' | 'settings' | 'writerConflict'
>;

export interface WriterFor {
  readonly writer: 'hub' | 'built-in' | 'other' | 'nobody';
  /** Managed-by label of the objects that the hub would write. */
  readonly managedBy: string;
  // Slices of a former writer: hand-over.ts.
  /**
   * `compare`: compares with the objects of the built-in controllers. `preview`: computes and shows the
   * slices.
   */
  readonly task: 'write' | 'compare' | 'preview' | 'none';
  /**
   * The writer by the Service itself, with the reason. `none` also while the cluster's slices of Services
   * that opt in are withdrawn.
   */
  readonly by: Writer['by'];
  readonly reason: string;
  /** A few words, for a list of services. */
  readonly name: string;
  /** A sentence. */
  readonly why: string;
}

export type Writers = Readonly<Record<Controller, WriterFor>>;

export const writersFor = (service: Service | undefined, cluster: WriterSwitches): Writers => ({
  endpoints: writerFor(service, cluster, 'endpoints'),
  slices: writerFor(service, cluster, 'slices'),
});

/**
 * `service` is undefined for a deleted Service. Its objects then belong to the writer of Services with a
 * selector.
 */
export function writerFor(
  service: Service | undefined,
  cluster: WriterSwitches,
  controller: Controller,
): WriterFor {
  const { by, reason } = service ? writerOf(service) : gone;
  const isOn = cluster.optIn !== 'off' && !cluster.withdrawsOptIn;
  const managedBy =
    by === 'opt-in' && isOn && controller === 'slices' ? optInManagedBy : managedByOf[controller];
  const isWithdrawn = cluster.withdrawsOptIn && by !== 'built-in' && by !== 'none';
  return {
    ...decide(service, cluster, controller),
    managedBy,
    ...(isWithdrawn ? withdrawn : { by, reason }),
  };
}

const gone = { by: 'built-in', reason: 'the Service is gone' } as const;
const withdrawn = {
  by: 'none',
  reason: 'the slices of Services that opt in are withdrawn from this cluster',
} as const;
const managedByOf = { endpoints: endpointsManagedBy, slices: slicesManagedBy } as const;

function decide(service: Service | undefined, cluster: WriterSwitches, controller: Controller): Decided {
  const { by, reason } = service ? writerOf(service) : gone;
  switch (by) {
    case 'built-in':
      return ofSelector(reason, cluster, controller);
    case 'opt-in':
      return ofAnnotation(reason, cluster, controller);
    case 'invalid-annotation':
      return nobody('invalid annotation', `${reason}; its slices stay as they are`);
    case 'no-annotation':
    case 'none':
      return ofNone(service, reason);
  }
}

type Decided = Pick<WriterFor, 'writer' | 'task' | 'name' | 'why'>;

const us = 'fleet-endpoints';
const builtIn = 'the built-in controllers';

const nobody = (short: string, why: string): Decided => ({
  writer: 'nobody',
  task: 'none',
  name: `no writer: ${short}`,
  why,
});

function ofSelector(
  reason: string,
  { mode, settings, writerConflict }: WriterSwitches,
  controller: Controller,
): Decided {
  const theirs = (why: string, name = builtIn): Decided => ({
    writer: 'built-in',
    task: 'none',
    name,
    why: `${reason}, and ${why}`,
  });
  if (!hasRuns({ mode })) return theirs(`the cluster is ${mode}`, `${builtIn}, where they are on`);
  if (writerConflict)
    return isShadow({ mode })
      ? theirs(
          'the hub does not compare until the mode is switched: another writer keeps writing our objects',
        )
      : inConflict(`${reason}, and`);
  if (!settings.controllers.includes(controller))
    return theirs(`this controller is off in the cluster’s settings`);
  if (isShadow({ mode }))
    return { ...theirs('the cluster is in shadow mode: the hub compares'), task: 'compare' };
  return {
    writer: 'hub',
    task: 'write',
    name: us,
    why: `${reason}, and the cluster is active: the hub writes in place of ${builtIn}`,
  };
}

function ofAnnotation(
  reason: string,
  { mode, optIn, withdrawsOptIn, writerConflict }: WriterSwitches,
  controller: Controller,
): Decided {
  const none = (short: string, why: string): Decided => nobody(short, `${reason}; ${why}`);
  if (optIn === 'off')
    return none('opt-in is off', 'the cluster’s switch for opt-in is off: its slices stay as they are');
  if (withdrawsOptIn)
    return none('withdrawn', 'the cluster’s slices of Services that opt in are being withdrawn');
  if (!hasRuns({ mode })) return none(mode, `the cluster is ${mode}: its slices stay as they are`);
  if (controller === 'endpoints') return none('opt-in', 'a Service that opts in gets no Endpoints');
  if (optIn === 'shadow') {
    const preview = none(
      'preview',
      'the cluster’s switch for opt-in is shadow: the hub only shows its writes',
    );
    return writerConflict ? preview : { ...preview, task: 'preview' };
  }
  if (writerConflict) return inConflict(`${reason};`);
  const beside = isShadow({ mode }) ? `, beside ${builtIn}` : '';
  const why = `${reason}; the cluster’s switch for opt-in is active: the hub writes its slices${beside}, and no Endpoints`;
  return { writer: 'hub', task: 'write', name: `${us}, opt-in`, why };
}

const inConflict = (reason: string): Decided => ({
  writer: 'other',
  task: 'none',
  name: 'another writer',
  why: `${reason} another writer keeps writing our objects: the hub has stopped until the mode is switched`,
});

const ofNone = (service: Service | undefined, reason: string): Decided =>
  service?.spec?.type === 'ExternalName'
    ? { writer: 'nobody', task: 'none', name: 'no writer', why: reason }
    : {
        ...nobody(
          'no selector',
          `${reason}: endpoints that it has are made by hand or by another controller`,
        ),
        name: 'no selector',
      };
