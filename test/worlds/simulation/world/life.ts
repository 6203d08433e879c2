/**
 * A cluster that lives: its objects change by themselves, as people, kubelets and other controllers change
 * them.
 */
import type { RawObject, StoreKind } from '#infra/local/apiserver/api-kinds.ts';
import { copyJson } from '#infra/local/apiserver/copy.ts';
import { collectGarbage, startGarbageCollector } from '#infra/local/apiserver/gc.ts';
import type { Store } from '#infra/local/apiserver/store.ts';
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import { derivedPrefix } from '#shared/clusterset/contract/clusterset-names.ts';
import { assignName } from '#shared/controllers/slices/slice-name.ts';
import { labelServiceName, labelZone, labelZoneId } from '#shared/kube/names.ts';
import { isLiedTo, type Profile } from '#test/worlds/simulation/faults/profile.ts';
import { zoneIdOfNode } from '#test/worlds/simulation/faults/zones.ts';
import { recompute } from '#test/worlds/simulation/promises/truth.ts';
import type { Random } from '#test/worlds/simulation/random.ts';
import type { Scheduler } from './scheduler.ts';

const apps = ['x', 'y', 'z'] as const;
/** Two kilobytes or so. */
const alike = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`team-${i}`, 'x'.repeat(60)]));

/** The cluster whose objects change. */
export interface LivingCluster {
  readonly store: Store;
  readonly random: Random;
  readonly scheduler: Scheduler;
  readonly profile: Profile;
  readonly tell: (what: string) => void;
}

export class Life {
  readonly #store: Store;
  readonly #random: Random;
  readonly #scheduler: Scheduler;
  readonly #profile: Profile;
  readonly #tell: (what: string) => void;
  readonly #namespaces: string[];
  readonly #until: number;
  readonly #network: string;
  #names = 0;
  #ips = 0;

  /** `network`: the first two bytes of the pods' addresses. */
  constructor({ store, random, scheduler, profile, tell }: LivingCluster, network = '10.244') {
    this.#network = network;
    this.#store = store;
    this.#random = random;
    this.#scheduler = scheduler;
    this.#profile = profile;
    this.#tell = tell;
    this.#namespaces = ['a', 'b'].slice(0, profile.namespaces);
    this.#until = scheduler.now + profile.faultsUntilMs;
    startGarbageCollector(store, (round) => scheduler.after(random.between(50, 1500), round));
  }

