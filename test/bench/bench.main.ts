/** `npm run bench [-- decide | cost | rebuild]`: how fast the controllers decide (the default), what a million events cost, how long a lost table takes. */
const [what = 'decide', ...rest] = process.argv.slice(2);
if (!['decide', 'cost', 'rebuild'].includes(what) || rest.length > 0) {
  console.error(`npm run bench -- decide | cost | rebuild; ${JSON.stringify([what, ...rest].join(' '))} was given`);
  process.exitCode = 2;
} else await import(`./${what}.ts`);
