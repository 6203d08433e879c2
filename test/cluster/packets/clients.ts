/** Clients in pods: each asks at a fixed rate, and every answer is kept. */
import { until } from '#test/cluster/faults/until.ts';
import type { ClusterNodes } from './cluster-nodes.ts';
import type { User } from './user.ts';

export interface Answer {
  /** Unix time of the request, in ms. */
  readonly atMs: number;
  /** ms until the answer or the error. */
  readonly took: number;
  readonly cluster?: string;
  readonly pod?: string;
  /** The pod's first address. */
  readonly address?: string;
  /** The client as the server sees it. */
  readonly from?: string;
  /** A lost request has an error and no answer. */
  readonly error?: string;
  /** The client's own pod. */
  readonly client: string;
}

export interface Question {
  /** http://HOST:PORT or udp://HOST:PORT. */
  readonly to: string;
  /** Requests a second of each client. */
  readonly rate?: number;
  readonly dns?: string;
  readonly family?: 4 | 6;
  readonly seconds?: number;
}

export interface Clients {
  readonly answers: readonly Answer[];
  /** Answers to requests since a time. */
  since(atMs: number): readonly Answer[];
  /** Waits until an answer to a request after `sinceMs` matches. Throws if none comes in time. */
  answered(matches: (answer: Answer) => boolean, sinceMs: number, withinMs?: number): Promise<Answer>;
  /** Resolves when each client has this many more answers. */
  more(count: number): Promise<void>;
  stop(): Promise<readonly Answer[]>;
}

export function startClients(
  nodes: ClusterNodes,
  pods: readonly string[],
  { to, rate = 30, dns, family = 4, seconds = 300 }: Question,
): Clients {
  const answers: Answer[] = [];
  const args = [
    'ask',
    '--to',
    to,
    '--rate',
    String(rate),
    '--for',
    `${seconds}s`,
    '--family',
    String(family),
    ...(dns ? ['--dns', dns] : []),
  ];
  const programs = pods.map((client) =>
    nodes.exec(client, args, (line) => {
      const { answer, ...rest } = JSON.parse(line) as {
        atMs: number;
        took: number;
        answer?: string;
        error?: string;
      };
      const [cluster, pod, address, from] = answer?.split(' ') ?? [];
      answers.push({
        ...rest,
        client,
        ...(cluster && pod && address && { cluster, pod, address }),
        ...(from && { from }),
      });
    }),
  );
  return {
    answers,
    since: (atMs) => answers.filter((a) => a.atMs >= atMs),
    async answered(matches, sinceMs, withinMs = 60_000) {
      const found = await until(() => answers.find((a) => a.atMs >= sinceMs && matches(a)), withinMs);
      if (!found)
        throw new Error(
          `no such answer from ${to} in ${withinMs / 1000} s; the last: ${JSON.stringify(answers.slice(-3))}`,
        );
      return found;
    },
    async more(count) {
      const goal = answers.length + count * pods.length;
      if (!(await until(() => answers.length >= goal)))
        throw new Error(`the clients of ${to} do not go on: ${JSON.stringify(answers.slice(-3))}`);
    },
    async stop() {
      await Promise.all(programs.map((program) => program.stop()));
      return answers;
    },
  };
}

export const lost = (answers: readonly Answer[]): readonly Answer[] =>
  answers.filter((a) => a.error !== undefined);

/** ms from a time until the last answer of a pod; undefined if it gave none after it. */
export function lastAnswerMs(answers: readonly Answer[], pod: string, sinceMs: number): number | undefined {
  const times = answers.filter((a) => a.pod === pod && a.atMs >= sinceMs).map((a) => a.atMs - sinceMs);
  return times.length > 0 ? Math.max(...times) : undefined;
}

/** ms from a time until the first request that a pod has answered. */
export function firstAnswerMs(answers: readonly Answer[], pod: string, sinceMs: number): number | undefined {
  const times = answers.filter((a) => a.pod === pod && a.atMs >= sinceMs).map((a) => a.atMs - sinceMs);
  return times.length > 0 ? Math.min(...times) : undefined;
}

/** Makes pods that run nothing, spread over the nodes. */
export async function makeClients(
  { nodes, apply }: User,
  namespace: string,
  count: number,
): Promise<readonly string[]> {
  const names = Array.from({ length: count }, (_, i) => `client-${i}`);
  const items = names.map((name, i) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels: { app: 'client' } },
    spec: {
      nodeName: nodes.networks[i % nodes.networks.length]?.name,
      automountServiceAccountToken: false,
      containers: [{ name: 'c', image: 'client' }],
    },
  }));
  await apply(items);
  for (const name of names) await nodes.event(`${namespace}/${name}`, 'ready');
  return names.map((name) => `${namespace}/${name}`);
}
