import { setTimeout as sleep } from 'node:timers/promises';
import type { EndpointSlice, Endpoints } from '#shared/kube/types.ts';
import type { Api, Objects, WatchEvent } from './api.ts';

/** The controllers' outputs as a watcher of the cluster sees them. */
export interface Observed {
  endpoints(namespace: string, name: string): Endpoints | undefined;
  slices(namespace: string, service: string): readonly EndpointSlice[];
  /** Tries the assertion at every change until it holds; rejects with its last complaint. */
  eventually<T>(assertion: () => T | Promise<T>, timeoutMs?: number): Promise<T>;
  stop(): Promise<void>;
}

type OutputKind = 'Endpoints' | 'EndpointSlice';

export async function observe(api: Api): Promise<Observed> {
  const stopping = new AbortController();
  const endpoints = new Map<string, Endpoints>();
  const slices = new Map<string, EndpointSlice>();
  const waiting = new Set<() => void>();
  const changed = (): void => {
    for (const wake of [...waiting]) wake();
  };
  const views = [
    follow(api, 'Endpoints', endpoints, { changed, signal: stopping.signal }),
    follow(api, 'EndpointSlice', slices, { changed, signal: stopping.signal }),
  ];
  await Promise.all(views.map((view) => view.listed));

  return {
    endpoints: (namespace, name) => endpoints.get(`${namespace}/${name}`),
    slices: (namespace, service) =>
      [...slices.values()].filter(
        (s) =>
          s.metadata.namespace === namespace && s.metadata.labels?.['kubernetes.io/service-name'] === service,
      ),
    async eventually(assertion, timeoutMs = 120_000) {
      const limit = Date.now() + timeoutMs;
      for (;;) {
        try {
          return await assertion();
        } catch (e) {
          if (Date.now() > limit) throw e;
        }
        await nextChange(waiting, 500);
      }
    },
    async stop() {
      stopping.abort();
      await Promise.all(views.map((view) => view.ended));
    },
  };
}

/** Also after a while without one: an assertion may look at more than what is watched. */
function nextChange(waiting: Set<() => void>, orAfterMs: number): Promise<void> {
  return new Promise((resolve) => {
    const wake = (): void => {
      clearTimeout(timer);
      waiting.delete(wake);
      resolve();
    };
    const timer = setTimeout(wake, orAfterMs);
    waiting.add(wake);
  });
}

function follow<K extends OutputKind>(
  api: Api,
  kind: K,
  into: Map<string, Objects[K]>,
  { changed, signal }: { readonly changed: () => void; readonly signal: AbortSignal },
) {
  const key = ({ metadata }: Objects[K]): string => `${metadata.namespace}/${metadata.name}`;
  async function list(): Promise<string> {
    const { items, resourceVersion } = await api.list(kind, '');
    into.clear();
    for (const item of items) into.set(key(item), item);
    changed();
    return resourceVersion;
  }
  function take({ type, object }: WatchEvent<K>): void {
    if (type === 'ERROR') throw new Error(`watch of ${kind} refused`);
    if (type === 'BOOKMARK') return;
    if (type === 'DELETED') into.delete(key(object));
    else into.set(key(object), object);
    changed();
  }
  async function watch(listed: Promise<string>): Promise<void> {
    for (let from = await listed; !signal.aborted; ) {
      try {
        for await (const event of api.watch(kind, from, signal)) {
          take(event);
          from = event.object.metadata.resourceVersion ?? from;
        }
      } catch {
        // An API server that is away is asked again, until it is back.
        if (!signal.aborted) from = await list().catch(() => sleep(200, from, { signal }).catch(() => from));
      }
    }
  }
  const listed = list();
  return { listed, ended: watch(listed) };
}
