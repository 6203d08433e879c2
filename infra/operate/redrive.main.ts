/** `npm run redrive -- [CLUSTER|--all] [--run]`: what was set aside and why; with --run it is taken up again. */
import { parseArgs } from 'node:util';
import { chosenClusters, command, connectHub } from './hub.ts';
import { setAside } from './redrive.ts';

await command(async () => {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { all: { type: 'boolean' }, run: { type: 'boolean' } } });
  const hub = connectHub(process.env);
  const clusters = await chosenClusters(hub.table, positionals[0], values.all ?? positionals.length === 0);
  const found = await setAside({ ...hub, now: Date.now }, clusters);
  let redriven = 0;
  for (const { queue, cluster, subject, why, sentAt, redrive } of found) {
    const done = values.run ? await redrive() : undefined;
    if (done) redriven++;
    const fate = done === undefined ? '' : done ? ' → taken up again' : ' → stays: it still can’t be read';
    console.log(`${new Date(sentAt).toISOString()}  ${cluster}  ${queue}: ${subject}\n    ${why}${fate}`);
  }
  if (found.length === 0) console.log(`nothing was set aside in ${hub.name}`);
  else if (values.run) console.log(`${redriven} of ${found.length} taken up again`);
  else console.log(`${found.length} set aside; --run takes them up again`);
});
