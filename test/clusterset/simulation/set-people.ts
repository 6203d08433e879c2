/** Users who export services and withdraw them, change exports, and change the hub's objects. */
import type { RawObject, StoreKind } from '#infra/local/apiserver/api-kinds.ts';
import { copyJson } from '#infra/local/apiserver/copy.ts';
import type { ObjectName } from '#infra/local/apiserver/store.ts';
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import { derivedName } from '#shared/clusterset/imports/derived-name.ts';
import { annotationClusterset } from '#shared/kube/names.ts';
import { namespacesOf, type SetMember, type SetState } from './set-state.ts';

export class SetPeople {
  readonly #world: SetState;
  readonly #names: readonly string[];
  #strays = 0;

  constructor(world: SetState) {
    this.#world = world;
    this.#names = ['s0', 's1'].slice(0, world.set.names);
  }

  /** Most of it is exported from the start. */
  begin(): void {
    const { members, random, set, profile } = this.#world;
    for (const member of members.filter((m) => !m.isHostile)) {
      for (const ns of namespacesOf(profile)) {
        if (set.sameness === 'labelled' && random.chance(0.7)) this.#label(member, ns);
        if (!member.takesPart.exports) continue;
        for (const name of this.#names) if (random.chance(0.7)) this.#export(member, ns, name);
        // The change comes before the relay reports the export.
        if (random.chance(0.3))
          this.#edit(member, 'Service', { namespace: ns, name: random.pick(this.#names) }, (s) =>
            this.#changePorts(s),
          );
      }
    }
  }

  live(): void {
    const { random, scheduler, profile, set, faultsEnd } = this.#world;
    const plan = (run: () => void): void =>
      scheduler.at(faultsEnd - random.between(0, profile.faultsUntilMs), () => {
        try {
          run();
        } catch (error) {
          if (!(error instanceof ClusterApiError)) throw error;
        }
      });
    for (let i = 0; i < set.people; i++) plan(() => this.#change());
    for (let i = 0; i < set.strays; i++) plan(() => this.#stray());
    for (let i = 0; i < set.switches; i++) plan(() => this.#switch());
    for (let i = 0; i < set.typeChanges; i++) plan(() => this.#changeType());
  }

  #change(): unknown {
    const { random, present, profile, set } = this.#world;
    const ns = random.pick(namespacesOf(profile));
    const name = random.pick(this.#names);
    const kind = random.next();
    const exporters = present.filter((m) => m.takesPart.exports);
    const importers = present.filter((m) => m.takesPart.imports);
    const exporter = exporters.length > 0 ? random.pick(exporters) : undefined;
    const importer = importers.length > 0 ? random.pick(importers) : undefined;
    if (kind < 0.4) return exporter && this.#changeExport(exporter, ns, name);
    if (kind < 0.65)
      return (
        exporter && this.#edit(exporter, 'Service', { namespace: ns, name }, (s) => this.#changePorts(s))
      );
    if (kind < 0.75) {
      if (importer && set.sameness === 'labelled') this.#label(importer, ns);
      return undefined;
    }
    if (kind < 0.95) return importer && this.#meddle(importer, ns, name);
    if (importer && !importer.takesPart.exports) this.#changeNamespace(importer, ns);
    return undefined;
  }

  #changeExport(member: SetMember, ns: string, name: string): unknown {
    if (!member.store.find('ServiceExport', ns, name)) return this.#export(member, ns, name);
    if (this.#world.random.chance(0.3))
      return this.#edit(member, 'ServiceExport', { namespace: ns, name }, (e) => {
        e.spec = { exportedLabels: { team: String(this.#world.random.between(1, 3)) } };
      });
    member.say(`export ${ns}/${name} taken back`);
    return member.store.remove('ServiceExport', ns, name);
  }

  #export(member: SetMember, ns: string, name: string): void {
    if (!member.servesMcs || !member.store.find('Namespace', '', ns)) return;
    member.say(`service ${ns}/${name} exported`);
    member.store.create('ServiceExport', ns, { metadata: { name }, spec: {} });
  }

  #changePorts(service: RawObject): void {
    const { random } = this.#world;
    const more = random.chance(0.4)
      ? [{ name: 'admin', port: random.pick([81, 90]), targetPort: 8081, protocol: 'TCP' }]
      : [];
    service.spec = {
      ...service.spec,
      ports: [{ name: 'http', port: random.pick([80, 81]), targetPort: 8080, protocol: 'TCP' }, ...more],
    };
  }

  /** An API server changes the type of no Service, so it is deleted and created. */
  #changeType(): void {
    const { random, present, profile } = this.#world;
    const exporters = present.filter((m) => m.takesPart.exports);
    if (exporters.length === 0) return;
    const member = random.pick(exporters);
    const { store } = member;
    const ns = random.pick(namespacesOf(profile));
    const found = store.find('Service', ns, random.pick(this.#names));
    if (!found) return;
    const { clusterIP, clusterIPs: _, ...spec } = found.spec ?? {};
    const { name, labels = {} } = found.metadata;
    member.say(`service ${ns}/${name} made again, ${clusterIP === 'None' ? 'with an address' : 'headless'}`);
    store.remove('Service', ns, name);
    store.create('Service', ns, {
      metadata: { name, labels },
      spec: { ...spec, ...(clusterIP !== 'None' && { clusterIP: 'None' }) },
    });
  }

  /** Takes the label away again, if it is there. */
  #label(member: SetMember, ns: string): void {
    this.#edit(member, 'Namespace', { namespace: '', name: ns }, ({ metadata }) => {
      const { [annotationClusterset]: before, ...others } = metadata.labels ?? {};
      metadata.labels = before === undefined ? { ...others, [annotationClusterset]: 'default' } : others;
    });
  }

  #meddle(member: SetMember, ns: string, name: string): void {
    const { random } = this.#world;
    const { store } = member;
    const derived = derivedName(ns, name);
    const kind = random.next();
    member.say(`somebody meddles with import ${ns}/${name}: ${kind.toFixed(2)}`);
    if (kind < 0.3) {
      store.remove('ServiceImport', ns, name);
      member.deletedImports.add(`${ns}/${name}`);
    } else if (kind < 0.6) store.remove('Service', ns, derived);
    else if (kind < 0.8)
      this.#edit(member, 'Service', { namespace: ns, name: derived }, (s) => this.#changePorts(s));
    else {
      const found = store.find('ServiceImport', ns, name);
      // By the API, so that the generation counts.
      if (found)
        store.replace(
          'ServiceImport',
          { namespace: ns, name },
          { ...found, spec: { ...found.spec, ports: [] } },
          { manager: 'kubectl-edit' },
        );
    }
  }

