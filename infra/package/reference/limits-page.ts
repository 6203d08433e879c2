import { globSync, readFileSync } from 'node:fs';
import { defaultLimits, type Limits } from '#shared/contract/limits.ts';
import { type RequeueRule, requeueDefaults } from '#shared/contract/requeue-limits.ts';
import { code, page, table } from './markdown.ts';

/** The constants with the limits of a stage. */
const constantsOf: { readonly [Stage in keyof Limits]: readonly string[] } = {
  pods: ['podDefaults'],
  ingest: ['ingestDefaults'],
  sync: ['sync', 'foreignWriteDefaults'],
  sweep: ['sweep'],
  relay: ['relay'],
  election: ['electionDefaults'],
  requeue: ['requeueDefaults'],
  queue: ['queue'],
  runs: ['runs'],
};

/** Returns the comments of each limit by "constant.limit": they are what the page says. */
function readComments(): ReadonlyMap<string, string> {
  const sources = globSync('shared/contract/*limits.ts').map((file) => readFileSync(file, 'utf8'));
  const constants = sources.flatMap((source) => [
    ...source.matchAll(/^(?:export )?const (\w+) = \{\n([\s\S]*?)^\}/gm),
  ]);
  const entries = constants.flatMap(([, constant, body = '']) =>
    [...body.matchAll(/\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n {2}(\w+):/g)].map(
      ([, comment = '', name]) =>
        [`${constant}.${name}`, comment.replace(/\s+(?:\* )?/g, ' ').trim()] as const,
    ),
  );
  return new Map(entries);
}

function meaningOf(comments: ReadonlyMap<string, string>, stage: keyof Limits, name: string): string {
  const [meaning] = constantsOf[stage].flatMap((constant) => comments.get(`${constant}.${name}`) ?? []);
  if (meaning === undefined)
    throw new Error(
      `shared/contract: ${stage}.${name} needs a comment, because docs/reference/limits.md has it`,
    );
  return meaning;
}

export function limitsPage(): string {
  const comments = readComments();
  const { requeue: _, ...limits } = defaultLimits;
  const rows = Object.entries(limits).flatMap(([stage, values]) =>
    Object.entries(values).map(([name, value]) => [
      code(`${stage}.${name}`),
      String(value),
      meaningOf(comments, stage as keyof Limits, name),
    ]),
  );
  return page('Limits and waits', 'shared/contract', [
    'What each limit means for the callers is in [limits](../operate/limits.md).',
    table(['limit', 'default', 'meaning'], rows),
    '## Waits of requeued runs',
    'A run that could not be done for a cause outside of its Service is enqueued again after these waits. A wait doubles with each such run in a row up to `max`; `jitter` is the share of it that is drawn at random. Within `coalesce` a pending wake-up covers later runs of the item too.',
    requeueTable(comments),
  ]);
}

const requeueTable = (comments: ReadonlyMap<string, string>): readonly string[] =>
  table(
    ['cause', 'after, s', 'max, s', 'jitter', 'coalesce, s', 'meaning'],
    Object.entries<RequeueRule>(requeueDefaults).map(([cause, rule]) => [
      code(cause),
      ...[rule.afterSeconds, rule.maxSeconds, rule.jitter, rule.coalesceWithinSeconds].map((value) =>
        String(value ?? '-'),
      ),
      meaningOf(comments, 'requeue', cause),
    ]),
  );
