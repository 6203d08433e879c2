import { httpPort } from '#test/e2e/world.ts';
import { type Hands, inSlices, numbers, pod } from '../hands.ts';
import type { Chapter } from '../step.ts';

const selector = { app: 'web' };
const version = (n: number) => ({ labels: { ...selector, version: `v${n}` } });
/**
 * Ready addresses, once Endpoints and slices agree: on a busy machine a retry of upstream's may leave its
 * slices behind for seconds.
 */
function addresses(h: Hands): number {
  const inEndpoints = (h.endpoints('web')?.subsets ?? []).reduce((n, s) => n + (s.addresses?.length ?? 0), 0);
  const ready = inSlices(h, 'web').filter((e) => e.conditions?.ready).length;
  return inEndpoints === ready ? inEndpoints : Number.NaN;
}

/** One service and its pods, as deployments come and go. */
export const rollouts: Chapter = [
  { what: 'a service that no pod matches', play: (h) => h.service('web', { selector, ports: [httpPort] }) },
  {
    what: 'its first pods',
    play: (h) => h.pods('web', numbers(1, 3), version(1)),
    until: (h) => addresses(h) === 3,
    several: true,
  },
  { what: 'a pod stops being ready', play: (h) => h.ready(false, 'web-2') },
  { what: 'and is ready again', play: (h) => h.ready(true, 'web-2') },
  {
    what: 'scaled up',
    play: (h) => h.pods('web', numbers(4, 8), version(1)),
    until: (h) => addresses(h) === 8,
    several: true,
  },
  {
    what: 'a rollout adds pods that are not ready yet',
    play: (h) => h.pods('web', numbers(11, 13), { ...version(2), ready: false }),
    until: (h) => inSlices(h, 'web').length === 11,
    several: true,
  },
  {
    what: 'they become ready',
    play: (h) => h.ready(true, 'web-11', 'web-12', 'web-13'),
    until: (h) => addresses(h) === 11,
    several: true,
  },
  {
    what: 'old pods are asked to stop',
    play: (h) => Promise.all(['web-1', 'web-2', 'web-3'].map(h.terminatePod)),
  },
  { what: 'one that stops is not ready any more', play: (h) => h.ready(false, 'web-1') },
  {
    what: 'the old pods are gone',
    play: (h) => h.remove('web-1', 'web-2', 'web-3'),
    until: (h) => addresses(h) === 8,
  },
  {
    what: 'the rest of the rollout, all at once',
    play: (h) =>
      Promise.all([
        h.pods('web', numbers(14, 18), version(2)),
        ...numbers(4, 8).map(async (n) => {
          await h.terminatePod(pod('web', n));
          await h.removePod(pod('web', n));
        }),
      ]),
    until: (h) => addresses(h) === 8,
    several: true,
  },
  {
    what: 'labels on the service',
    play: (h) => h.patch('web', { metadata: { labels: { team: 'shop', tier: 'front' } } }),
  },
  {
    what: 'an annotation on the service',
    play: (h) => h.patch('web', { metadata: { annotations: { note: 'x' } } }),
  },
  { what: 'a label less', play: (h) => h.patch('web', { metadata: { labels: { team: null as never } } }) },
  {
    what: 'scaled to zero',
    play: (h) => h.remove(...numbers(11, 18).map((n) => pod('web', n))),
    until: (h) => addresses(h) === 0,
  },
  {
    what: 'and back',
    play: (h) => h.pods('web', numbers(21, 24), version(2)),
    until: (h) => addresses(h) === 4,
    several: true,
  },
  {
    what: 'a pod made anew under its name',
    play: (h) => h.removePod('web-23').then(() => h.pods('web', [23], version(2))),
    several: true,
  },
  {
    what: 'a pod has lost the label',
    play: (h) => h.api.patch('Pod', h.namespace, 'web-22', { metadata: { labels: { app: 'other' } } }),
  },
  {
    what: 'and has it again',
    play: (h) => h.api.patch('Pod', h.namespace, 'web-22', { metadata: { labels: selector } }),
    until: (h) => addresses(h) === 4,
  },
  {
    what: 'a label that pods do not need',
    play: (h) => h.api.patch('Pod', h.namespace, 'web-24', { metadata: { labels: { extra: 'x' } } }),
  },
  // After steps of one sync each: a repetition of upstream's that is still pending (ES-8) would see the pod's
  // phase.
  { what: 'a pod fails while it is said to be ready', play: (h) => h.phase('web-21', 'Failed') },
  {
    what: 'which shows with the next change',
    play: (h) => h.patch('web', { metadata: { labels: { seen: 'yes' } } }),
    until: (h) => addresses(h) === 3,
  },
];
