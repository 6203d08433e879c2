/** Deliberate bugs of relays that take turns: put into the objects themselves, as no port lies between. */
import type { Election } from '#functions/relay/election.ts';
import type { Accepted, Standing } from '#functions/relay/lease.ts';
import type { Relay } from '#functions/relay/relay.ts';
import type { Session } from '#functions/relay/session.ts';
import { kinds } from '#shared/kube/types.ts';

/** It does not look at the clock before it sends. */
export function lateSpeaker(_relay: Relay, election: Election): void {
  Object.defineProperty(election, 'maySpeak', {
    get: () => (election as unknown as { readonly standing: Standing }).standing.mayUntil !== undefined,
  });
}

/** It tells the standby what it has read, sent or not. */
export function overstated(relay: Relay): void {
  const told = relay as unknown as { tell(session: Session): Accepted };
  const tell = told.tell.bind(relay);
  told.tell = (session) => ({
    ...tell(session),
    versions: Object.fromEntries(
      kinds.flatMap((kind) => {
        const { read } = session.outbox.lane(kind);
        return read === undefined ? [] : [[kind, read]];
      }),
    ),
  });
}

/** It drops what waits when its turn comes. */
export function unheld(relay: Relay, election: Election): void {
  const run = election.run.bind(election);
  election.run = (candidate, signal) =>
    run(
      {
        ...candidate,
        speak: () => {
          const now = (relay as unknown as { readonly session?: Session }).session;
          if (now && now.outbox.spoken === undefined) for (const kind of kinds) now.outbox.lane(kind).clear();
          candidate.speak();
        },
      },
      signal,
    );
}
