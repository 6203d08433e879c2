import { httpPort } from '#test/e2e/world.ts';
import { type Hands, numbers, pod } from '../hands.ts';
import type { Chapter } from '../step.ts';

const labels = { app: 'big' };
const listed = (h: Hands): number => h.slices('big').reduce((n, s) => n + (s.endpoints?.length ?? 0), 0);
const truncated = (h: Hands): boolean =>
  h.endpoints('big')?.metadata.annotations?.['endpoints.kubernetes.io/over-capacity'] !== undefined;

/** More pods than Endpoints hold. */
export const capacity: Chapter = [
  { what: '1,040 pods', play: (h) => h.pods('big', numbers(1, 1040), { labels }) },
  {
    what: 'their service',
    play: (h) => h.service('big', { selector: labels, ports: [httpPort] }),
    until: (h) => listed(h) === 1040 && truncated(h),
  },
  { what: 'a pod of it is not ready', play: (h) => h.ready(false, 'big-7') },
  { what: 'and is ready again', play: (h) => h.ready(true, 'big-7') },
  { what: 'a label on the service', play: (h) => h.patch('big', { metadata: { labels: { team: 'shop' } } }) },
  {
    what: 'scaled to 1,000',
    play: (h) => h.remove(...numbers(1, 40).map((n) => pod('big', n))),
    until: (h) => listed(h) === 1000 && !truncated(h),
    open: { big: ['packing'] },
    several: true,
  },
  {
    what: 'to 500',
    play: (h) => h.remove(...numbers(41, 540).map((n) => pod('big', n))),
    until: (h) => listed(h) === 500,
    open: { big: ['packing'] },
    several: true,
  },
  {
    what: 'to none',
    play: (h) => h.remove(...numbers(541, 1040).map((n) => pod('big', n))),
    until: (h) => listed(h) === 0,
  },
  {
    what: 'back to 150',
    play: (h) => h.pods('big', numbers(1, 150), { labels }),
    until: (h) => listed(h) === 150,
    open: { big: ['packing'] },
    several: true,
  },
];
