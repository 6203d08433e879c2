/**
 * The CustomResourceDefinitions of the Multi-Cluster Services API v0.5.2, as its project publishes them
 * (config/crd of sigs.k8s.io/mcs-api).
 */
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import type { Connection } from '#shared/clusters/api/connection.ts';
import { statusError } from '#shared/clusters/api/status.ts';
import { httpTransport } from '#shared/clusters/api/transport.ts';

export type McsKind = 'serviceexports' | 'serviceimports';
const group = 'multicluster.x-k8s.io';
const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

export const bothKinds: readonly McsKind[] = ['serviceexports', 'serviceimports'];

interface Crd {
  readonly spec: {
    readonly versions: readonly {
      readonly name: string;
      readonly served: boolean;
      readonly storage: boolean;
    }[];
  };
}

/**
 * Resolves when the API server serves them. `alphaOnly`: as a cluster has them whose definitions are older
 * than v1beta1.
 */
export async function installMcs(
  connection: Connection,
  kinds: readonly McsKind[] = bothKinds,
  { alphaOnly = false } = {},
): Promise<void> {
  const transport = httpTransport(connection, { userAgent: 'fleet-endpoints-test', timeoutMs: 30_000 });
  try {
    for (const kind of kinds) {
      const file = fileURLToPath(new URL(`mcs-crds/${group}_${kind}.yaml`, import.meta.url));
      const published = parse(await readFile(file, 'utf8')) as Crd;
      const versions = published.spec.versions
        .filter((v) => v.name === 'v1alpha1')
        .map((v) => ({ ...v, storage: true }));
      const crd = alphaOnly ? { ...published, spec: { ...published.spec, versions } } : published;
      const answer = await transport.request('POST', crds, { body: JSON.stringify(crd) });
      if (answer.status !== 201 && answer.status !== 409) throw statusError(answer);
      const path = `/apis/${group}/${alphaOnly ? 'v1alpha1' : 'v1beta1'}/${kind}`;
      for (let served = false; !served; await sleep(50))
        served = (await transport.request('GET', path, { idempotent: true })).status === 200;
    }
  } finally {
    transport.close();
  }
}

/** With the kind go all of its objects. */
export async function uninstallMcs(connection: Connection, kind: McsKind): Promise<void> {
  const transport = httpTransport(connection, { userAgent: 'fleet-endpoints-test', timeoutMs: 30_000 });
  try {
    const answer = await transport.request('DELETE', `${crds}/${kind}.${group}`, { body: '{}' });
    if (answer.status !== 200) throw statusError(answer);
  } finally {
    transport.close();
  }
}
