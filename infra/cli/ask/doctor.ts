/**
 * `fleet-endpoints doctor`: what is between this machine and endpoints that follow their pods. Reads only.
 */

import { type Finding, fine, wrong } from '#infra/cli/account/account-finding.ts';
import { isSilent, notKnown } from '#infra/cli/ask/explain/cluster-known.ts';
import { unsupportedVersion } from '#infra/cli/ask/explain/version-support.ts';
import type { Hub } from '#infra/cli/hub/connect-hub.ts';
import { adviceOn } from '#infra/cli/hub/hub-errors.ts';
import { counted } from '#infra/cli/terminal/counted.ts';
import { naturalOrder } from '#infra/cli/terminal/natural-order.ts';
import { type ClusterRecord, listClusters, readCluster } from '#shared/clusters/record.ts';
import { hasSynced } from '#shared/clusters/relay/first-lists.ts';
import { isDeregistered } from '#shared/clusters/writer/mode.ts';
import { blockedBy } from '#shared/clusters/writer/writer-conflict.ts';
import { awayNow } from '#shared/clusters/zones-away.ts';
import { concurrently } from '#shared/concurrently.ts';
import { offsetOf, preStopOf, waitOf } from './explain/relay-timing.ts';
import { countedFleet, type ReachCount, reachCounts } from './lists/reach-counts.ts';
import { timeOf } from './zones/cluster-zones.ts';

export interface DoctorDeps {
  readonly hub: Pick<Hub, 'name' | 'table' | 'now'>;
  /** Resolves to the ARN of the caller. Undefined: a local run needs no credentials. */
  readonly identity: (() => Promise<string>) | undefined;
  /** This machine's clock, ms since the epoch. */
  readonly now: () => number;
  readonly env: { readonly [name: string]: string | undefined };
  /** Versions of this command and of Node. */
  readonly program: string;
}

/** AWS refuses requests of a clock that is minutes off; times in answers look wrong before. */
const toleratedSkewMs = 10_000;

/** The advice on clusters is shown of a few; the JSON has that of all. */
const preStop = 'preStop';
const fewClusters = 10;

type Verdict = Omit<Finding, 'subject' | 'question'>;

export async function examine(deps: DoctorDeps): Promise<readonly Finding[]> {
  const { hub, identity, program } = deps;
  const findings: Finding[] = [{ subject: 'this machine', question: 'program', ...fine(program) }];
  if (identity)
    findings.push({ subject: 'this machine', question: 'credentials', ...(await answer(deps, identity)) });
  let ids: readonly string[] = [];
  const table = await answer(deps, async () => {
    ids = [...(await listClusters(hub.table))].sort(naturalOrder);
    return `${hub.name}, ${counted(ids.length, 'cluster')}`;
  });
  const empty = wrong(table.found, 'no cluster is registered: describe one in clusters.yaml, and deploy');
  findings.push({
    subject: 'hub',
    question: 'table',
    ...(table.verdict === 'fine' && ids.length === 0 ? empty : table),
  });
  // The table's answer has the hub's time.
  if (table.verdict === 'fine') findings.push({ subject: 'this machine', question: 'clock', ...clock(deps) });
  const records = (await concurrently(16, ids, (id) => readCluster(hub.table, id))).filter(
    (record) => record !== undefined && !isDeregistered(record),
  ) as readonly ClusterRecord[];
  const known = records.map(({ id }) => id);
  const counts =
    known.length > countedFleet ? undefined : await reachCounts(countedFleet)(hub.table, known, hub.now());
  return [
    ...findings,
    ...zonesAway(records, hub.now()),
    ...records.flatMap((record) => [
      ...ofCluster(record, hub.now()),
      ...services(record, counts?.get(record.id), hub.now()),
    ]),
  ];
}

async function answer({ env }: DoctorDeps, ask: () => Promise<string>): Promise<Verdict> {
  try {
    return fine(await ask());
  } catch (error) {
    const { name, message } = error as Error;
    // The error of a hub has its advice already.
    const advice = name === 'HubError' ? undefined : adviceOn({ name, message }, env);
    return wrong(
      advice ?? message,
      'docs/operate/security.md lists the rights of each command, docs/use/commands.md how it finds the hub',
    );
  }
}

function clock({ hub, now }: DoctorDeps): Verdict {
  const aheadMs = now() - hub.now();
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  if (Math.abs(aheadMs) <= toleratedSkewMs) return fine(`within ${seconds} s of the hub's`);
  return wrong(
    `${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} the hub's`,
    "synchronise this machine's clock: AWS refuses requests that are minutes off",
  );
}

function ofCluster(cluster: ClusterRecord, nowMs: number): readonly Finding[] {
  const { id: subject, relay: state, api } = cluster;
  const advice = preStopOf(state);
  const alive: readonly (readonly [question: string, verdict: Verdict | undefined])[] = [
    ['clock', clockOfRelay(cluster)],
    [
      'first lists',
      hasSynced(cluster) ? fine('applied') : wrong('missing', 'docs/operate/runbook.md#firstlistsmissing'),
    ],
    ['API server', api && circuit(cluster)],
    ['zonal shift', shifts(cluster)],
    ['Kubernetes', kubernetes(state.kubernetesVersion)],
    [preStop, advice === undefined ? undefined : fine(advice)],
  ];
  const all = [['relay', relay(cluster, nowMs)] as const, ...(state.heartbeatAtMs === 0 ? [] : alive)];
  return all.flatMap(([question, verdict]) => (verdict ? [{ subject, question, ...verdict }] : []));
}

