/** The annotations of Endpoints: over-capacity, and those of other owners. */
import { describe, expect, it } from 'vitest';
import { countAddresses } from '#shared/controllers/endpoints/capacity.ts';
import { decideEndpoints } from '#shared/controllers/endpoints/decide.ts';
import type { TriggerTimes } from '#shared/controllers/triggertime/tracker.ts';
import { annotationOverCapacity, annotationTriggerTime } from '#shared/kube/names.ts';
import type { Endpoints, Pod, Service } from '#shared/kube/types.ts';
import { endpoints, pod, service } from '#test/unit/shared/kube/objects.ts';

/** Returns the API server's object after a run. */
function run(s: Service, pods: readonly Pod[], current: Endpoints, triggerTimes?: TriggerTimes) {
  const plan = decideEndpoints({ namespace: 'ns', name: 'svc', service: s, pods, current, triggerTimes });
  const after = plan.write && plan.write.verb !== 'delete' ? plan.write.object : current;
  return { plan, after, annotations: after.metadata.annotations ?? {}, next: plan.triggerTimes };
}

describe('the trigger time', () => {
  it('the trigger time is the creation of the service at first [UT-20 TestLastTriggerChangeTimeAnnotation]', () => {
    const { annotations } = run(service(), [pod('p', { readySince: '2018-01-02T00:00:00Z' })], endpoints([]));
    expect(annotations).toEqual({ [annotationTriggerTime]: '2018-01-01T00:00:00Z' });
  });

  it('replaces an older one [UT-20 …_AnnotationOverridden]', () => {
    const current = endpoints([], {
      annotations: { [annotationTriggerTime]: '2017-01-01T00:00:00Z', mine: 'x' },
    });
    expect(run(service(), [pod('p')], current).annotations).toEqual({
      [annotationTriggerTime]: '2018-01-01T00:00:00Z',
      mine: 'x',
    });
  });

  it('goes when none is known [UT-20 …_AnnotationCleared]', () => {
    const current = endpoints([], { annotations: { [annotationTriggerTime]: '2017-01-01T00:00:00Z' } });
    const seen = { service: Date.parse('2018-01-01T00:00:00Z'), pods: new Map() };
    const { after } = run(service(), [pod('p')], current, seen);
    expect(after.subsets).toHaveLength(1);
    expect(after.metadata).not.toHaveProperty('annotations');
  });

  it('alone is no reason to write', () => {
    const first = run(service(), [pod('p')], endpoints([]));
    expect(
      run(service(), [pod('p', { readySince: '2018-01-02T00:00:00Z' })], first.after, first.next).plan.write,
    ).toBeUndefined();
  });

  it('the trigger time is consumed even if nothing is written', () => {
    const first = run(service(), [pod('p')], endpoints([]));
    const later = [pod('p', { readySince: '2018-01-02T00:00:00Z' })];
    const second = run(service(), later, first.after, first.next);
    const third = run(service({}, { new: 'label' }), later, second.after, second.next);
    expect(third.plan.write).toBeDefined();
    expect(third.annotations).toEqual({});
  });

  it('the trigger time of pods that are not listed counts too', () => {
    const first = run(service(), [], endpoints([]));
    const ended = pod('p', { phase: 'Succeeded', readySince: '2018-01-03T00:00:00Z' });
    expect(run(service({}, { new: 'label' }), [ended], first.after, first.next).annotations).toEqual({
      [annotationTriggerTime]: '2018-01-03T00:00:00Z',
    });
  });
});

describe('the capacity [UT-23 TestSyncServiceOverCapacity]', () => {
  const pods = (ready: number, notReady: number) =>
    Array.from({ length: ready + notReady }, (_, i) =>
      pod(`p${i}`, { ips: [`10.0.${i >> 8}.${i & 255}`], ready: i < ready }),
    );

  it.for<[number, number, string | undefined, number, number, string | undefined]>([
    [0, 0, undefined, 0, 0, undefined],
    [997, 4, undefined, 997, 3, 'truncated'],
    [1000, 10, undefined, 1000, 0, 'truncated'],
    [999, 0, 'warning', 999, 0, undefined],
    [1000, 0, 'warning', 1000, 0, undefined],
    [1001, 0, 'warning', 1000, 0, 'truncated'],
    [1000, 0, 'truncated', 1000, 0, undefined],
    [1001, 0, 'invalid', 1000, 0, 'truncated'],
  ])(
    '%d ready and %d other pods under the annotation %s are %d and %d under %s',
    ([ready, notReady, given, keptReady, keptNotReady, annotation]) => {
      const { after } = run(
        service(),
        pods(ready, notReady),
        endpoints([], given ? { annotations: { [annotationOverCapacity]: given } } : {}),
      );
      expect(countAddresses(after.subsets)).toEqual({ ready: keptReady, notReady: keptNotReady });
      expect(after.metadata.annotations?.[annotationOverCapacity]).toBe(annotation);
    },
  );

  it('removes the annotation from what fits again', () => {
    const full = run(service(), pods(1001, 0), endpoints([]));
    const fits = run(service(), pods(1000, 0), full.after, full.next);
    expect(fits.annotations).toEqual({});
  });

  it('the capacity is not exceeded again and again to no avail', () => {
    const first = run(service(), pods(1001, 0), endpoints([]));
    const second = run(service(), pods(1001, 0), first.after, first.next);
    expect(second.annotations).toEqual({ [annotationOverCapacity]: 'truncated' });
    expect(run(service(), pods(1001, 0), second.after, second.next).plan.write).toBeUndefined();
  });
});
