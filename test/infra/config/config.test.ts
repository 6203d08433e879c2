import { describe, expect, expectTypeOf, it } from 'vitest';
import type { ApiConfig, ClusterConfig } from '#infra/config/config.ts';
import { loadConfig, parseConfig } from '#infra/config/load-config.ts';
import type { ApiAccess } from '#shared/clusters/record.ts';
import type { ClusterSettings } from '#shared/contract/cluster-settings.ts';
import { authority, authorityData } from '#test/infra/clusters-file.ts';

const problems = (yaml: string): string[] => {
  try {
    parseConfig('clusters.yaml', yaml);
  } catch (e) {
    return (e as Error).message.split('\n');
  }
  return [];
};
const relay = 'relay: { identity: { type: pod-identity, clusterName: c } }';

describe('the clusters file', () => {
  it('reads the example', () => {
    const { hub, clusters } = loadConfig('clusters.example.yaml', 'FILE');
    expect(hub).toMatchObject({ name: 'FleetEndpoints', logRetentionDays: 14 });
    expect(clusters.map((c) => [c.id, c.mode])).toEqual([
      ['shop-dev', 'shadow'],
      ['shop-prod', 'shadow'],
      ['factory-1', 'shadow'],
      ['factory-2', 'shadow'],
    ]);
  });

  it('fills in the settings that a cluster leaves out', () => {
    const [cluster] = parseConfig('clusters.yaml', `hub: {}\nclusters:\n  - { id: a, ${relay} }`).clusters;
    expect(cluster!.settings).toEqual({
      batchPeriodSeconds: 0,
      maxEndpointsPerSlice: 100,
      controllers: ['endpoints', 'slices'],
      optInCleanup: true,
      zonalShift: 'follow',
      historyDays: 7,
    });
    expect(cluster!.relay).toMatchObject({ namespace: 'fleet-endpoints', replicas: 2, resyncSeconds: 1800 });
  });

  it('reads labels, and reports a text that is none', () => {
    const withLabels = (labels: string): string =>
      `hub: {}\nclusters:\n  - { id: a, labels: ${labels}, ${relay} }`;
    expect(parseConfig('clusters.yaml', withLabels('{ env: prod, team: a/b }')).clusters[0]!.labels).toEqual({
      env: 'prod',
      team: 'a/b',
    });
    expect(problems(withLabels('{ env: true }'))).toEqual([
      expect.stringContaining('labels: env is true: name and text of a label need 1 to 63'),
    ]);
    expect(problems(withLabels('[ prod ]'))).toEqual([
      expect.stringContaining('a mapping of at most 20 names to texts is needed'),
    ]);
  });

  it('takes anchors and aliases, as files of large fleets have them', () => {
    const aliased = `hub: {}\nclusters:\n  - { id: a, relay: &relay { identity: { type: pod-identity, clusterName: c } } }\n  - { id: b, relay: *relay }`;
    const [first, second] = parseConfig('clusters.yaml', aliased).clusters;
    expect(second!.relay).toEqual(first!.relay);
    expect(problems(`hub: {}\nclusters:\n  - { id: a, relay: *nothing }`)).toEqual([
      expect.stringMatching(/^clusters.yaml:3:.*nothing/),
    ]);
  });

  it('aliases that make the file endless are refused at their place', () => {
    const lines = Array.from(
      { length: 12 },
      (_, i) =>
        `a${i}: &a${i} [${
          i === 0
            ? 'x'
            : Array(9)
                .fill(`*a${i - 1}`)
                .join(', ')
        }]`,
    );
    expect(problems(lines.join('\n'))).toEqual([
      expect.stringMatching(
        /^clusters.yaml:\d+:\d+: with its aliases \(\*name\) the file has more than 200000 values$/,
      ),
    ]);
    expect(problems('hub: &a { name: *a }')).toEqual([
      'clusters.yaml:1:17: *a stands for a value that it is a part of',
    ]);
    // The parser reports the depth at one place or at several, by how much stack is left.
    const tooDeep = problems(`${'- '.repeat(5_000)}x`);
    expect(tooDeep).toContainEqual(
      expect.stringMatching(/^clusters.yaml:1:\d+: (the file is nested too deeply|Maximum call stack)/),
    );
    expect(tooDeep.length).toBeLessThan(5_000);
  });

  it('a relay without an identity has only this error', () => {
    const only = `hub: {}\nclusters:\n  - { id: a, relay: { pod: { serviceAccount: x } } }`;
    expect(problems(only)).toContainEqual(expect.stringContaining('identity is missing'));
  });

  it('the clusters file has the shapes that are registered', () => {
    expectTypeOf<ClusterConfig['settings']>().toExtend<ClusterSettings>();
    expectTypeOf<Required<ApiConfig>['auth']['type']>().toEqualTypeOf<ApiAccess['auth']['type']>();
  });

  it('a missing file is reported with instructions', () => {
    expect(() => loadConfig('absent.yaml', 'config check FILE')).toThrow(
      'no clusters file at absent.yaml: fleet-endpoints config init writes one, or give another file: config check FILE',
    );
  });

  it('takes base64 of PEM, as EKS and kubeconfig files have it, for PEM', () => {
    const api = `api: { url: "https://a.example.com", ca: "${authorityData}", auth: { type: web-identity, audience: a } }`;
    const [cluster] = parseConfig(
      'clusters.yaml',
      `hub: {}\nclusters:\n  - { id: a, ${api}, ${relay} }`,
    ).clusters;
    expect(cluster!.api!.ca).toBe(authority);
  });
});