function clockOfRelay({ relay: state }: ClusterRecord): Verdict | undefined {
  const offset = offsetOf(state);
  return offset === undefined
    ? undefined
    : wrong(offset, 'synchronise the clock of that node: the hub corrects only its own metrics');
}

function circuit(cluster: ClusterRecord): Verdict {
  const open = blockedBy(cluster);
  return open ? wrong(open, 'docs/operate/runbook.md#circuitopen') : fine('the circuit is closed');
}

function kubernetes(version: string | undefined): Verdict | undefined {
  const unsupported = unsupportedVersion(version);
  if (unsupported) return wrong(unsupported, 'docs/operate/upgrading.md#kubernetes');
  return version ? fine(version) : undefined;
}

/** No fault, and nothing that a healthy cluster's line should hide. */
function zonesAway(records: readonly ClusterRecord[], nowMs: number): readonly Finding[] {
  const away = records.flatMap((record) =>
    awayNow(record, nowMs).map(({ zone, id, sinceMs, untilMs, by }) => {
      const name = `${record.id} ${zone}${id ? ` (${id})` : ''}`;
      return `${name} since ${timeOf(sinceMs)} until ${timeOf(untilMs)}, by ${by}`;
    }),
  );
  if (away.length === 0) return [];
  return [
    {
      subject: 'hub',
      question: 'zones',
      ...fine(
        `traffic is away from ${away.slice(0, 3).join('; ')}${away.length > 3 ? `; and ${away.length - 3} more` : ''}`,
      ),
    },
  ];
}

/** Undefined: zonal shifts are read, or there are none. */
function shifts({ settings, zones: { reading } }: ClusterRecord): Verdict | undefined {
  if (!reading || settings.zonalShift === 'ignore') return undefined;
  const { state, sinceMs } = reading;
  if (state === 'denied')
    return wrong(
      "the hub may not read the cluster's shifts, so the pods of a shifted zone stay",
      'give api.auth.roleArn the statement of docs/use/zones.md, or set settings.zonalShift: ignore',
    );
  return state === 'unreachable'
    ? wrong(`ARC has not answered since ${timeOf(sinceMs)}`, 'docs/operate/runbook.md#shiftsunread')
    : undefined;
}

/** A larger fleet is not looked at: `explain CLUSTER -A` answers for one cluster. */
function services(cluster: ClusterRecord, count: ReachCount | undefined, nowMs: number): readonly Finding[] {
  if (!count || cluster.relay.heartbeatAtMs === 0) return [];
  const { services: all, unreachable } = count;
  const found = [
    notKnown(cluster, nowMs),
    unreachable === 0
      ? `none of ${counted(all, 'Service')} is unreachable`
      : `${unreachable} of ${counted(all, 'Service')} cannot be reached`,
  ]
    .filter(Boolean)
    .join('; ');
  const verdict =
    unreachable === 0 ? fine(found) : wrong(found, `fleet-endpoints explain ${cluster.id} -A --not-ready`);
  return [{ subject: cluster.id, question: 'services', ...verdict }];
}

function relay({ id, mode, relay: state }: ClusterRecord, nowMs: number): Verdict {
  const { heartbeatAtMs } = state;
  if (heartbeatAtMs === 0)
    return wrong(
      'no heartbeat yet',
      `apply its manifest (relay manifest ${id}), and read kubectl -n fleet-endpoints logs deployment/relay`,
    );
  const seconds = Math.max(0, Math.round((nowMs - heartbeatAtMs) / 1000));
  const wait = waitOf(state);
  const found = `last heartbeat ${seconds} s ago${wait ? `, ${wait}` : ''}`;
  // A cluster that has moved to another hub stays paused here.
  if (mode === 'paused') return fine(`${found}, and the cluster is paused`);
  return isSilent(heartbeatAtMs, nowMs) ? wrong(found, 'docs/operate/runbook.md#relaysilent') : fine(found);
}

/** Returns findings that fit on a page. One line counts the healthy clusters. */
export function pageOf(findings: readonly Finding[], mostLines = 40): readonly Finding[] {
  const isGeneral = ({ subject }: Finding): boolean => subject === 'hub' || subject === 'this machine';
  const ofClusters = findings.filter((finding) => !isGeneral(finding));
  const bad = ofClusters.filter(({ verdict }) => verdict !== 'fine');
  const ids = new Set(ofClusters.map(({ subject }) => subject));
  const badIds = new Set(bad.map(({ subject }) => subject));
  const healthy: Finding[] =
    ids.size > badIds.size
      ? [
          {
            subject: 'clusters',
            question: 'without a finding',
            ...fine(`${ids.size - badIds.size} of ${ids.size}`),
          },
        ]
      : [];
  const more: Finding[] =
    bad.length > mostLines
      ? [
          {
            subject: 'clusters',
            question: 'findings',
            ...wrong(`${bad.length - mostLines} more`, '-o json has all of them'),
          },
        ]
      : [];
  const advice = ids.size > fewClusters ? [] : ofClusters.filter(({ question }) => question === preStop);
  return [...findings.filter(isGeneral), ...healthy, ...advice, ...bad.slice(0, mostLines), ...more];
}
