import { relayManifest } from './manifest.ts';
import { type Manifest, toYaml } from './manifest-yaml.ts';
import { type PodPart, tokenVolume } from './pod.ts';

export interface ChartFile {
  /** Relative to infra/relay/chart. */
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
    priorityClassName: value('priorityClassName'),
    extras: {
      extraEnv: [values('extraEnv', 12)],
      extraVolumes: [values('extraVolumes', 8)],
      extraVolumeMounts: [values('extraVolumeMounts', 12)],
      sidecars: [values('sidecars', 8)],
    },
    program: { image: value('image') },
  });
  const file = (name: string, of: (m: Manifest) => boolean): ChartFile => ({
    path: `templates/${name}.yaml`,
    text: plainNumber(optional(listsOfValues(toYaml(manifests.filter(of))))),
  });
  const isAccess = (m: Manifest): boolean => /^(ServiceAccount|(Cluster)?Role|(Cluster)?RoleBinding)$/.test(m.kind);
  const isRelay = (m: Manifest): boolean => /^(Namespace|Deployment|PodDisruptionBudget)$/.test(m.kind);
  return [file('relay', isRelay), file('access', isAccess), file('writer-limits', (m) => !isAccess(m) && !isRelay(m))];
}

/** Stands for a list that is a value. */
const values = (name: string, indent: number): PodPart => ({ name: `${name}:${indent}` });

const listsOfValues = (text: string): string =>
  text.replace(
    /^( *)- name: (\w+):(\d+)\n/gm,
    (_, at: string, name: string, indent: string) => `${at}{{- with .Values.${name} }}\n${at}{{- toYaml . | nindent ${indent} }}\n${at}{{- end }}\n`,
  );

/** Only relays that are known by a token need one, and a key without a list under it must not be there. */
function optional(text: string): string {
  const token = new RegExp(`^( *)- name: (?:AWS_ROLE_ARN|AWS_WEB_IDENTITY_TOKEN_FILE|${tokenVolume})\\n(?:\\1  .*\\n)*`, 'gm');
  return text
    .replace(token, (lines, at: string) => `${at}{{- if .Values.roleArn }}\n${lines}${at}{{- end }}\n`)
    .replace(/ *\{\{- end \}\}\n *\{\{- if \.Values\.roleArn \}\}\n/g, '')
    .replace(/^( *)(volumeMounts|volumes):\n(?:\1 {2}.*\n)*/gm, (lines, at: string, key: string) => {
      const given = key === 'volumes' ? 'extraVolumes' : 'extraVolumeMounts';
      return `${at}{{- if or .Values.roleArn .Values.${given} }}\n${lines}${at}{{- end }}\n`;
    })
    .replace(/^( *)priorityClassName: .*\n/m, (line, at: string) => `${at}{{- if .Values.priorityClassName }}\n${line}${at}{{- end }}\n`);
}

/** The only value that is not text. */
const plainNumber = (text: string): string => text.replace(/^( *replicas: )"(.*)"$/m, '$1$2');