describe('the additions of a platform to the relay’s pod', () => {
  const relayOf = (rest: string): string =>
    `hub: {}\nclusters:\n  - id: a\n    relay:\n      identity: { type: existing-role, roleArn: "arn:aws:iam::111122223333:role/r" }\n${rest}`;
  const whole = `      extraEnv:
        - { name: AWS_EC2_METADATA_SERVICE_ENDPOINT, value: "http://127.0.0.1:9911" }
        - { name: KEY, valueFrom: { secretKeyRef: { name: s, key: k } } }
      extraVolumes:
        - { name: certificate, secret: { secretName: relay-certificate } }
      extraVolumeMounts:
        - { name: certificate, mountPath: /certificate, readOnly: true }
      sidecars:
        - name: helper
          image: helper:1
          args: [serve]
          volumeMounts: [{ name: certificate, mountPath: /certificate }]
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: [ALL] } }
      priorityClassName: ""
`;

  it('the additions of a platform to the relay’s pod are read unchanged, and empty by default', () => {
    const [own] = parseConfig('clusters.yaml', relayOf(whole)).clusters;
    expect(own!.relay).toMatchObject({
      priorityClassName: '',
      extraEnv: [
        { name: 'AWS_EC2_METADATA_SERVICE_ENDPOINT', value: 'http://127.0.0.1:9911' },
        { name: 'KEY', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } },
      ],
      sidecars: [{ name: 'helper', args: ['serve'] }],
    });
    const [plain] = parseConfig('clusters.yaml', relayOf('')).clusters;
    expect(plain!.relay).toMatchObject({
      priorityClassName: 'system-cluster-critical',
      extraEnv: [],
      extraVolumes: [],
      extraVolumeMounts: [],
      sidecars: [],
    });
  });

  const restricted = 'securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: [ALL] } }';
  it.each([
    [
      'text for a mapping',
      'extraEnv: [A=b]',
      'extraEnv[0]: "A=b": a mapping with name and value or valueFrom is needed',
    ],
    [
      'a number for text',
      'extraEnv: [{ name: A, value: 1 }]',
      'either value, as text, or valueFrom, as a mapping, is needed',
    ],
    [
      'a variable that is the relay’s',
      'extraEnv: [{ name: CLUSTER_ID, value: b }]',
      '"CLUSTER_ID", which the relay\'s manifest sets itself',
    ],
    [
      'a variable twice',
      'extraEnv: [{ name: A, value: b }, { name: A, value: c }]',
      '[1].name "A" is also that of [0]: each must be used once',
    ],
    [
      'a volume of the node',
      'extraVolumes: [{ name: a, hostPath: { path: / } }]',
      'is of hostPath: one of configMap, csi,',
    ],
    [
      'a name that is taken',
      'extraVolumes: [{ name: aws-token, emptyDir: {} }]',
      '"aws-token", which the relay\'s manifest uses itself',
    ],
    [
      'a mount of nothing',
      'extraVolumeMounts: [{ name: a, mountPath: /a }]',
      'extraVolumeMounts mounts "a", which is none of extraVolumes: there are none',
    ],
    [
      'a relative path',
      'extraVolumeMounts: [{ name: a, mountPath: a }]',
      'mountPath is "a": an absolute path without ":" is needed',
    ],
    [
      'a sidecar without an image',
      `sidecars: [{ name: a, ${restricted} }]`,
      'image is missing: the name of an image is needed',
    ],
    [
      'a sidecar called as the relay',
      `sidecars: [{ name: relay, image: b, ${restricted} }]`,
      '"relay", which the relay\'s manifest uses itself',
    ],
    [
      'a sidecar that the namespace refuses',
      'sidecars: [{ name: a, image: b }]',
      'securityContext needs allowPrivilegeEscalation: false and capabilities: { drop: [ALL] }',
    ],
    [
      'a sidecar that mounts nothing',
      `sidecars: [{ name: a, image: b, ${restricted}, volumeMounts: [{ name: c, mountPath: /c }] }]`,
      'sidecar a mounts "c"',
    ],
    ['no class’s name', 'priorityClassName: Critical', 'is not the name of a PriorityClass, or "" for none'],
  ])(
    'the additions of a platform to the relay’s pod are refused with the allowed values: %s',
    (_, given, said) => {
      const found = problems(relayOf(`      ${given}\n`));
      expect(found.join('\n')).toContain(said);
      expect(found[0]).toMatch(/^clusters\.yaml:\d+:\d+: clusters\[0\]\.relay/);
    },
  );

  it('a sidecar may not set the variables of the identity that the manifest sets', () => {
    const irsa =
      'identity: { type: irsa, oidcProviderArn: "arn:aws:iam::111122223333:oidc-provider/issuer.example.com" }';
    const yaml = `hub: {}\nclusters:\n  - { id: a, relay: { ${irsa}, extraEnv: [{ name: AWS_ROLE_ARN, value: b }] } }`;
    expect(problems(yaml).join()).toContain(
      "extraEnv sets AWS_ROLE_ARN, which the relay's identity sets already",
    );
  });
});

