/**
 * `fleet-endpoints opt-in check`: may the selector of this Service be removed, and what works differently
 * then? Reads the table and the cluster, and writes to neither. The schema of its answer is generated from
 * the type (infra/package/answer-schemas.ts).
 */

import { apiVersion, type Time } from '#infra/cli/ask/answer/data-types.ts';
import type { ExplainInput } from '#infra/cli/ask/explain/input.ts';
import { explainWithInput } from '#infra/cli/ask/explain-service.ts';
import { clusterReader } from '#infra/cli/ask/readiness/cluster-reader.ts';
import type { Hub } from '#infra/cli/hub/connect-hub.ts';
import { columns, type Line } from '#infra/cli/terminal/print-answer.ts';
import { writerOf } from '#shared/controllers/opt-in/writer.ts';
import type { ServiceKey } from '#shared/store/keys.ts';
import { optInFindings } from './opt-in-findings.ts';
import { type LiveService, readLive } from './opt-in-live.ts';
import type { OptInFinding } from './opt-in-point.ts';

export interface OptInCheck {
  readonly apiVersion: typeof apiVersion;
  readonly kind: 'OptInCheck';
  readonly cluster: string;
  readonly namespace: string;
  readonly service: string;
  readonly time: Time;
  readonly hasSelector: boolean;
  /** False if a finding blocks. */
  readonly allowed: boolean;
  readonly message: string;
  readonly findings: readonly OptInFinding[];
  /** The command that removes the selector, if no finding blocks. */
  readonly next: string | null;
}

/**
 * Throws a UsageError with the existing names for an unknown cluster or service. `context` is one of
 * kubectl's.
 */
export async function checkOptIn(
  hub: LiveHub & Pick<Hub, 'table' | 'now'>,
  key: ServiceKey,
  context?: string,
): Promise<OptInCheck> {
  const now = hub.now();
  const { input, explanation } = await explainWithInput(hub.table, key, now);
  const { cluster, namespace, name } = key;
  const findings = optInFindings(input, explanation, await liveOrReason(hub, input, context));
  const hasSelector = Boolean(input.service?.spec?.selector);
  const allowed = findings.every((f) => f.verdict !== 'blocks');
  return {
    ...{ apiVersion, kind: 'OptInCheck', cluster, namespace, service: name },
    time: new Date(now).toISOString(),
    ...{ hasSelector, allowed },
    message: messageOf(hasSelector, findings),
    findings,
    next:
      hasSelector && allowed
        ? `kubectl -n ${namespace} patch service ${name} --type=json -p '[{"op":"remove","path":"/spec/selector"}]'`
        : null,
  };
}

type LiveHub = Pick<Hub, 'connectionsFile'>;

async function liveOrReason(
  hub: LiveHub,
  { service, cluster, namespace, name }: ExplainInput,
  context?: string,
): Promise<LiveService | string> {
  const writer = service && writerOf(service);
  const selector = writer?.by === 'opt-in' ? writer.selector : service?.spec?.selector;
  if (!selector) return 'no selector names the pods';
  try {
    const reader = await clusterReader(hub, cluster, context);
    try {
      return await readLive(reader, namespace, name, selector);
    } finally {
      reader.close();
    }
  } catch (error) {
    return (error as Error).message;
  }
}

function messageOf(hasSelector: boolean, findings: readonly OptInFinding[]): string {
  const count = (verdict: OptInFinding['verdict']): number =>
    findings.filter((f) => f.verdict === verdict).length;
  const blocks = count('blocks');
  const [good, bad] = hasSelector
    ? ['the selector can be removed', 'keep the selector']
    : ['it opts in', 'it does not work as an opt-in'];
  const applies = count('applies');
  const counts = [
    blocks > 0 ? `${blocks} ${blocks === 1 ? 'blocks' : 'block'}` : '',
    `${applies} ${applies === 1 ? 'applies' : 'apply'}`,
    count('unknown') > 0 ? `${count('unknown')} unknown` : '',
  ];
  return `${blocks > 0 ? bad : good} (${counts.filter(Boolean).join(', ')})`;
}

const marks = { fine: 'ok', applies: 'applies', blocks: 'BLOCKS', unknown: 'unknown' } as const;
const styles = { fine: undefined, applies: 'warning', blocks: 'bad', unknown: 'warning' } as const;

/** Findings that block come first. */
export function checkLines(check: OptInCheck): readonly Line[] {
  const { cluster, namespace, service, allowed, message, findings, next } = check;
  const heading: Line = {
    text: `${cluster} ${namespace}/${service}: ${message}`,
    style: allowed ? 'good' : 'bad',
  };
  const rank = ({ verdict }: OptInFinding): number =>
    ['blocks', 'applies', 'unknown', 'fine'].indexOf(verdict);
  const sorted = [...findings].sort((a, b) => rank(a) - rank(b));
  const rows = columns(sorted.map(({ code, verdict, message: text }) => [marks[verdict], code, text]));
  return [
    heading,
    ...sorted.flatMap(({ verdict, remedy }, i): readonly Line[] => {
      const [text, style] = [`  ${rows[i]}`, styles[verdict]];
      return [style ? { text, style } : text, ...(remedy ? [`          ${remedy}`] : [])];
    }),
    ...(next ? ['', `Next: ${next}`] : []),
  ];
}
