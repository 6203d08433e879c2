/** Deliberate bugs of relays that share a Lease: put around the objects' public members, as no port lies between. */
import type { Candidate, Election } from '#functions/relay/election/election.ts';
import type { Relay } from '#functions/relay/relay.ts';
import { kinds } from '#shared/kube/types.ts';

/** It does not look at the clock before it sends. */
export function lateSpeaker(_relay: Relay, election: Election): void {
  let holds = false;
  Object.defineProperty(election, 'isLeading', { get: () => holds });
  changeCandidate(election, (candidate) => ({
    lead: () => {
      holds = true;
      candidate.lead();
    },
    standBy: () => {
      holds = false;
      candidate.standBy();
    },
  }));
}

/** It tells the standby what it has read, sent or not. */
export function overstated(relay: Relay, election: Election): void {
  changeCandidate(election, (candidate) => ({
    accepted: () => {
      const accepted = candidate.accepted();
      const { session } = relay;
      if (!accepted || !session) return accepted;
      const read = kinds.map((kind) => [kind, session.outbox.queueOf(kind).readUpTo] as const);
      return { ...accepted, versions: Object.fromEntries(read.filter(([, version]) => version !== undefined)) };
    },
  }));
}

/** It drops what waits when it becomes the leader. */
export function unheld(relay: Relay, election: Election): void {
  changeCandidate(election, (candidate) => ({
    lead: () => {
      const { session } = relay;
      if (session && session.outbox.leaderHeader === undefined) for (const kind of kinds) session.outbox.queueOf(kind).clear();
      candidate.lead();
    },
  }));
}

function changeCandidate(election: Election, changes: (candidate: Candidate) => Partial<Candidate>): void {
  const run = election.run.bind(election);
  election.run = (candidate, signal) => run({ ...candidate, ...changes(candidate) }, signal);
}
