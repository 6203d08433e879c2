/**
 * The README of the Helm chart, from values.yaml and its schema: every value with its default, its allowed
 * values and its purpose.
 */
import { isScalar, parseDocument, type YAMLMap } from 'yaml';

interface ValueSchema {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly description?: string;
}

export interface ChartSchema {
  readonly required: readonly string[];
  readonly properties: { readonly [value: string]: ValueSchema };
}

export interface ChartFacts {
  readonly name: string;
  readonly description: string;
  readonly kubeVersion: string;
}

interface ChartValue {
  readonly name: string;
  readonly standard: string;
  readonly about: string;
}

export function chartReadme(
  { name, description, kubeVersion }: ChartFacts,
  values: string,
  { required, properties }: ChartSchema,
): string {
  const rows = valuesOf(values).map(({ name: value, standard, about }) => {
    const schema = properties[value] ?? {};
    const text = about || sentence(schema.description ?? '');
    return `| \`${value}\` | ${required.includes(value) ? 'needed' : `\`${standard}\``} | ${allowed(schema)} | ${text} |`;
  });
  return `# ${name}

${description}. Made by \`fleet-endpoints relay chart FOLDER\`, like its templates: change infra/relay/ instead.

\`\`\`bash
helm install relay . --set cluster=shop-dev --set region=eu-central-1 \\
  --set eventsQueueUrl=… --set image=registry.example.com/relay@sha256:…
\`\`\`

Kubernetes ${kubeVersion}. A value that is not in this table, or is not allowed, is an error (values.schema.json).

| value | default | allowed | what it is for |
| --- | --- | --- | --- |
${rows.join('\n')}
`;
}

/** A comment is about the value under it. */
function valuesOf(text: string): readonly ChartValue[] {
  const document = parseDocument(text);
  return (document.contents as YAMLMap).items.map(({ key, value }, i) => {
    if (!isScalar(key)) throw new Error(`values.yaml: ${key} is not a name`);
    // The YAML parser assigns the comment of the first value to the document.
    const comment =
      key.commentBefore ??
      (i === 0 ? (document.commentBefore ?? document.contents?.commentBefore) : undefined) ??
      '';
    const about = comment
      .split('\n')
      .map((line) => line.trim())
      .join(' ');
    return {
      name: String(key.value),
      standard: JSON.stringify((value as { toJSON(): unknown }).toJSON()),
      about,
    };
  });
}

function allowed({ type, enum: of, minimum, maximum }: ValueSchema): string {
  if (of) return of.map((word) => `\`${word === '' ? '""' : word}\``).join(', ');
  if (type === 'integer') return `${minimum} to ${maximum}`;
  return (
    { string: 'text', boolean: '`true`, `false`', array: 'a list', object: 'a map' }[type ?? ''] ?? 'anything'
  );
}

const sentence = (text: string): string => text && `${text[0]?.toUpperCase()}${text.slice(1)}.`;
