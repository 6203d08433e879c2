import { Random } from '#test/worlds/simulation/random.ts';
import { draw, sdkMs } from './distributions.ts';
import { percentile } from './percentile.ts';

const draws = 200_000;

/** Ways that no order of calls to the table can shorten. */
const ways = {
  'the watch, the way over SQS, the write itself: no call to the table at all': { writes: 0 },
  'the same with the two writes in a row whose order is a guarantee: the object, then generation and lease': {
    writes: 2,
  },
} as const;

/**
 * By the same distributions. The way over SQS is drawn, and of the two writes to the API server the later
 * one counts.
 */
export function floors(): readonly { readonly what: string; readonly ms: string }[] {
  return Object.entries(ways).map(([what, { writes }]) => {
    const random = new Random(1);
    const one = (name: Parameters<typeof draw>[0]): number => draw(name, random.next());
    const total = (): number => {
      let ms = one('watch') + one('queueToHandler') + Math.max(one('apiWrite'), one('apiWrite'));
      for (let i = 0; i < writes; i++) ms += one('tableWrite') + sdkMs;
      return ms;
    };
    const sorted = Array.from({ length: draws }, total).sort((a, b) => a - b);
    return { what, ms: [0.5, 0.99, 0.999].map((share) => Math.round(percentile(sorted, share))).join(' / ') };
  });
}
