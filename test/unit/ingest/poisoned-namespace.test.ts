/**
 * What the table refuses for one namespace or service holds back the wake-ups of no other one. The messages
 * of the batch come again, and end it.
 */
import { expect, it } from 'vitest';
import type { Key, Table } from '#shared/store/table.ts';
import { pod, service } from '#test/unit/shared/kube/objects.ts';
import { entry, ingestHub } from './hub.ts';

const spaces = ['good-1', 'ill', 'good-2'];

it.each<
  readonly [what: string, call: 'get' | 'query' | 'update', isIll: (key: Pick<Key, 'pk' | 'sk'>) => boolean]
>([
  ['version of its set of Services', 'update', ({ pk, sk }) => pk === 'c#NS' && sk.startsWith('ill')],
  ['count of its pods', 'get', ({ pk, sk }) => pk === 'c#NS' && sk.startsWith('ill')],
  ['Services', 'query', ({ pk }) => pk === 'c#SVC#ill'],
  ['work item', 'update', ({ pk }) => pk === 'c#WORK#service#ill/svc'],
])(
  'a batch whose table refuses the %s of one namespace wakes the services of the others',
  async (_what, call, isIll) => {
    const hub = await ingestHub();
    const changeOf = (namespace: string, version: number) => [
      hub.live('Service', version, {
        ...entry('Service', version, service({ selector: { app: 'a' } })),
        namespace,
      }),
      hub.live('Pod', version, { ...entry('Pod', version, pod('p', { labels: { app: 'a' } })), namespace }),
    ];
    const changes = spaces.flatMap((namespace) => changeOf(namespace, 5));
    // The namespaces are in the index before, and the caches of a new worker are empty.
    for (const namespace of spaces)
      await hub.ingest(hub.live('Pod', 4, { ...entry('Pod', 4, pod('q')), namespace }));
    hub.woken();
    const whole = { ...hub.table } as Table;
    const refusing = async (key: Key | string, ...rest: never[]): Promise<never> => {
      if (isIll(typeof key === 'string' ? { pk: key, sk: '' } : key)) throw new Error('ThrottlingException');
      return (whole[call] as (...args: unknown[]) => Promise<never>)(key, ...rest);
    };
    Object.assign(hub.table, { [call]: refusing });
    expect(await hub.ingest(...changes)).toHaveLength(changes.length);
    const others = hub.woken().filter((w) => w.namespace !== 'ill');
    expect(new Set(others.map((w) => w.namespace))).toEqual(new Set(['good-1', 'good-2']));
    Object.assign(hub.table, whole);
    expect(await hub.ingest(...changes)).toEqual([]);
    expect(new Set(hub.woken().map((w) => w.namespace))).toEqual(new Set(spaces));
  },
);
