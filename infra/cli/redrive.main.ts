/** `npm run redrive -- [CLUSTER|--all] [--run]`: what was set aside and why; with --run it is taken up again. */
import { parseArgs } from 'node:util';
import { concurrently } from '#shared/concurrently.ts';
import { chosenClusters, command, connectHub } from './connect-hub.ts';
import { say } from './printable.ts';
import { type Look, listSetAside, type SetAsideMessage } from './redrive.ts';

/** Taken up at a time. */
const atOnce = 16;

await command(async () => {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { all: { type: 'boolean' }, run: { type: 'boolean' } } });
  const hub = connectHub(process.env);
  const clusters = await chosenClusters(hub.table, positionals[0], values.all ?? positionals.length === 0);
  const onProgress = (queue: string, count: number): void => console.error(`${queue}: ${count} messages so far`);
  const run = values.run ?? false;
  const counts = { found: 0, redriven: 0 };
  const looks: Look[] = [];
  try {
    for (let goesOn = true; goesOn; ) {
      const look = await listSetAside({ ...hub, now: Date.now, onProgress }, clusters);
      looks.push(look);
      const redriven = await takeUp(look.found, run);
      counts.found += look.found.length;
      counts.redriven += redriven;
      goesOn = look.more && redriven > 0;
      if (!goesOn) report(counts, look.more, run, hub.name);
    }
  } finally {
    // Not before: the next look would find it again.
    for (const look of looks) await look.release();
  }
});

/** How many were. */
async function takeUp(found: readonly SetAsideMessage[], run: boolean): Promise<number> {
  let redriven = 0;
  for (let i = 0; i < found.length; i += atOnce) {
    const some = found.slice(i, i + atOnce);
    const done = await concurrently(atOnce, some, async (s) => (run ? s.redrive() : undefined));
    for (const [n, { queue, cluster, subject, why, sentAtMs }] of some.entries()) {
      const fate = done[n] === undefined ? '' : done[n] ? ' → taken up again' : ' → stays: it can’t be taken up';
      say(`${new Date(sentAtMs).toISOString()}  ${cluster}  ${queue}: ${subject}`, `    ${why}${fate}`);
      if (done[n]) redriven++;
    }
  }
  return redriven;
}

function report({ found, redriven }: { readonly found: number; readonly redriven: number }, more: boolean, run: boolean, hub: string): void {
  if (found === 0) say(`nothing was set aside in ${hub}`);
  else if (run) say(`${redriven} of ${found} taken up again${more ? '; more than was looked at is left: run it again' : ''}`);
  else say(`${found}${more ? ' and more' : ''} set aside; --run takes them up again`);
}
