import { type Manifest, relayManifest } from './relay-manifest.ts';
import { toYaml } from './relay-yaml.ts';

export interface ChartFile {
  /** Relative to infra/chart. */
  readonly path: string;
  readonly text: string;
}

const value = (name: string): string => `{{ .Values.${name} }}`;

/** Templates of the Helm chart: the very manifest, with values where it has parameters. */
export function chartTemplates(): readonly ChartFile[] {
  const manifests = relayManifest({
    cluster: value('cluster'),
    namespace: value('namespace'),
    eventsQueueUrl: value('eventsQueueUrl'),
    region: value('region'),
    outputs: value('outputs') as 'full',
    replicas: value('replicas') as unknown as number,
    resyncSeconds: value('resyncSeconds'),
    roleArn: value('roleArn'),
    program: { image: value('image') },
  });
  const file = (name: string, of: (m: Manifest) => boolean): ChartFile => ({
    path: `templates/${name}.yaml`,
    text: plainNumber(optionalRole(toYaml(manifests.filter(of)))),
  });
  const isAccess = (m: Manifest): boolean => /^(ServiceAccount|(Cluster)?Role|(Cluster)?RoleBinding)$/.test(m.kind);
  const isRelay = (m: Manifest): boolean => /^(Namespace|Deployment|PodDisruptionBudget)$/.test(m.kind);
  return [file('relay', isRelay), file('access', isAccess), file('writer-limits', (m) => !isAccess(m) && !isRelay(m))];
}

/** Only IRSA needs the annotation. */
const optionalRole = (text: string): string =>
  text.replace(/^ {2}annotations:\n {4}eks\.amazonaws\.com\/role-arn: .*\n/m, (lines) => `  {{- if .Values.roleArn }}\n${lines}  {{- end }}\n`);

/** The only value that is not text. */
const plainNumber = (text: string): string => text.replace(/^( *replicas: )"(.*)"$/m, '$1$2');
