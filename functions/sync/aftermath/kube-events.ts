/**
 * Kubernetes Events without a correlating process. An Event's name is a hash of its content, so any worker
 * that records the same Event raises its count. The budget is upstream's: a burst of 25 for one object and
 * component, then one each 300 s. Each worker has a budget of its own. Recording never fails a run.
 */
import { createHash } from 'node:crypto';
import { isAlreadyExists } from '#shared/clusters/api/errors.ts';
import type { ClusterApi } from '#shared/clusters/api/port.ts';
import type { CoreEvent, EventSketch } from '#shared/kube/types.ts';
import type { Log } from '#shared/telemetry/port.ts';
import type { EventRecorder } from '../state/deps.ts';

const burst = 25;
const refillMs = 300_000;
/** Objects whose budget is remembered; the oldest is forgotten first. */
const maxBudgets = 2000;

export function eventRecorder(deps: { readonly now: () => number; readonly log: Log }): EventRecorder {
  const budgets = new Map<string, { tokens: number; atMs: number }>();

  function take(key: string): boolean {
    const now = deps.now();
    const budget = budgets.get(key) ?? { tokens: burst, atMs: now };
    const tokens = Math.min(burst, budget.tokens + (now - budget.atMs) / refillMs);
    budgets.delete(key);
    if (budgets.size >= maxBudgets) budgets.delete(budgets.keys().next().value as string);
    budgets.set(key, { tokens: tokens < 1 ? tokens : tokens - 1, atMs: now });
    return tokens >= 1;
  }

  return {
    async record(api, event) {
      const { regarding, component } = event;
      if (
        !take(
          `${component} ${regarding.kind} ${regarding.namespace ?? ''}/${regarding.name} ${regarding.uid ?? ''}`,
        )
      )
        return;
      const object = coreEvent(event, new Date(deps.now()).toISOString().replace(/\.\d+Z$/, 'Z'));
      try {
        await api.create('Event', object);
      } catch (error) {
        if (isAlreadyExists(error)) await raiseCount(api, object).catch((e) => report(e, event));
        else report(error, event);
      }
    },
  };

  async function raiseCount(api: ClusterApi, { metadata, lastTimestamp }: CoreEvent): Promise<void> {
    const namespace = metadata.namespace ?? '';
    const held = await api.get('Event', namespace, metadata.name);
    if (held)
      await api.patch('Event', namespace, metadata.name, { count: (held.count ?? 1) + 1, lastTimestamp });
  }

  function report(error: unknown, event: EventSketch): void {
    deps.log.warn('event not recorded', {
      reason: event.reason,
      regarding: event.regarding.name,
      error: String(error),
    });
  }
}

function coreEvent({ type, reason, message, regarding, component }: EventSketch, at: string): CoreEvent {
  const identity = [
    component,
    regarding.kind,
    regarding.namespace,
    regarding.name,
    regarding.uid,
    type,
    reason,
    message,
  ].join('\u0000');
  const hash = createHash('sha256').update(identity).digest('hex').slice(0, 16);
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: {
      namespace: regarding.namespace || 'default',
      name: `${(regarding.name ?? '').slice(0, 230)}.${hash}`,
    },
    involvedObject: regarding,
    type,
    reason,
    // The API server takes no longer message.
    message: message.slice(0, 1024),
    source: { component },
    reportingComponent: component,
    reportingInstance: '',
    firstTimestamp: at,
    lastTimestamp: at,
    count: 1,
  } as CoreEvent;
}
