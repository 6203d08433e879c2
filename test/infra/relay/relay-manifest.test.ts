/** The relay's manifest: security standard, variables, resources and additions of the platform. */
import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments, stringify } from 'yaml';
import { chartTemplates } from '#infra/relay/chart-templates.ts';
import { chartValues } from '#infra/relay/chart-values.ts';
import { type RelayInstall, relayManifest } from '#infra/relay/manifest.ts';
import { type Manifest, toYaml } from '#infra/relay/manifest-yaml.ts';
import { relayAlerts, relayMonitoring } from '#infra/relay/prometheus-objects.ts';
import { relayRbac } from '#infra/relay/rbac.ts';
import type { ClustersetTasks } from '#infra/relay/set-tasks.ts';
import { writerPolicies } from '#infra/relay/writer-policies.ts';
import type { WriterTasks } from '#infra/relay/writer-tasks.ts';
import { relayEnv } from '#shared/contract/env.ts';
import { relayMetrics } from '#shared/contract/relay-metrics.ts';

const install: RelayInstall = {
  cluster: 'shop',
  namespace: 'relays',
  eventsQueueUrl: 'https://sqs.eu-central-1.amazonaws.com/111122223333/events',
  region: 'eu-central-1',
  outputs: 'full',
  replicas: 2,
  resyncSeconds: '1800',
  roleArn: 'arn:aws:iam::111122223333:role/relay',
  program: { image: 'registry.example.com/relay@sha256:0' },
};
const manifests = relayManifest(install);
const restricted = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };
/** As docs/operate/getting-started.md has it for IAM Roles Anywhere. */
const extras = {
  extraEnv: [{ name: 'AWS_EC2_METADATA_SERVICE_ENDPOINT', value: 'http://127.0.0.1:9911' }],
  extraVolumes: [{ name: 'certificate', secret: { secretName: 'relay-certificate' } }],
  extraVolumeMounts: [{ name: 'certificate', mountPath: '/etc/relay-certificate', readOnly: true }],
  sidecars: [
    {
      name: 'aws-signing-helper',
      image: 'registry.example.com/aws-signing-helper:1',
      securityContext: restricted,
    },
  ],
};
// biome-ignore lint/suspicious/noExplicitAny: Kubernetes objects, asserted on by path
const find = (kind: string, name: string, of = manifests): any =>
  of.find((m) => m.kind === kind && m.metadata.name === name);
const podOf = (of = manifests) => find('Deployment', 'relay', of).spec.template.spec;

