/** `redrive`: what was set aside and why; with `run` it is taken up again. */

import { chosenClusters, type Hub } from '#infra/cli/hub/connect-hub.ts';
import { say } from '#infra/cli/terminal/printable.ts';
import { type Progress, progress } from '#infra/cli/terminal/progress.ts';
import { concurrently } from '#shared/concurrently.ts';
import { type Fate, listSetAside, type SetAside, type SetAsideMessage } from './redrive.ts';

/** Taken up at a time. */
const atOnce = 16;

export interface RedriveValues {
  readonly all?: boolean;
  readonly run?: boolean;
  readonly json?: boolean;
}

interface Counts {
  readonly found: number;
  readonly enqueued: number;
  readonly dropped: number;
}

export async function redriveAll(
  hub: Hub,
  chosen: string | undefined,
  { all, run = false, json = false }: RedriveValues,
): Promise<void> {
  const clusters = await chosenClusters(hub.table, chosen, all ?? chosen === undefined);
  const shown = progress(run ? 'redriving' : 'looking');
  const onProgress = (queue: string, count: number): void =>
    shown.update(count, undefined, `messages of ${queue} so far`);
  const counts = { found: 0, enqueued: 0, dropped: 0 };
  const looks: SetAside[] = [];
  try {
    for (let goesOn = true; goesOn; ) {
      const look = await listSetAside({ ...hub, onProgress }, clusters);
      looks.push(look);
      const { enqueued, dropped } = await takeUp(look.found, run, json, shown);
      counts.found += look.found.length;
      counts.enqueued += enqueued;
      counts.dropped += dropped;
      goesOn = look.more && enqueued + dropped > 0;
      shown.end();
      if (!goesOn && !json) report(counts, look.more, run, hub.name);
    }
  } finally {
    shown.end();
    // The release comes last, because a later look would otherwise receive the messages again.
    for (const look of looks) await look.release();
  }
}

const fateText = {
  enqueued: ' → enqueued again',
  dropped: ' → removed: it is too old to count',
  stays: ' → stays: it cannot be enqueued',
} as const satisfies { readonly [F in Fate]: string };

/** How many met each fate. */
async function takeUp(
  found: readonly SetAsideMessage[],
  run: boolean,
  json: boolean,
  shown: Progress,
): Promise<{ readonly [F in Fate]: number }> {
  const fates = { enqueued: 0, dropped: 0, stays: 0 };
  for (let i = 0; i < found.length; i += atOnce) {
    const some = found.slice(i, i + atOnce);
    const done = await concurrently(atOnce, some, async (s) => (run ? s.redrive() : undefined));
    shown.clear();
    for (const [n, { queue, cluster, subject, why, sentAtMs }] of some.entries()) {
      if (json)
        say(
          JSON.stringify({
            sentAt: new Date(sentAtMs).toISOString(),
            cluster,
            queue,
            subject,
            why,
            ...(done[n] && { fate: done[n] }),
          }),
        );
      const fate = done[n];
      if (!json)
        say(
          `${new Date(sentAtMs).toISOString()}  ${cluster}  ${queue}: ${subject}`,
          `    ${why}${fate ? fateText[fate] : ''}`,
        );
      if (fate) fates[fate]++;
    }
    if (run) shown.update(Math.min(i + atOnce, found.length), found.length, 'messages');
  }
  return fates;
}

function report({ found, enqueued, dropped }: Counts, more: boolean, run: boolean, hub: string): void {
  if (found === 0) say(`no parked work, dead letters or quarantined messages in ${hub}`);
  else if (run)
    say(
      `${enqueued} of ${found} enqueued again${dropped > 0 ? `, ${dropped} removed` : ''}${more ? '; further messages are left: run the command again' : ''}`,
    );
  else say(`${found}${more ? ' and more' : ''} messages; --run enqueues them again`);
}
