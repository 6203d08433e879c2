import { relayManifest } from './manifest.ts';
import { type Manifest, toYaml, value } from './manifest-yaml.ts';
import { type PodPart, tokenVolume } from './pod.ts';
import { relayMonitoring } from './prometheus-objects.ts';
import { relayParts } from './wing.ts';
import { builtInAlone, type WriterTasks } from './writer-tasks.ts';

export interface ChartFile {
  /** Relative to the chart's folder. */
  readonly path: string;
  readonly text: string;
}

/** Templates of the Helm chart: the very manifest, with values where it has parameters. */
export function chartTemplates(): readonly ChartFile[] {
  const variants = choices.map(({ condition, tasks }) => ({ condition, manifests: manifestsFor(tasks) }));
  const all = variants[0]?.manifests ?? [];
  const file = (name: string, isPart: (m: Manifest) => boolean): ChartFile => {
    const texts = all.flatMap((m, i) =>
      isPart(m)
        ? [inParts(m, byChoice(variants.map((v) => ({ ...v, text: toYaml(v.manifests.slice(i, i + 1)) }))))]
        : [],
    );
    return {
      path: `templates/${name}.yaml`,
      text: plainNumber(textOfParts(optional(listsOfValues(texts.join('---\n'))))),
    };
  };
  const isAccess = (m: Manifest): boolean =>
    /^(ServiceAccount|(Cluster)?Role|(Cluster)?RoleBinding)$/.test(m.kind);
  const isRelay = (m: Manifest): boolean =>
    /^(Namespace|Deployment|NetworkPolicy|PodDisruptionBudget)$/.test(m.kind);
  return [
    file('relay', isRelay),
    file('access', isAccess),
    file('writer-limits', (m) => !isAccess(m) && !isRelay(m)),
    monitoring(),
  ];
}

/** The objects of the Prometheus operator, each by its own value. */
function monitoring(): ChartFile {
  const [podMonitor, prometheusRule] = relayMonitoring(value('namespace'), { '{{ labels }}': '' });
  const given = '{{- with .Values.monitoringLabels }}\n    {{- toYaml . | nindent 4 }}\n    {{- end }}';
  const text = (name: string, manifest: Manifest): string =>
    `{{- if .Values.${name} }}\n${toYaml([manifest]).replace('"{{ labels }}": ""', given)}{{- end }}\n`;
  return {
    path: 'templates/monitoring.yaml',
    text: [text('podMonitor', podMonitor), text('prometheusRule', prometheusRule)].join('---\n'),
  };
}

/** The writer's tasks, by the values `writes` and `cleanup`. */
const choices: readonly { readonly condition: string; readonly tasks: WriterTasks }[] = [
  { condition: writes('builtIn'), tasks: builtInAlone },
  { condition: and(writes('both'), cleanup(true)), tasks: { builtIn: true, optIn: true, cleanup: true } },
  { condition: and(writes('both'), cleanup(false)), tasks: { builtIn: true, optIn: true, cleanup: false } },
  { condition: and(writes('optIn'), cleanup(true)), tasks: { builtIn: false, optIn: true, cleanup: true } },
  { condition: and(writes('optIn'), cleanup(false)), tasks: { builtIn: false, optIn: true, cleanup: false } },
];

function writes(what: 'builtIn' | 'optIn' | 'both'): string {
  return `(eq .Values.writes "${what}")`;
}

function cleanup(on: boolean): string {
  return on ? '.Values.cleanup' : '(not .Values.cleanup)';
}

function and(...conditions: readonly string[]): string {
  return `(and ${conditions.join(' ')})`;
}

/** An object whose text depends on the choice is there once for each text. */
function byChoice(variants: readonly { readonly condition: string; readonly text: string }[]): string {
  const texts = [...Map.groupBy(variants, (v) => v.text)];
  if (texts.length === 1) return texts[0]?.[0] ?? '';
  return texts
    .map(([text, isPart]) => {
      const conditions = isPart.map((v) => v.condition);
      return `{{- if ${conditions.length === 1 ? conditions[0] : `or ${conditions.join(' ')}`} }}\n${text}{{- end }}\n`;
    })
    .join('');
}

const inParts = (manifest: Manifest, text: string): string =>
  relayParts.reduce((done, { chart }) => chart.object(manifest, done), text);
const textOfParts = (text: string): string => relayParts.reduce((done, { chart }) => chart.text(done), text);

function manifestsFor(tasks: WriterTasks): readonly Manifest[] {
  return relayManifest({
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
    prometheusNamespace: value('prometheusNamespace'),
    program: { image: value('image') },
    tasks,
    ...Object.assign({}, ...relayParts.map(({ chart }) => ({ clusterset: chart.tasks }))),
  });
}

/** Stands for a list that is a value. */
const values = (name: string, indent: number): PodPart => ({ name: `${name}:${indent}` });

const listsOfValues = (text: string): string =>
  text.replace(
    /^( *)- name: (\w+):(\d+)\n/gm,
    (_, at: string, name: string, indent: string) =>
      `${at}{{- with .Values.${name} }}\n${at}{{- toYaml . | nindent ${indent} }}\n${at}{{- end }}\n`,
  );

/**
 * Makes parts optional, such as the token of relays that use one. A key whose list is empty is left out.
 */
function optional(text: string): string {
  const token = new RegExp(
    `^( *)- name: (?:AWS_ROLE_ARN|AWS_WEB_IDENTITY_TOKEN_FILE|${tokenVolume})\\n(?:\\1  .*\\n)*`,
    'gm',
  );
  return text
    .replace(token, (lines, at: string) => `${at}{{- if .Values.roleArn }}\n${lines}${at}{{- end }}\n`)
    .replace(/ *\{\{- end \}\}\n *\{\{- if \.Values\.roleArn \}\}\n/g, '')
    .replace(/^( *)(volumeMounts|volumes):\n(?:\1 {2}.*\n)*/gm, (lines, at: string, key: string) => {
      const given = key === 'volumes' ? 'extraVolumes' : 'extraVolumeMounts';
      return `${at}{{- if or .Values.roleArn .Values.${given} }}\n${lines}${at}{{- end }}\n`;
    })
    .replace(
      /^( *)ingress:\n(?:\1 {2}.*\n)*/m,
      (lines, at: string) => `${at}{{- if .Values.prometheusNamespace }}\n${lines}${at}{{- end }}\n`,
    )
    .replace(
      /^( *)priorityClassName: .*\n/m,
      (line, at: string) => `${at}{{- if .Values.priorityClassName }}\n${line}${at}{{- end }}\n`,
    );
}

/** The only value that is not text. */
const plainNumber = (text: string): string => text.replace(/^( *replicas: )"(.*)"$/m, '$1$2');