describe('the relay’s pod', () => {
  it('meets the restricted Pod Security Standard', () => {
    expect(podOf().securityContext).toMatchObject({
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(podOf().containers[0].securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(find('Namespace', 'relays').metadata.labels['pod-security.kubernetes.io/enforce']).toBe(
      'restricted',
    );
  });

  it('the relay’s pod sets every variable that the relay reads', () => {
    const env = Object.fromEntries(
      podOf().containers[0].env.map((e: { name: string; value: string }) => [e.name, e.value]),
    );
    expect(env).toMatchObject({
      [relayEnv.clusterId]: 'shop',
      [relayEnv.eventsQueueUrl]: install.eventsQueueUrl,
      [relayEnv.outputs]: 'full',
      [relayEnv.resyncSeconds]: '1800',
      [relayEnv.port]: String(podOf().containers[0].ports[0].containerPort),
      AWS_REGION: 'eu-central-1',
    });
  });

  it('asks for memory and has a limit of it, and none of CPU', () => {
    expect(podOf().containers[0].resources).toEqual({
      requests: { cpu: '50m', memory: '128Mi' },
      limits: { memory: '384Mi' },
    });
  });

  it('the relay’s pod has a token of its ServiceAccount for AWS where a role is given, and names both to the SDK, so that no webhook is needed', () => {
    const { volumes, containers } = podOf();
    const [{ name, projected }] = volumes;
    expect(projected.sources).toEqual([
      { serviceAccountToken: { audience: 'sts.amazonaws.com', expirationSeconds: 3600, path: 'token' } },
    ]);
    const [{ mountPath, readOnly }] = containers[0].volumeMounts.filter(
      (m: { name: string }) => m.name === name,
    );
    expect(readOnly).toBe(true);
    expect(containers[0].env).toContainEqual({ name: 'AWS_ROLE_ARN', value: install.roleArn });
    expect(containers[0].env).toContainEqual({
      name: 'AWS_WEB_IDENTITY_TOKEN_FILE',
      value: `${mountPath}/token`,
    });
    // A webhook that finds this annotation would mount a second token.
    expect(find('ServiceAccount', 'relay').metadata).not.toHaveProperty('annotations');
  });

  it('the relay’s pod has no volumes and no credentials where AWS knows it in another way', () => {
    const { roleArn: _, ...without } = install;
    const pod = podOf(relayManifest(without));
    expect(pod).not.toHaveProperty('volumes');
    expect(pod.containers[0]).not.toHaveProperty('volumeMounts');
    expect(pod.containers[0].env.some((e: { name: string }) => /^AWS_(ROLE|WEB)/.test(e.name))).toBe(false);
  });

  it('the pod has the additions of the platform after its own parts', () => {
    const pod = podOf(relayManifest({ ...install, program: { bundle: 'one' }, extras }));
    expect(pod.containers.map((c: { name: string }) => c.name)).toEqual(['relay', 'aws-signing-helper']);
    expect(pod.containers[0].env.at(-1)).toEqual(extras.extraEnv[0]);
    expect(pod.volumes.map((v: { name: string }) => v.name)).toEqual(['bundle', 'aws-token', 'certificate']);
    expect(pod.containers[0].volumeMounts.at(-1)).toEqual(extras.extraVolumeMounts[0]);
  });

  it('the relay’s pod is not preempted by what fills the cluster, unless a platform wants another class or none', () => {
    expect(podOf().priorityClassName).toBe('system-cluster-critical');
    expect(podOf(relayManifest({ ...install, priorityClassName: 'platform' })).priorityClassName).toBe(
      'platform',
    );
    expect(podOf(relayManifest({ ...install, priorityClassName: '' }))).not.toHaveProperty(
      'priorityClassName',
    );
  });

  it('the pod runs the bundle on a stock image without a registry, and restarts when the bundle changes', () => {
    const quick = (bundle: string) => relayManifest({ ...install, program: { bundle } });
    expect(find('ConfigMap', 'relay', quick('one')).data).toEqual({ 'relay.mjs': 'one' });
    expect(podOf(quick('one')).containers[0]).toMatchObject({
      command: ['node', '/relay/relay.mjs'],
      image: expect.stringContaining('node:24'),
    });
    const mark = (bundle: string): string =>
      JSON.stringify(find('Deployment', 'relay', quick(bundle)).spec.template.metadata.annotations);
    expect(mark('one')).not.toBe(mark('two'));
  });
});

describe('the relay’s port', () => {
  const policyOf = (more: Partial<RelayInstall> = {}) =>
    find('NetworkPolicy', 'relay', relayManifest({ ...install, ...more })).spec;

  it('no pod may connect to the relay’s port; the kubelet’s probes come from the node, for which no NetworkPolicy is', () => {
    expect(policyOf()).toEqual({
      podSelector: find('Deployment', 'relay').spec.selector,
      policyTypes: ['Ingress'],
    });
  });

  it('the pods of Prometheus’ namespace may connect to it', () => {
    const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } };
    expect(policyOf({ prometheusNamespace: 'monitoring' }).ingress).toEqual([
      { from: [{ namespaceSelector }], ports: [{ port: 'http' }] },
    ]);
  });
});

describe('two relays', () => {
  const spec = (install_: Partial<RelayInstall> = {}) =>
    find('Deployment', 'relay', relayManifest({ ...install, ...install_ })).spec;

  it('two relays are on two nodes, if there are two, and in two zones where that can be', () => {
    expect(spec().replicas).toBe(2);
    expect(podOf().topologySpreadConstraints).toMatchObject([
      {
        topologyKey: 'kubernetes.io/hostname',
        whenUnsatisfiable: 'DoNotSchedule',
        nodeTaintsPolicy: 'Honor',
        matchLabelKeys: ['pod-template-hash'],
      },
      { topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'ScheduleAnyway' },
    ]);
    for (const { labelSelector } of podOf().topologySpreadConstraints)
      expect(labelSelector).toEqual(spec().selector);
  });

  it('two relays are not evicted together, and one that is not ready stops no drain', () => {
    expect(find('PodDisruptionBudget', 'relay').spec).toEqual({
      maxUnavailable: 1,
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
      selector: spec().selector,
    });
  });

  it('elect their leader by one Lease', () => {
    const { env } = podOf().containers[0];
    expect(env).toContainEqual({ name: relayEnv.lease, value: 'relays/relay' });
    expect(spec().strategy).toEqual({
      type: 'RollingUpdate',
      rollingUpdate: { maxSurge: 1, maxUnavailable: 0 },
    });
  });

  it('two relays can be one', () => expect(spec({ replicas: 1 }).replicas).toBe(1));
});

describe('rights in the cluster', () => {
  const rulesOf = (name: string): string[] =>
    find('ClusterRole', name).rules.flatMap(
      (r: { resources: string[]; verbs: string[]; resourceNames?: string[] }) =>
        r.resources.map(
          (resource) => `${resource}${r.resourceNames ? `/${r.resourceNames}` : ''}: ${r.verbs.join(' ')}`,
        ),
    );

  it('the relay lists and watches five kinds, and knows the cluster by its kube-system', () => {
    expect(rulesOf('fleet-endpoints-relay')).toEqual([
      'services: list watch',
      'pods: list watch',
      'nodes: list watch',
      'endpoints: list watch',
      'endpointslices: list watch',
      'namespaces/kube-system: get',
    ]);
  });

  it('the relay writes one Lease in its own namespace, and nothing else', () => {
    const written = manifests.filter((m) => m.kind === 'Role');
    expect(written).toMatchObject([
      {
        metadata: { namespace: 'relays' },
        rules: [
          {
            apiGroups: ['coordination.k8s.io'],
            resources: ['leases'],
            resourceNames: ['relay'],
            verbs: ['get', 'update'],
          },
          { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'] },
        ],
      },
    ]);
    expect(find('RoleBinding', 'fleet-endpoints-relay-lease')).toMatchObject({
      metadata: { namespace: 'relays' },
      roleRef: { kind: 'Role', name: 'fleet-endpoints-relay-lease' },
      subjects: [{ kind: 'ServiceAccount', name: 'relay', namespace: 'relays' }],
    });
  });

  it('the writer may write two kinds and Events, and read the objects that it confirms', () => {
    expect(rulesOf('fleet-endpoints-writer')).toEqual([
      'endpoints: get list create update delete',
      'endpointslices: get list create update delete',
      'endpoints/restricted: create',
      'endpointslices/restricted: create',
      'services/finalizers: update',
      'services: get list',
      'pods: get list',
      'nodes: get list',
      'events: get create patch',
      'namespaces/kube-system: get',
    ]);
  });

  it('four policies hold the writer to what both controllers write', () => {
    const policies = manifests
      .filter((m) => m.kind === 'ValidatingAdmissionPolicy')
      .map((m) => m.metadata.name);
    expect(policies).toEqual(
      ['slices', 'endpoints', 'events', 'protected'].map((what) => `fleet-endpoints-writer-${what}`),
    );
    for (const name of policies) {
      expect(find('ValidatingAdmissionPolicy', name).spec).toMatchObject({
        failurePolicy: 'Fail',
        matchConditions: [{ name: 'writer' }],
      });
      expect(find('ValidatingAdmissionPolicyBinding', name).spec).toMatchObject({
        policyName: name,
        validationActions: ['Deny'],
      });
    }
  });
});

describe('as YAML', () => {
  it('the manifest as YAML is read back as it was, also by readers of version 1.1', () => {
    expect(parseAllDocuments(toYaml(manifests), { version: '1.1' }).map((d) => d.toJS())).toEqual(manifests);
    expect(toYaml(manifests)).not.toMatch(/[&*]a1/);
  });
});

describe('the Helm chart', () => {
  const defaults = parseAllDocuments(
    readFileSync('infra/relay/chart-parts/values.yaml', 'utf8'),
  )[0]!.toJS() as { [value: string]: unknown };
  const values = (rest: object) => ({ ...defaults, ...rest }) as { [value: string]: unknown };
  const { program, ...parameters } = install;
  const image = 'image' in program ? program.image : '';

  type Values = { readonly [value: string]: unknown };
  const given = (value: unknown): boolean =>
    value !== null && typeof value === 'object' ? Object.keys(value).length > 0 : Boolean(value);
  const expand = (line: string, of: Values): string =>
    line
      .replace(/\{\{ toJson \.Values\.(\w+) \| quote \}\}/, (_, name) =>
        JSON.stringify(JSON.stringify(of[name])),
      )
      .replace(/\{\{ \.Values\.(\w+) \}\}/g, (whole, name) => (name in of ? String(of[name]) : whole));

  /** `and`, `or`, `not` and `eq` of values, in parentheses. */
  function holds(condition: string, of: Values): boolean {
    const tokens = condition.match(/[()]|"[^"]*"|[^\s()]+/g) ?? [];
    const next = (): unknown => {
      const token = tokens.shift();
      if (token === '(') {
        const value = call();
        tokens.shift();
        return value;
      }
      return token?.startsWith('"') ? token.slice(1, -1) : of[token?.replace('.Values.', '') ?? ''];
    };
    const call = (): unknown => {
      const verb = ['and', 'or', 'not', 'eq'].includes(tokens[0] ?? '') ? tokens.shift() : undefined;
      const operands: unknown[] = [];
      while (tokens.length > 0 && tokens[0] !== ')') operands.push(next());
      if (verb === 'eq') return operands[0] === operands[1];
      if (verb === 'not') return !given(operands[0]);
      return verb === 'or' ? operands.some(given) : operands.every(given);
    };
    return given(call());
  }

  /**
   * The little of Helm's language that the templates use: values, blocks that depend on some, and lists that
   * are values.
   */
  function render(text: string, of: Values): string {
    const shown = [true];
    let list: unknown;
    const lines: string[] = [];
    for (const line of text.split('\n')) {
      const [, word, rest = ''] = /^ *\{\{- (if|with|toYaml|end)\b(.*) \}\}$/.exec(line) ?? [];
      const names = [...rest.matchAll(/\.Values\.(\w+)/g)].map((m) => m[1] as string);
      if (word === 'end') shown.pop();
      else if (word === 'if' || word === 'with') {
        shown.push(shown.at(-1) === true && holds(rest, of));
        list = of[names[0] as string];
      } else if (shown.at(-1) && word === 'toYaml') {
        const indent = ' '.repeat(Number(/nindent (\d+)/.exec(rest)?.[1]));
        lines.push(
          ...stringify(list)
            .trimEnd()
            .split('\n')
            .map((l) => indent + l),
        );
      } else if (shown.at(-1)) lines.push(expand(line, of));
    }
    return lines.join('\n');
  }
  const rendered = (of: { [value: string]: unknown }): Manifest[] =>
    chartTemplates().flatMap(({ text }) =>
      parseAllDocuments(render(text, of)).flatMap((d) => (d.toJS() as Manifest | null) ?? []),
    );
  const inOrder = (of: readonly Manifest[]) =>
    [...of].sort((a, b) => (a.kind + a.metadata.name).localeCompare(b.kind + b.metadata.name));

  it('renders to the manifest', () => {
    expect(inOrder(rendered(values({ ...parameters, image })))).toEqual(inOrder(manifests));
  });

  it.each([
    ['without a role', {}],
    ['with a role', { roleArn: install.roleArn }],
    ['with parts of one’s own', { extras }],
    ['with a role and parts of one’s own', { roleArn: install.roleArn, extras }],
    ['without a priority class', { priorityClassName: '' }],
    ['with Prometheus', { prometheusNamespace: 'monitoring' }],
  ])('renders to the manifest %s', (_, more: Partial<RelayInstall>) => {
    const { roleArn: _role, ...others } = install;
    const { extras: ours = {}, ...rest } = more;
    expect(inOrder(rendered(values({ ...parameters, roleArn: '', image, ...rest, ...ours })))).toEqual(
      inOrder(relayManifest({ ...others, ...more })),
    );
  });

  it.each([
    ['builtIn', true, { builtIn: true, optIn: false, cleanup: false }],
    ['both', true, { builtIn: true, optIn: true, cleanup: true }],
    ['both', false, { builtIn: true, optIn: true, cleanup: false }],
    ['optIn', true, { builtIn: false, optIn: true, cleanup: true }],
    ['optIn', false, { builtIn: false, optIn: true, cleanup: false }],
  ])(
    'the Helm chart gives the writer the rights of its values: writes %s, cleanup %s',
    (writes, cleanup, tasks) => {
      expect(inOrder(rendered(values({ ...parameters, image, writes, cleanup })))).toEqual(
        inOrder(relayManifest({ ...install, tasks })),
      );
    },
  );

  it.each([
    ['exports', {}],
    [
      'imports',
      {
        imports: {
          cluster: 'shop',
          set: 'prod',
          sameness: 'labelled',
          sources: { 'shop-b': ['10.2.0.0/16', 'fd00:2::/48'], 'shop-c': ['10.3.0.0/16'] },
        },
      },
    ],
    ['imports', { imports: { cluster: 'shop', set: 'prod', sameness: 'all', sources: {} } }],
    [
      'imports',
      { imports: { cluster: 'shop', set: 'prod', sameness: 'all', sources: {} }, editorsMayExport: true },
    ],
    ['exports', { editorsMayExport: true }],
  ] as const)(
    'the Helm chart lets a cluster of a set %s by its values',
    (clusterset, tasks: ClustersetTasks) => {
      const { set = '', sameness = 'labelled', sources = {} } = tasks.imports ?? {};
      const { editorsMayExport = false } = tasks;
      const given_ = {
        editorsMayExport,
        clusterset,
        clustersetName: set,
        clustersetSameness: sameness,
        importSources: sources,
      };
      expect(inOrder(rendered(values({ ...parameters, image, ...given_ })))).toEqual(
        inOrder(relayManifest({ ...install, clusterset: tasks })),
      );
    },
  );

  it.each([
    ['neither by default', {}, [], {}],
    ['a PodMonitor', { podMonitor: true }, ['PodMonitor'], {}],
    ['alerts', { prometheusRule: true }, ['PrometheusRule'], {}],
    [
      'both with labels',
      { podMonitor: true, prometheusRule: true },
      ['PodMonitor', 'PrometheusRule'],
      { release: 'kube-prometheus-stack' },
    ],
  ])(
    'the Helm chart has for the Prometheus operator %s',
    (_, of: object, kinds: readonly string[], monitoringLabels: { [name: string]: string }) => {
      const all = rendered(values({ ...parameters, image, ...of, monitoringLabels }));
      const expected = relayMonitoring(parameters.namespace, monitoringLabels).filter(({ kind }) =>
        kinds.includes(kind),
      );
      expect(all.filter(({ apiVersion }) => apiVersion.startsWith('monitoring.'))).toEqual(expected);
      expect(inOrder(all)).toEqual(inOrder([...manifests, ...expected]));
    },
  );

  it('the alerts on the relay are about metrics that it has', () => {
    const alerts = relayAlerts('');
    const named = alerts.flatMap(({ expr }) => expr.match(/relay_\w+/g) ?? []);
    expect(named.length).toBeGreaterThanOrEqual(alerts.length);
    expect(named.filter((name) => !(name in relayMetrics))).toEqual([]);
  });

  it.each<[string, Partial<RelayInstall>]>([
    ['of a cluster in shadow mode', {}],
    ['without a priority class', { priorityClassName: '' }],
    ['of opt-in', { tasks: { builtIn: false, optIn: true, cleanup: false } }],
    ['of opt-in in active mode', { tasks: { builtIn: true, optIn: true, cleanup: true } }],
    ['of an exporter', { clusterset: { editorsMayExport: true } }],
    [
      'of an importer',
      {
        clusterset: {
          imports: { cluster: 'shop', set: 'prod', sameness: 'all', sources: { 'shop-b': ['10.2.0.0/16'] } },
        },
      },
    ],
    ['with parts of the platform', { extras }],
  ])('the chart with the values %s renders to its manifest, and its schema allows them', (_, more) => {
    const given_ = { ...install, ...more };
    const own = chartValues(given_);
    expect(inOrder(rendered(values(own)))).toEqual(inOrder(relayManifest(given_)));
    const validate = new Ajv().compile(
      JSON.parse(readFileSync('infra/relay/chart-parts/values.schema.json', 'utf8')),
    );
    expect(validate(own), JSON.stringify(validate.errors)).toBe(true);
  });

  it('the Helm chart makes no PodMonitor for a Prometheus that its NetworkPolicy keeps out', () => {
    const validate = new Ajv().compile(
      JSON.parse(readFileSync('infra/relay/chart-parts/values.schema.json', 'utf8')),
    );
    const isAllowed = (prometheusNamespace: string): boolean =>
      validate(values({ ...chartValues(install), podMonitor: true, prometheusNamespace }));
    expect(isAllowed('')).toBe(false);
    expect(isAllowed('monitoring')).toBe(true);
  });

  it('the Helm chart has a schema that names each value', () => {
    const schema = JSON.parse(readFileSync('infra/relay/chart-parts/values.schema.json', 'utf8'));
    expect(
      Object.keys(schema.properties)
        .filter((name) => name !== 'global')
        .sort(),
    ).toEqual(Object.keys(defaults).sort());
  });
});

describe('a cluster that takes part in a set', () => {
  const imports = {
    cluster: 'shop',
    set: 'prod',
    sameness: 'labelled',
    sources: { 'shop-b': ['10.2.0.0/16'] },
  } as const;
  const [exporter, importer] = [
    relayManifest({ ...install, clusterset: {} }),
    relayManifest({ ...install, clusterset: { imports } }),
  ];
  const keyOf = ({ kind, metadata }: Manifest): string => `${kind}/${metadata.name}`;
  const addedTo = (of: readonly Manifest[], before: readonly Manifest[]): string[] =>
    of.map(keyOf).filter((key) => !before.some((m) => keyOf(m) === key));
  const envOf = (of: readonly Manifest[]): readonly { name: string; value?: string }[] =>
    podOf([...of]).containers[0].env;

  it('a cluster that takes no part has neither rights, policies nor settings of the set', () => {
    expect(toYaml(manifests)).not.toMatch(/clusterset|multicluster|serviceexports|imports/i);
    expect(
      find('ValidatingAdmissionPolicy', 'fleet-endpoints-writer-slices').spec.matchConditions,
    ).toHaveLength(1);
  });

  it('a cluster of a set has the parts of every cluster and its own', () => {
    for (const members of [exporter, importer]) {
      for (const manifest of manifests) {
        const held = find(manifest.kind, manifest.metadata.name, [...members]);
        if (manifest.kind === 'Deployment')
          expect(envOf(members).filter((e) => e.name !== relayEnv.clusterset)).toEqual(envOf(manifests));
        else if (members === importer && manifest.metadata.name === 'fleet-endpoints-writer-slices') {
          expect(held.spec.validations ?? []).toEqual((manifest as typeof held).spec.validations ?? []);
        } else expect(held).toEqual(manifest);
      }
      expect(envOf(members)).toContainEqual({ name: relayEnv.clusterset, value: '1' });
    }
  });

  it('the relay of a set reads Namespaces, ServiceExports and ServiceImports, and of one CRD whether it is going', () => {
    expect(find('ClusterRole', 'fleet-endpoints-relay-clusterset', exporter).rules).toEqual([
      { apiGroups: [''], resources: ['namespaces'], verbs: ['list', 'watch'] },
      {
        apiGroups: ['multicluster.x-k8s.io'],
        resources: ['serviceexports', 'serviceimports'],
        verbs: ['list', 'watch'],
      },
      {
        apiGroups: ['apiextensions.k8s.io'],
        resources: ['customresourcedefinitions'],
        resourceNames: ['serviceexports.multicluster.x-k8s.io'],
        verbs: ['get'],
      },
    ]);
  });

  it('who may edit a namespace may export its Services only where the cluster is set so, and never make imports', () => {
    const isAggregated = ({ metadata }: Manifest) =>
      Object.keys(metadata.labels ?? {}).some((key) => key.includes('aggregate-to'));
    for (const members of [exporter, importer]) expect(members.filter(isAggregated)).toEqual([]);
    const aggregated = relayManifest({ ...install, clusterset: { imports, editorsMayExport: true } }).filter(
      isAggregated,
    );
    expect(aggregated).toMatchObject([
      {
        kind: 'ClusterRole',
        metadata: { labels: { 'rbac.authorization.k8s.io/aggregate-to-edit': 'true' } },
        rules: [{ apiGroups: ['multicluster.x-k8s.io'], resources: ['serviceexports'] }],
      },
    ]);
  });

  it('only a cluster that imports lets the writer write Services and ServiceImports, each under a policy', () => {
    const written = (of: readonly Manifest[]): string[] =>
      of
        .filter((m) => m.kind === 'ClusterRole' && /writer-(clusterset|imports)/.test(m.metadata.name))
        .flatMap((m) => (m as unknown as { rules: { resources: string[]; verbs: string[] }[] }).rules)
        .filter((r) => r.verbs.some((v) => !/^(get|list)$/.test(v)))
        .flatMap((r) => r.resources);
    expect(written(exporter)).toEqual(['serviceexports/status']);
    expect(written(importer)).toEqual([
      'serviceexports/status',
      'services',
      'serviceimports',
      'serviceimports/status',
      'serviceimports/finalizers',
    ]);
    const policies = (of: readonly Manifest[]): string[] =>
      addedTo(of, manifests).filter((key) => key.startsWith('ValidatingAdmissionPolicy/'));
    expect(policies(exporter)).toEqual(['ValidatingAdmissionPolicy/fleet-endpoints-writer-exports']);
    expect(policies(importer)).toEqual(
      ['exports', 'imported-slices', 'derived-services', 'service-imports', 'import-addresses'].map(
        (what) => `ValidatingAdmissionPolicy/fleet-endpoints-writer-${what}`,
      ),
    );
  });
});

describe('limits of the writer where Services opt in', () => {
  const rulesOf = (tasks: WriterTasks) => JSON.stringify(writerPolicies('fleet-endpoints', tasks));
  const alone = { builtIn: false, optIn: true, cleanup: true };

  it('the writer of opt-in slices alone makes neither slices of the built-in controllers nor Endpoints, and deletes what these leave behind', () => {
    expect(rulesOf(alone)).toContain("== 'opt-in.fleet-endpoints'");
    expect(rulesOf(alone)).toContain('the writer deletes Endpoints alone');
    expect(rulesOf(alone)).toMatch(/DELETE' && [^|]*== 'endpointslice-controller.k8s.io'/);
    const endpoints = relayRbac('fleet-endpoints', alone)
      .flatMap(
        (m) =>
          (
            m as unknown as {
              readonly rules?: readonly { resources: readonly string[]; verbs: readonly string[] }[];
            }
          ).rules ?? [],
      )
      .filter((r) => r.resources.length === 1 && r.resources[0] === 'endpoints');
    expect(endpoints.map((r) => r.verbs)).toEqual([['get', 'list', 'delete']]);
  });

  it('without cleanup the writer of opt-in slices alone deletes nothing of the built-in controllers', () => {
    const rules = rulesOf({ ...alone, cleanup: false });
    expect(rules).toContain('the writer writes no Endpoints');
    expect(rules).not.toContain("== 'endpointslice-controller.k8s.io'");
  });

  it('a writer of both does not change whose a slice is', () => {
    const rules = rulesOf({ builtIn: true, optIn: true, cleanup: true });
    expect(rules).toContain("in ['endpointslice-controller.k8s.io', 'opt-in.fleet-endpoints']");
    expect(rules).toContain('the writer does not change whose a slice is');
  });
});
