import { relayEnv } from '#shared/contract/env.ts';
import { defaultLimits } from '#shared/contract/limits.ts';
import type { LeaseName } from './election/lease-store.ts';
import type { Outputs } from './projection/entries.ts';

export interface RelaySettings {
  readonly cluster: string;
  readonly eventsQueueUrl: string;
  readonly outputs: Outputs;
  readonly resyncMs: number;
  readonly port: number;
  /**
   * Address to listen on. Undefined: every address of the pod, which the kubelet probes by one of them. A
   * local run listens on the loopback interface.
   */
  readonly host: string | undefined;
  readonly clusterset: boolean;
  /** Undefined: a single relay, which always leads. */
  readonly lease: LeaseName | undefined;
  readonly api: ApiSettings;
}

/**
 * Connection to the cluster: one file with all of it (local runs), or an address and the files of a service
 * account.
 */
export type ApiSettings =
  | { readonly connectionFile: string }
  | { readonly url: string; readonly caFile: string | undefined; readonly tokenFile: string | undefined };

type Env = { readonly [name: string]: string | undefined };

const serviceAccount = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Throws one error that names every missing or wrong variable. */
export function readSettings(env: Env): RelaySettings {
  const wrong: string[] = [];
  const required = (name: string): string => {
    const value = env[name] ?? '';
    if (value === '') wrong.push(`${name} is not set`);
    return value;
  };
  const number = (name: string, otherwise: number, min: number, max: number): number => {
    const value = Number(env[name] || otherwise);
    if (!(value >= min && value <= max))
      wrong.push(`${name} is ${JSON.stringify(env[name])}: a number from ${min} to ${max} is needed`);
    return value;
  };
  const outputs = env[relayEnv.outputs] || 'metadata';
  if (outputs !== 'metadata' && outputs !== 'full')
    wrong.push(`${relayEnv.outputs} is ${JSON.stringify(outputs)}: metadata or full is needed`);

  const settings: RelaySettings = {
    cluster: required(relayEnv.clusterId),
    eventsQueueUrl: required(relayEnv.eventsQueueUrl),
    outputs: outputs === 'full' ? 'full' : 'metadata',
    resyncMs: number(relayEnv.resyncSeconds, defaultLimits.relay.resyncMs / 1000, 1, 86_400) * 1000,
    port: number(relayEnv.port, 8080, 0, 65_535),
    // An undefined host lets Node choose: "::", or 0.0.0.0 on a kernel without IPv6 (ipv6.disable=1).
    host: env[relayEnv.host] || (env[relayEnv.connectionFile] ? '127.0.0.1' : undefined),
    clusterset: env[relayEnv.clusterset] === '1',
    lease: leaseName(env[relayEnv.lease], wrong),
    api: apiSettings(env, wrong),
  };
  if (wrong.length > 0) throw new Error(`the relay's environment is not complete: ${wrong.join('; ')}`);
  return settings;
}

function leaseName(text: string | undefined, wrong: string[]): LeaseName | undefined {
  if (!text) return undefined;
  const [namespace = '', name = '', ...more] = text.split('/');
  if (namespace === '' || name === '' || more.length > 0)
    wrong.push(`${relayEnv.lease} is ${JSON.stringify(text)}: namespace/name is needed`);
  return { namespace, name };
}

function apiSettings(env: Env, wrong: string[]): ApiSettings {
  const connectionFile = env[relayEnv.connectionFile];
  if (connectionFile) return { connectionFile };
  const url = env[relayEnv.apiUrl];
  if (url) return { url, caFile: env[relayEnv.apiCaFile], tokenFile: env[relayEnv.apiTokenFile] };
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = env;
  if (!host)
    wrong.push(
      `${relayEnv.apiUrl} is not set, and neither are ${relayEnv.connectionFile} or KUBERNETES_SERVICE_HOST, which every pod has`,
    );
  return {
    url: `https://${host?.includes(':') ? `[${host}]` : host}:${port}`,
    caFile: env[relayEnv.apiCaFile] || `${serviceAccount}/ca.crt`,
    tokenFile: env[relayEnv.apiTokenFile] || `${serviceAccount}/token`,
  };
}