  #changeNamespace(member: SetMember, ns: string): void {
    const { store } = member;
    const found = store.find('Namespace', '', ns);
    member.say(`namespace ${ns} ${found ? 'deleted' : 'created'}`);
    if (found) store.delete('Namespace', '', ns);
    else store.create('Namespace', '', { metadata: { name: ns } });
  }

  /** An address outside of its cluster's range. */
  #stray(): void {
    const { random, present, profile } = this.#world;
    const exporters = present.filter((m) => m.takesPart.exports);
    const pods = exporters.flatMap((member) =>
      member.store.list('Pod', random.pick(namespacesOf(profile))).map((pod) => ({ member, pod })),
    );
    if (pods.length === 0) return;
    const { member, pod } = random.pick(pods);
    const ip = `10.99.0.${++this.#strays}`;
    member.say(`pod ${pod.metadata.name} has the address ${ip}`);
    this.#edit(member, 'Pod', { namespace: pod.metadata.namespace ?? '', name: pod.metadata.name }, (p) => {
      p.status = { ...p.status, podIP: ip, podIPs: [{ ip }] };
    });
  }

  /** Switches a cluster's allowed exports. In the end they are those of the beginning. */
  #switch(): void {
    const { random, present, memberships, scheduler, faultsEnd } = this.#world;
    const member = random.pick(present);
    const before = memberships.get(member.cluster);
    if (!before) return;
    void this.#world.changeMembership(member.cluster, {
      ...before,
      exports: { ...before.exports, namespaces: random.pick([[], ['other']]) },
    });
    const backAt = Math.min(faultsEnd - 1, scheduler.now + random.between(500, 30_000));
    scheduler.at(backAt, () => {
      if (member.hasLeft) return;
      void this.#world.changeMembership(member.cluster, {
        ...before,
        exports: { ...before.exports, namespaces: member.takesPart.exports ? 'all' : [] },
      });
    });
  }

  #edit(
    member: SetMember,
    kind: StoreKind,
    { namespace, name }: ObjectName,
    change: (object: RawObject) => void,
  ): void {
    const old = member.store.find(kind, namespace, name);
    if (!old) return;
    const next = copyJson(old);
    change(next);
    member.say(
      `${kind} ${namespace}/${name}: ${JSON.stringify(next.spec?.['ports'] ?? next.metadata.labels ?? {})}`,
    );
    member.store.apply(next);
  }
}
