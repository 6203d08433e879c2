/**
 * Deliberate bugs of relays that share a Lease: put around the objects' public members, as no port lies
 * between.
 */
import type { Candidate, Election } from '#functions/relay/election/election.ts';
import type { Relay } from '#functions/relay/relay.ts';

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

function changeCandidate(election: Election, changes: (candidate: Candidate) => Partial<Candidate>): void {
  const run = election.run.bind(election);
  election.run = (candidate, signal) => run({ ...candidate, ...changes(candidate) }, signal);
}
