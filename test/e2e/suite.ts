import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, it } from 'vitest';
import type { Connection } from '#shared/clusters/api/connection.ts';
import { type Api, connectApi } from './api.ts';
import { type Observed, observe } from './observed.ts';
import { conditions } from './scenarios/conditions.ts';
import { families } from './scenarios/families.ts';
import { membership } from './scenarios/membership.ts';
import { metadata } from './scenarios/metadata.ts';
import { ownership } from './scenarios/ownership.ts';
import { packing } from './scenarios/packing.ts';
import { ports } from './scenarios/ports.ts';
import { quiet } from './scenarios/quiet.ts';
import { triggerTime } from './scenarios/trigger-time.ts';
import { upstreamSpecs } from './scenarios/upstream-specs.ts';
import { httpPort, newWorld, type Scenario } from './world.ts';

/** A cluster whose Endpoints and EndpointSlices some controller writes. */
export interface ApiUnderTest {
  readonly connection: Connection;
  /** Output of the writer so far, shown if it writes nothing. */
  readonly lines?: readonly string[];
  close(): Promise<void>;
}

export interface SuiteOptions {
  readonly name: string;
  connect(): Promise<ApiUnderTest>;
}

/**
 * The users' view of the two controllers in any implementation, by the Kubernetes API only. The suite passes
 * with the real kube-controller-manager, which proves its expectations.
 */
export function e2eSuite({ name, connect }: SuiteOptions): void {
  describe(name, { concurrent: true, timeout: 300_000 }, () => {
    const run = randomBytes(3).toString('hex');
    const nodes = [`node-a-${run}`, `node-b-${run}`] as const;
    let cluster: ApiUnderTest | undefined;
    let api: Api;
    let observed: Observed | undefined;
    let namespaces = 0;

    beforeAll(async () => {
      cluster = await connect();
      api = connectApi(cluster.connection);
      for (const [i, node] of nodes.entries())
        await api.create('Node', '', {
          metadata: {
            name: node,
            labels: { 'topology.kubernetes.io/zone': ['zone-a', 'zone-b'][i] as string },
          },
        });
      observed = await observe(api);
      await expectWriter(cluster, api, observed, `e2e-${run}`);
    });
    afterAll(async () => {
      await observed?.stop();
      api?.close();
      await cluster?.close();
    });

    const scenario: Scenario = (fact, body) =>
      it(fact, async () => {
        const namespace = `e2e-${run}-${++namespaces}`;
        await api.create('Namespace', '', { metadata: { name: namespace } });
        await body(newWorld(api, observed as Observed, namespace, nodes));
      });

    for (const declare of [
      membership,
      ports,
      families,
      conditions,
      metadata,
      triggerTime,
      packing,
      ownership,
      quiet,
      upstreamSpecs,
    ])
      declare(scenario);
  });
}

/** Fails early without a writer, because every scenario would wait for its deadline. */
async function expectWriter(
  { lines = [] }: ApiUnderTest,
  api: Api,
  observed: Observed,
  namespace: string,
): Promise<void> {
  await api.create('Namespace', '', { metadata: { name: namespace } });
  await api.create('Service', namespace, {
    metadata: { name: 'first' },
    spec: { selector: { app: 'first' }, ports: [httpPort] },
  });
  await observed.eventually(() => {
    const written = [observed.endpoints(namespace, 'first'), ...observed.slices(namespace, 'first')].filter(
      (o) => o !== undefined,
    );
    if (written.length < 2)
      throw new Error(`nobody keeps endpoints on this cluster\n${lines.slice(-30).join('\n')}`);
  });
}
