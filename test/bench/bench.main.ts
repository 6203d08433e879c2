/** `npm run bench [-- decide | cost | rebuild | noise | sdk]`: decisions (the default), the cost of a million events, a lost table, a noisy neighbour, a call of the SDK. */
const [what = 'decide', ...rest] = process.argv.slice(2);
if (!['decide', 'cost', 'rebuild', 'noise', 'sdk'].includes(what) || rest.length > 0) {
  console.error(`npm run bench -- decide | cost | rebuild | noise | sdk; ${JSON.stringify([what, ...rest].join(' '))} was given`);
  process.exitCode = 2;
} else await import(`./${what}.ts`);