  begin(): void {
    const { services, pods, outputsBefore } = this.#profile;
    const crowded = isLiedTo(this.#profile);
    for (const name of ['node-1', 'node-2']) this.#node(name);
    for (const ns of this.#namespaces) {
      this.#store.create('Namespace', '', { metadata: { name: ns } });
      for (let i = 0; i < services; i++) this.#service(ns, `s${i}`, crowded && i === 0 ? 'x' : undefined);
      for (let i = 0; i < pods; i++) this.#pod(ns, `p${i}`, crowded ? 'x' : undefined, true);
    }
    if (outputsBefore) this.#outputs();
  }

  /** Plans everything that is to happen. */
  live(): void {
    const { changes, foreignEdits } = this.#profile;
    for (let i = 0; i < changes; i++) this.#plan(() => this.#change());
    for (let i = 0; i < foreignEdits; i++) this.#plan(() => this.#foreignEdit());
  }

  #plan(run: () => void): void {
    this.#scheduler.at(this.#until - this.#random.between(0, this.#profile.faultsUntilMs), () =>
      this.#try(run),
    );
  }

  /** Runs a later part of a change, before the end. */
  #later(run: () => void): void {
    const at = Math.min(this.#until, this.#scheduler.now + this.#random.between(1, 6000));
    this.#scheduler.at(at, () => this.#try(run));
  }

  /** Runs an independent change, and skips it if it no longer fits. */
  #try(run: () => void): void {
    try {
      run();
    } catch (e) {
      if (!(e instanceof ClusterApiError)) throw e;
    }
  }

  #change(): unknown {
    const r = this.#random;
    const ns = r.pick(this.#namespaces);
    const kind = r.next();
    if (kind < 0.16)
      return this.#pod(
        ns,
        r.chance(0.5) ? `q${++this.#names}` : `p${r.between(0, 5)}`,
        undefined,
        r.chance(0.3),
      );
    const pod = r.pick(this.#all('Pod', ns));
    if (kind < 0.62 && pod) return this.#changePod(pod);
    const service = r.pick(this.#all('Service', ns));
    if (kind < 0.9 && service) return this.#changeService(ns, service);
    if (kind < 0.93) return this.#replaceNamespace(ns);
    if (kind < 0.96) return this.#loseNode();
    return this.#service(ns, `s${r.between(0, 5)}`);
  }

  #changePod(pod: RawObject): void {
    const r = this.#random;
    const { name, namespace: ns = '' } = pod.metadata;
    const kind = r.next();
    if (kind < 0.35) {
      const ready = !isReady(pod);
      this.#tell(`pod ${ns}/${name} ready=${ready}`);
      this.#edit('Pod', ns, name, (p) => setReady(p, ready, this.#time()));
      // Often only for a moment.
      if (r.chance(0.6))
        this.#later(() => this.#edit('Pod', ns, name, (p) => setReady(p, !ready, this.#time())));
    } else if (kind < 0.65) {
      const app = r.pick(apps);
      this.#tell(`pod ${ns}/${name} relabelled to ${app}`);
      this.#edit('Pod', ns, name, (p) => {
        p.metadata.labels = this.#labels(app);
      });
    } else if (kind < 0.9) {
      this.#tell(`pod ${ns}/${name} deleted`);
      if (r.chance(0.5)) this.#store.delete('Pod', ns, name, { gracePeriodSeconds: 30 });
      const again = r.chance(0.3);
      this.#later(() => {
        this.#store.remove('Pod', ns, name);
        if (again) this.#pod(ns, name, undefined, r.chance(0.5));
      });
    } else if (kind < 0.95) {
      this.#tell(`pod ${ns}/${name} has ended in silence`);
      this.#edit('Pod', ns, name, (p) => {
        p.status = { ...p.status, phase: 'Succeeded' };
      });
    } else {
      this.#tell(`pod ${ns}/${name} has another address`);
      const ip = this.#ip();
      this.#edit('Pod', ns, name, (p) => {
        p.status = { ...p.status, podIP: ip, podIPs: [{ ip }] };
      });
    }
  }

  #changeService(ns: string, { metadata: { name } }: RawObject): void {
    const r = this.#random;
    const kind = r.next();
    if (kind < 0.35) {
      const app = r.pick(apps);
      this.#tell(`service ${ns}/${name} selects ${app}`);
      this.#edit('Service', ns, name, (s) => {
        s.spec = { ...s.spec, selector: { app } };
      });
    } else if (kind < 0.65) {
      this.#tell(`service ${ns}/${name} deleted`);
      this.#store.remove('Service', ns, name);
      // One that the hub has made is for the hub to make again.
      if (!name.startsWith(derivedPrefix) && r.chance(0.6)) this.#later(() => this.#service(ns, name));
    } else if (kind < 0.75) {
      this.#tell(`service ${ns}/${name} has another port`);
      this.#edit('Service', ns, name, (s) => {
        s.spec = {
          ...s.spec,
          ports: [{ name: 'http', port: 80, targetPort: r.between(8080, 8084), protocol: 'TCP' }],
        };
      });
    } else if (kind < 0.85) {
      this.#tell(`service ${ns}/${name} publishes or hides what is not ready`);
      this.#edit('Service', ns, name, (s) => {
        s.spec = { ...s.spec, publishNotReadyAddresses: !s.spec?.['publishNotReadyAddresses'] };
      });
    } else if (!name.startsWith(derivedPrefix)) {
      this.#tell(`service ${ns}/${name} relabelled`);
      this.#edit('Service', ns, name, (s) => {
        s.metadata.labels = { team: String(r.between(1, 9)) };
      });
    }
  }

  #replaceNamespace(ns: string): void {
    this.#tell(`namespace ${ns} deleted`);
    this.#store.delete('Namespace', '', ns);
    const again = (): unknown => {
      if (this.#store.find('Namespace', '', ns)) {
        collectGarbage(this.#store);
        return this.#scheduler.now < this.#until && this.#later(again);
      }
      this.#tell(`namespace ${ns} created anew`);
      this.#store.create('Namespace', '', { metadata: { name: ns } });
      for (let i = 0; i < 2; i++) this.#service(ns, `s${i}`);
      for (let i = 0; i < 3; i++) this.#pod(ns, `p${i}`, undefined, true);
    };
    this.#later(again);
  }

  /** The pods of a lost node are deleted after it, by the pod garbage collector. */
  #loseNode(): unknown {
    const nodes = this.#all('Node', '');
    if (nodes.length < 2) return this.#node(`node-${this.#random.between(1, 4)}`);
    const { name } = this.#random.pick(nodes).metadata;
    this.#tell(`node ${name} lost`);
    this.#store.remove('Node', '', name);
    this.#later(() => this.#withoutNode(name));
    this.#scheduler.at(this.#until, () => this.#withoutNode(name));
  }

  #withoutNode(node: string): void {
    if (this.#store.find('Node', '', node)) return;
    for (const p of this.#store.list('Pod')) {
      if (p.spec?.['nodeName'] === node)
        this.#store.remove('Pod', p.metadata.namespace ?? '', p.metadata.name);
    }
  }

  #foreignEdit(): void {
    const r = this.#random;
    const ns = r.pick(this.#namespaces);
    if (r.chance(0.4)) {
      const endpoints = r.pick(this.#all('Endpoints', ns));
      if (!endpoints) return;
      const { name } = endpoints.metadata;
      if (r.chance(0.4)) {
        this.#tell(`somebody deletes Endpoints ${ns}/${name}`);
        this.#store.remove('Endpoints', ns, name);
      } else {
        this.#tell(`somebody empties Endpoints ${ns}/${name}`);
        this.#store.replace(
          'Endpoints',
          { namespace: ns, name },
          { ...endpoints, subsets: [] },
          { manager: 'kubectl-edit' },
        );
      }
      return;
    }
    const slice = r.pick(this.#all('EndpointSlice', ns));
    if (!slice) return;
    const { name, labels = {} } = slice.metadata;
    const relabel = (more: { readonly [key: string]: string | undefined }): void => {
      const next = Object.fromEntries(
        Object.entries({ ...labels, ...more }).filter(([, v]) => v !== undefined),
      ) as { [k: string]: string };
      this.#store.replace(
        'EndpointSlice',
        { namespace: ns, name },
        { ...slice, metadata: { ...slice.metadata, labels: next } },
        { manager: 'kubectl-edit' },
      );
    };
    const kind = r.next();
    this.#tell(`somebody edits slice ${ns}/${name}: ${kind.toFixed(2)}`);
    if (kind < 0.3) this.#store.remove('EndpointSlice', ns, name);
    else if (kind < 0.55)
      this.#store.replace(
        'EndpointSlice',
        { namespace: ns, name },
        { ...slice, endpoints: [] },
        { manager: 'kubectl-edit' },
      );
    else if (kind < 0.7) relabel({ [labelServiceName]: undefined });
    else if (kind < 0.85) relabel({ [labelServiceName]: `s${r.between(0, 2)}` });
    else if (kind < 0.92) relabel({ 'endpointslice.kubernetes.io/managed-by': 'somebody' });
    else {
      const annotations = { ...slice.metadata.annotations, note: 'kept' };
      this.#store.replace(
        'EndpointSlice',
        { namespace: ns, name },
        { ...slice, metadata: { ...slice.metadata, annotations } },
        { manager: 'kubectl-edit' },
      );
    }
  }

  #node(name: string): void {
    this.#tell(`node ${name} joins`);
    this.#store.create('Node', '', {
      metadata: { name, labels: { [labelZone]: name, [labelZoneId]: zoneIdOfNode(name) } },
      status: { allocatable: { cpu: '4' }, conditions: [{ type: 'Ready', status: 'True' }] },
    });
  }

  #service(ns: string, name: string, app: string = this.#random.pick(apps)): void {
    this.#tell(`service ${ns}/${name} created, selects ${app}`);
    const targetPort = this.#random.chance(0.3) ? 'http' : 8080;
    const spec = { selector: { app }, ports: [{ name: 'http', port: 80, targetPort, protocol: 'TCP' }] };
    this.#store.create('Service', ns, { metadata: { name }, spec });
  }

  #pod(ns: string, name: string, app: string = this.#random.pick(apps), atOnce = false): void {
    const node = this.#random.pick(this.#all('Node', '')).metadata.name;
    this.#tell(`pod ${ns}/${name} created with ${app} on ${node}`);
    const containers = [{ name: 'c', ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }] }];
    const { metadata } = this.#store.create('Pod', ns, {
      metadata: { name, labels: this.#labels(app) },
      spec: { nodeName: node, containers },
    });
    const ip = this.#ip();
    const run = (): void =>
      this.#edit('Pod', ns, name, (p) => {
        if (p.metadata.uid !== metadata.uid) return;
        p.status = {
          phase: 'Running',
          podIP: ip,
          podIPs: [{ ip }],
          conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: this.#time() }],
        };
      });
    if (atOnce) run();
    else this.#later(run);
  }

  /** As kube-controller-manager would have left them. */
  #outputs(): void {
    for (const { metadata } of this.#store.list('Service')) {
      const ns = metadata.namespace ?? '';
      const plans = recompute(this.#store, { namespace: ns, name: metadata.name }, this.#profile);
      const write = plans.endpoints.write;
      if (write && 'object' in write)
        this.#store.create('Endpoints', ns, write.object, { manager: 'kube-controller-manager' });
      const taken = new Set<string>();
      for (const draft of plans.slices.addressTypes.flatMap((t) => t.create)) {
        const slice = assignName(draft, `before-${metadata.uid}`, taken);
        taken.add(slice.metadata.name);
        this.#store.create('EndpointSlice', ns, slice, { manager: 'kube-controller-manager' });
      }
    }
  }

  #labels(app: string): { [key: string]: string } {
    return { app, ...(this.#profile.fatLabels && alike) };
  }

  #edit(kind: StoreKind, ns: string, name: string, change: (object: RawObject) => void): void {
    const old = this.#store.find(kind, ns, name);
    if (!old) return;
    const next = copyJson(old);
    change(next);
    this.#store.apply(next);
  }

  #all(kind: StoreKind, ns: string): readonly RawObject[] {
    return this.#store.list(kind, ns);
  }

  #ip(): string {
    const n = ++this.#ips;
    return `${this.#network}.${n >> 8}.${n & 255}`;
  }

  #time(): string {
    return new Date(this.#scheduler.now).toISOString().replace(/\.\d+Z$/, 'Z');
  }
}

type Conditions = { type: string; status: string; lastTransitionTime?: string }[];
const isReady = (pod: RawObject): boolean =>
  ((pod.status?.['conditions'] ?? []) as Conditions).some((c) => c.type === 'Ready' && c.status === 'True');

function setReady(pod: RawObject, ready: boolean, at: string): void {
  pod.status = {
    ...pod.status,
    conditions: [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: at }],
  };
}
