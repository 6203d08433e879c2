/** `npm run bench [-- decide | cost | rebuild | noise]`: decisions (the default), the cost of a million events, a lost table, a noisy neighbour. */
const [what = 'decide', ...rest] = process.argv.slice(2);
if (!['decide', 'cost', 'rebuild', 'noise'].includes(what) || rest.length > 0) {
  console.error(`npm run bench -- decide | cost | rebuild | noise; ${JSON.stringify([what, ...rest].join(' '))} was given`);
  process.exitCode = 2;
} else await import(`./${what}.ts`);
