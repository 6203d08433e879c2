/** `npm run bench [-- decide | cost]`: how fast the controllers decide (the default), or what a million events cost. */
const [what = 'decide', ...rest] = process.argv.slice(2);
if (!['decide', 'cost'].includes(what) || rest.length > 0) {
  console.error(`npm run bench -- decide | cost; ${JSON.stringify([what, ...rest].join(' '))} was given`);
  process.exitCode = 2;
} else await import(`./${what}.ts`);
