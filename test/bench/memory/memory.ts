/**
 * `npm run bench -- memory`: the memory that the largest namespaces take of a function, beside half of what
 * it has in infra. Each case runs in a process of its own, whose old space is limited to that half.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { cases } from './memory-cases.ts';

console.log('| | resident at most, MiB | half of the function, MiB |');
console.log('| --- | --- | --- |');
for (const [name, { functionMiB }] of Object.entries(cases)) {
  const half = Math.floor(functionMiB / 2);
  const script = fileURLToPath(new URL('memory-case.main.ts', import.meta.url));
  const { stdout, status, stderr } = spawnSync(
    process.execPath,
    [`--max-old-space-size=${half}`, script, name],
    { encoding: 'utf8' },
  );
  if (status !== 0) console.error(stderr.split('\n').slice(0, 5).join('\n'));
  console.log(`| ${name} | ${status === 0 ? stdout.trim() : `more than ${half}`} | ${half} |`);
  if (status !== 0) process.exitCode = 1;
}