it('a hundred clusters in shadow mode, or 26 active ones, fit into the usual quota of Lambda by default', () => {
  const fleet = (count: number, more: string): string =>
    `hub: {}\nclusters:\n${Array.from({ length: count }, (_, i) => `  - { id: c${i}, ${more}${relay} }`).join('\n')}`;
  const api =
    'mode: active, api: { url: "https://a.example.com", auth: { type: secret, secretArn: "arn:aws:secretsmanager:eu-central-1:111122223333:secret:a-AbCdEf" } }, ';
  expect(parseConfig('f', fleet(100, '')).clusters[0]?.concurrency).toEqual({ ingest: 4, sync: 4 });
  expect(parseConfig('f', fleet(26, api)).clusters[0]?.concurrency).toEqual({ ingest: 10, sync: 20 });
  for (const [count, more] of [
    [101, ''],
    [27, api],
  ] as const)
    expect(() => parseConfig('f', fleet(count, more))).toThrow('and 800 are allowed');
});

describe('a mistake fails with file, line, column, and the allowed values', () => {
  const cluster = (rest: string): string => `hub: {}\nclusters:\n  - id: a\n    ${relay}\n    ${rest}\n`;
  const api = (rest: string): string => cluster(`api: { url: "https://a.example.com", ${rest} }`);

  it.each([
    ['text that is not YAML', 'hub: {\nclusters: []', /^clusters.yaml:\d+:\d+: /],
    [
      'an unknown key',
      cluster('moode: shadow'),
      'clusters.yaml:5:5: clusters[0]: unknown key "moode": id, labels, mode, optIn, imports, exports, region, settings, concurrency, alarms, api, relay are allowed',
    ],
    ['a missing key', 'hub: {}\nclusters:\n  - id: a', 'clusters.yaml:3:5: clusters[0]: relay is missing'],
    [
      'an id out of shape',
      `hub: {}\nclusters:\n  - { id: A_b, ${relay} }`,
      'clusters.yaml:3:11: clusters[0].id: "A_b" is not 1 to 32 of a-z, 0-9 and "-", not beginning or ending with "-"',
    ],
    [
      'an id used twice',
      `hub: {}\nclusters:\n  - { id: a, ${relay} }\n  - { id: a, ${relay} }`,
      'clusters.yaml:4:5: clusters: [1].id "a" is also that of [0]: each must be used once',
    ],
    [
      'a mode that is none',
      cluster('mode: passive'),
      'clusters.yaml:5:11: clusters[0].mode: "passive" is not one of shadow, active, paused',
    ],
    [
      'a URL that is not https',
      cluster('api: { url: "http://a.example.com", auth: { type: web-identity, audience: a } }'),
      'clusters.yaml:5:17: clusters[0].api.url: "http://a.example.com" is not https://HOST[:PORT] without path, user or query',
    ],
    [
      'a URL with a path',
      cluster('api: { url: "https://a.example.com/k8s", auth: { type: web-identity, audience: a } }'),
      /clusters\[0\].api.url/,
    ],
    [
      'a CA that is not a certificate',
      api('ca: bm8=, auth: { type: web-identity, audience: a }'),
      'clusters.yaml:5:46: clusters[0].api.ca: "bm8=" is not one or more certificates in PEM, or the base64 of that',
    ],
    [
      'credentials of an unknown type',
      api('auth: { type: kubeconfig }'),
      'clusters.yaml:5:56: clusters[0].api.auth: type is "kubeconfig": eks, web-identity, secret are allowed',
    ],
    [
      'an ARN of something else',
      api('auth: { type: secret, secretArn: "arn:aws:s3:::b" }'),
      /clusters\[0\].api.auth.secretArn: "arn:aws:s3:::b" is not the ARN of a secret/,
    ],
    [
      'a number out of range',
      cluster('concurrency: { sync: 1 }'),
      'clusters.yaml:5:26: clusters[0].concurrency.sync: 1: a whole number from 2 to 1000 is needed',
    ],
    [
      'a runbook that is not the address of a page',
      'hub: { runbookUrl: docs/operate/runbook.md }',
      'clusters.yaml:1:20: hub.runbookUrl: "docs/operate/runbook.md" is not the address of a page, https://… without a #fragment',
    ],
    [
      'alarms of another kind',
      cluster('alarms: urgent'),
      'clusters.yaml:5:13: clusters[0].alarms: "urgent" is not one of page, ticket',
    ],
    [
      'more concurrency than the account has room for',
      `hub: { lambdaConcurrencyLimit: 20 }\nclusters:\n  - { id: a, ${relay} }\n  - { id: b, ${relay}, concurrency: { ingest: 5, sync: 6 } }`,
      /^clusters\.yaml:1:1: the concurrency of 2 clusters adds up to 19 executions, and 16 are allowed, four fifths of hub\.lambdaConcurrencyLimit \(20\): request an increase/,
    ],
    [
      'an association in another region',
      'hub: { region: eu-west-1 }\nclusters:\n  - { id: a, relay: { identity: { type: pod-identity, clusterName: a, region: eu-central-1 } } }',
      /a: a Pod Identity association can be made in the hub's own region only: leave region out, or say association: false/,
    ],
    [
      'a key for the table without its region',
      'hub: { encryption: { table: "arn:aws:kms:eu-west-1:111122223333:key/1" } }',
      /hub\.encryption\.table needs a known region: hub\.region/,
    ],
    [
      'a key of another region',
      'hub: { region: eu-west-1, encryption: { queues: "arn:aws:kms:eu-central-1:111122223333:key/1" } }',
      /hub\.encryption: the key arn:\S+ is not in hub\.region, eu-west-1/,
    ],
    [
      'an operator who is everybody',
      'hub: { operatorRoleArns: ["*"] }',
      /hub\.operatorRoleArns\[0\]: "\*" is not the ARN of a role, in which \* may stand/,
    ],
    [
      'provisioned capacity with a max below its min',
      'hub: { capacity: { minReads: 5, maxReads: 10, minWrites: 50, maxWrites: 10 } }',
      /hub\.capacity: maxWrites is 10, and at least minWrites, 50, is needed/,
    ],
    [
      'provisioned capacity of no unit',
      'hub: { capacity: { minReads: 0, maxReads: 10, minWrites: 1, maxWrites: 10 } }',
      /hub\.capacity\.minReads: 0: a whole number from 1 to 1000000 is needed/,
    ],
    [
      'active without an API',
      cluster('mode: active'),
      'clusters.yaml:3:5: clusters[0]: mode is active, but there is no api to write to: shadow and paused are allowed without one',
    ],
    [
      'opt-in without an API',
      cluster('optIn: active'),
      'clusters.yaml:3:5: clusters[0]: optIn is active, but there is no api to write to: off and shadow are allowed without one',
    ],
    [
      'an opt-in that is unknown',
      cluster('optIn: on'),
      /optIn: "on" is not one of off, shadow, active|optIn: "on"/,
    ],
    [
      'a topic of another region',
      `hub: { region: eu-central-1, pageTopicArn: "arn:aws:sns:eu-west-1:111122223333:page" }\nclusters: []`,
      /^clusters.yaml:1:1: hub: the topic arn:aws:sns:eu-west-1:111122223333:page is not in hub.region, eu-central-1/,
    ],
    [
      'EKS without its certificate authority',
      api('auth: { type: eks, clusterName: shop, region: eu-west-1 }'),
      "clusters.yaml:3:5: clusters[0]: api.ca is missing, and an EKS cluster's certificate authority is its own: give what this prints: aws eks describe-cluster --name shop --region eu-west-1 --query cluster.certificateAuthority.data --output text",
    ],
    [
      'access entries beside a role of another account',
      api(
        `ca: ${authorityData}, auth: { type: eks, clusterName: a, accessEntry: true, roleArn: "arn:aws:iam::444455556666:role/r" }`,
      ),
      'clusters.yaml:3:5: clusters[0]: api.auth has accessEntry: true and roleArn: access entries let in the roles of the hub itself. Leave accessEntry out, and make an access entry for the role in its own account',
    ],
    [
      'access entries in another region',
      `hub: { region: eu-west-1 }\nclusters:\n  - id: a\n    ${relay}\n    api: { url: "https://a.example.com", ca: ${authorityData}, auth: { type: eks, clusterName: a, accessEntry: true, region: eu-central-1 } }`,
      "clusters.yaml:1:1: a: access entries can be made in the hub's own region only: leave accessEntry out, and make those for the outputs WorkerRoleArn and SweepRoleArn there",
    ],
    [
      'a role that is the identity of two relays',
      `hub: {}\nclusters:\n${['a', 'b', 'c'].map((id) => `  - { id: ${id}, relay: { identity: { type: existing-role, roleArn: "arn:aws:iam::111122223333:role/${id === 'a' ? 'own' : 'shared'}" } } }`).join('\n')}`,
      'clusters.yaml:1:1: the relays of b and c have the same role, arn:aws:iam::111122223333:role/shared, so each could send events of the other cluster: give each its own role',
    ],
    [
      'active on EKS',
      api('auth: { type: eks, clusterName: a } }\n    mode: active\n    settings: { batchPeriodSeconds: 1'),
      /EKS's own endpoint controllers can't be switched off/,
    ],
  ])('%s', (_, yaml, message) => {
    expect(problems(yaml)).toContainEqual(
      typeof message === 'string' ? message : expect.stringMatching(message),
    );
  });

  it('reports all of them at once, in the order of the file', () => {
    expect(
      problems(`hub: { name: "1" }\nclusters:\n  - { id: A, ${relay} }\n  - { id: b }`).map(
        (p) => p.split(':')[1],
      ),
    ).toEqual(['1', '3', '4']);
  });
});
