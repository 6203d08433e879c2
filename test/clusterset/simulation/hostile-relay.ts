/**
 * The relay of one cluster of a set, controlled by an attacker: besides its reads it sends any content that
 * fits into a message. Its cluster exports none of this. Valid names begin with `hostileName`, and invalid
 * names begin with the names of other clusters.
 */
import { encodeProjection } from '#shared/kube/projection/projection.ts';
import type { InputKind } from '#shared/kube/types.ts';
import { decodeMessage, encodeMessage } from '#shared/queue/codec.ts';
import type { EventsMessage } from '#shared/queue/messages.ts';
import type { MessageQueue } from '#shared/queue/port.ts';
import type { Random } from '#test/worlds/simulation/random.ts';

export const hostileId = 'x';
export const hostileName = 'evil-';
/** The names of one attack on the importers. */
const maxNames = 20;

export class HostileRelay {
  readonly #random: Random;
  readonly #namespaces: readonly string[];
  #version = 1e9;

  constructor(random: Random, namespaces: readonly string[]) {
    this.#random = random;
    this.#namespaces = namespaces;
  }

  /** `isOver`: the honest relay alone sends from then on. */
  queue(queue: MessageQueue, isOver: () => boolean): MessageQueue {
    return {
      send: async (messages) => {
        await queue.send(messages);
        const [first] = messages;
        if (!first || isOver() || !this.#random.chance(0.5)) return;
        const { v, cluster, session, uid, firstListVersion } = decodeMessage(first.body) as EventsMessage;
        const more = this.#attack().map((attack) => ({
          body: encodeMessage({ v, cluster, session, uid, firstListVersion, ...attack }),
        }));
        await queue.send(more);
      },
    };
  }

  #attack(): readonly object[] {
    const namespace = this.#random.pick(this.#namespaces);
    const attacks = [
      () => this.#separators(namespace),
      () => this.#many(namespace),
      () => this.#nonsense(namespace),
      () => this.#lists(namespace),
    ];
    return this.#random.pick(attacks)();
  }

  /** Names that stand for entries of other clusters in keys that are not escaped. */
  #separators(namespace: string): readonly object[] {
    const name = this.#random.pick([
      's0#E#b',
      's0#E#c',
      's0#W',
      's0#O#b',
      's0#I#c',
      's0/x',
      '%23',
      `${namespace}/s0`,
    ]);
    return [
      this.#live('Service', [this.#service(namespace, name)]),
      this.#live('ServiceExport', [this.#export(namespace, name, 'x')]),
    ];
  }

  /** Each time with other ports, so that each export changes. */
  #many(namespace: string): readonly object[] {
    const names = Array.from({ length: maxNames }, (_, i) => `${hostileName}${i}`);
    const port = this.#random.between(1, 65_535);
    const text = 'a'.repeat(this.#random.pick([1, 15_000, 200_000]));
    return [
      this.#live('Pod', [this.#entry(namespace, `${hostileName}pod`, pod)]),
      this.#live(
        'Service',
        names.map((name) => this.#service(namespace, name, [{ name: 'p', port, protocol: 'TCP' }])),
      ),
      this.#live(
        'ServiceExport',
        names.map((name, i) => this.#export(namespace, name, i === 0 ? text : 'a'.repeat(15_000))),
      ),
    ];
  }

  /** Returns invalid objects, beside a valid one for comparison. */
  #nonsense(namespace: string): readonly object[] {
    const name = `${hostileName}0`;
    const ports = this.#random.pick([
      [{ port: 99_999_999 }],
      [{ port: -1 }],
      [{ port: 1, protocol: 'QUIC' }],
      [{ name: '#', port: 1 }],
      [5],
      'all',
    ]);
    const entry = this.#random.pick([
      this.#service(namespace, name, ports as readonly object[]),
      {
        ...this.#service(namespace, name),
        resourceVersion: this.#random.pick(['9'.repeat(60), '-1', '01', '', 7]),
      },
      {
        ...this.#service(namespace, name),
        projection: this.#random.pick([
          '',
          '[',
          '{}',
          'null',
          '[[[[[[',
          `["\\ud800",0,{},{},0,{}]`,
          '["u",5,5,5,5,5]',
        ]),
      },
      { ...this.#service('', name) },
      { ...this.#service(namespace.repeat(100), name) },
      {},
    ]);
    return [this.#live('Service', [this.#service(namespace, `${hostileName}1`), entry])];
  }

  /** Lists that end where they like. */
  #lists(namespace: string): readonly object[] {
    const kind = this.#random.pick(['Service', 'ServiceExport', 'ServiceImport', 'Namespace'] as const);
    const [from, to] = this.#random.pick([
      [`${namespace}/${hostileName}`, `${namespace}/${hostileName}~`],
      ['#', '/'],
      [`${namespace}#`, `${namespace}/#`],
    ] as const);
    const list = {
      type: 'list',
      asOf: String(++this.#version),
      listId: `hostile#${this.#version}`,
      partNumber: 0,
      isLast: true,
    };
    return [{ ...list, kind, from, to, entries: [] }];
  }

  #live(kind: InputKind, entries: readonly object[]): object {
    return { type: 'live', kind, asOf: String(this.#version), entries };
  }

  #entry(namespace: string, name: string, projection: string): object {
    return { namespace, name, resourceVersion: String(++this.#version), projection };
  }

  #service(
    ns: string,
    name: string,
    ports: readonly object[] = [{ name: 'p', port: 80, protocol: 'TCP' }],
  ): object {
    return this.#entry(
      ns,
      name,
      JSON.stringify([
        name,
        0,
        {},
        {},
        0,
        { clusterIP: '10.96.9.9', ipFamilies: ['IPv4'], selector: { app: 'evil' }, ports },
      ]),
    );
  }

  #export(ns: string, name: string, text: string): object {
    return this.#entry(
      ns,
      name,
      JSON.stringify([name, '2020-01-01T00:00:00Z', '', 1, { 'no label!': '#' }, { text }]),
    );
  }
}

/** Ready, and inside of the cluster's range or not. */
const pod = encodeProjection('Pod', {
  metadata: { name: `${hostileName}pod`, uid: 'evil', labels: { app: 'evil' } },
  spec: { containers: [] },
  status: {
    phase: 'Running',
    podIP: '10.200.0.1',
    podIPs: [{ ip: '10.200.0.1' }],
    conditions: [{ type: 'Ready', status: 'True' }],
  },
});
