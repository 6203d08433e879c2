/** `redrive`: what was set aside and why; with `run` it is taken up again. */
import { concurrently } from '#shared/concurrently.ts';
import { chosenClusters, type Hub } from './connect-hub.ts';
import { say } from './printable.ts';
import { type Progress, progress } from './progress.ts';
import { listSetAside, type SetAside, type SetAsideMessage } from './redrive.ts';

/** Taken up at a time. */
const atOnce = 16;

export interface RedriveValues {
  readonly all?: boolean;
  readonly run?: boolean;
  readonly json?: boolean;
}

export async function redriveAll(hub: Hub, chosen: string | undefined, { all, run = false, json = false }: RedriveValues): Promise<void> {
  const clusters = await chosenClusters(hub.table, chosen, all ?? chosen === undefined);
  const shown = progress(run ? 'redriving' : 'looking');
  const onProgress = (queue: string, count: number): void => shown.update(count, undefined, `messages of ${queue} so far`);
  const counts = { found: 0, redriven: 0 };
  const looks: SetAside[] = [];
  try {
    for (let goesOn = true; goesOn; ) {
      const look = await listSetAside({ ...hub, onProgress }, clusters);
      looks.push(look);
      const redriven = await takeUp(look.found, run, json, shown);
      counts.found += look.found.length;
      counts.redriven += redriven;
      goesOn = look.more && redriven > 0;
      shown.end();
      if (!goesOn && !json) report(counts, look.more, run, hub.name);
    }
  } finally {
    shown.end();
    // The release comes last, because a later look would otherwise receive the messages again.
    for (const look of looks) await look.release();
  }
}

/** How many were. */
async function takeUp(found: readonly SetAsideMessage[], run: boolean, json: boolean, shown: Progress): Promise<number> {
  let redriven = 0;
  for (let i = 0; i < found.length; i += atOnce) {
    const some = found.slice(i, i + atOnce);
    const done = await concurrently(atOnce, some, async (s) => (run ? s.redrive() : undefined));
    shown.clear();
    for (const [n, { queue, cluster, subject, why, sentAtMs }] of some.entries()) {
      if (json)
        say(JSON.stringify({ sentAt: new Date(sentAtMs).toISOString(), cluster, queue, subject, why, ...(run && { redriven: done[n] === true }) }));
      const fate = done[n] === undefined ? '' : done[n] ? ' → enqueued again' : ' → stays: it cannot be enqueued';
      if (!json) say(`${new Date(sentAtMs).toISOString()}  ${cluster}  ${queue}: ${subject}`, `    ${why}${fate}`);
      if (done[n]) redriven++;
    }
    if (run) shown.update(Math.min(i + atOnce, found.length), found.length, 'messages');
  }
  return redriven;
}

function report({ found, redriven }: { readonly found: number; readonly redriven: number }, more: boolean, run: boolean, hub: string): void {
  if (found === 0) say(`no parked work, dead letters or quarantined messages in ${hub}`);
  else if (run) say(`${redriven} of ${found} enqueued again${more ? '; further messages are left: run the command again' : ''}`);
  else say(`${found}${more ? ' and more' : ''} messages; --run enqueues them again`);
}
