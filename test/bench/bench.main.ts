/**
 * `npm run bench [-- decide | calls | cost | latency | first-lists | rebuild | noise | memory | sdk |
 * scale | not-ready | explain]`: decisions (the default), the calls of a change, the cost of a change and of a month, what a change
 * waits on AWS, the first lists of a cluster, a lost table, a noisy neighbour, memory at the edges, a call of
 * the SDK, the limit that a hub meets first, the reasons of pods that are not ready,
 * an answer without a hub.
 */
const benches = [
  'decide',
  'calls',
  'cost',
  'latency',
  'first-lists',
  'rebuild',
  'noise',
  'memory',
  'sdk',
  'scale',
  'not-ready',
  'explain',
];
const [what = 'decide', ...rest] = process.argv.slice(2);
if (!benches.includes(what) || rest.length > 0) {
  console.error(
    `npm run bench -- ${benches.join(' | ')}; ${JSON.stringify([what, ...rest].join(' '))} was given`,
  );
  process.exitCode = 2;
} else await import(`./${what}.ts`);
