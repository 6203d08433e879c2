/** The parts of clusters.yaml that are copied into the relay's pod. The API server checks the rest. */

import { bundleVolume, type PodExtras, type PodPart, takenPaths, tokenVolume } from '#infra/relay/pod.ts';
import { relayEnv } from '#shared/contract/env.ts';
import { type Mapping, mapping, unique } from './yaml/yaml-rules.ts';
import { list, type Shape } from './yaml/yaml-shape.ts';

const dnsLabel = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const isText = (value: unknown): value is string => typeof value === 'string';
const isMapping = (value: unknown): value is Mapping =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const show = (value: unknown): string => JSON.stringify(value) ?? 'missing';

/** Variables that the manifest sets itself. */
const takenVariables: readonly string[] = [...Object.values(relayEnv), 'AWS_REGION', 'NODE_OPTIONS'];

/**
 * Types of volumes that the restricted Pod Security Standard allows, which the relay's namespace enforces.
 */
const volumeTypes = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'persistentVolumeClaim',
  'projected',
  'secret',
];

function variable({ name, value, valueFrom, ...others }: Mapping): readonly string[] {
  return [
    ...(isText(name) && /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)
      ? []
      : [`name is ${show(name)}: letters, digits and "_" are needed`]),
    ...(takenVariables.includes(name as string)
      ? [`name is ${show(name)}, which the relay's manifest sets itself: another name is needed`]
      : []),
    ...(isText(value) !== isMapping(valueFrom)
      ? []
      : ['either value, as text, or valueFrom, as a mapping, is needed']),
    ...unknown(others, ['name', 'value', 'valueFrom']),
  ];
}

function volume({ name, ...source }: Mapping): readonly string[] {
  const [type, ...others] = Object.keys(source);
  return [
    ...labelled(name, [bundleVolume, tokenVolume]),
    ...(type !== undefined && others.length === 0 && volumeTypes.includes(type)
      ? []
      : [
          `is of ${[type, ...others].join(', ') || 'no type'}: one of ${volumeTypes.join(', ')} is needed, as the namespace enforces "restricted"`,
        ]),
  ];
}

function mount({ name, mountPath, readOnly, ...others }: Mapping): readonly string[] {
  return [
    ...labelled(name, []),
    ...(isText(mountPath) && /^\/[^:]+$/.test(mountPath)
      ? []
      : [`mountPath is ${show(mountPath)}: an absolute path without ":" is needed`]),
    ...(takenPaths.some((path) => mountPath === path)
      ? [`mountPath is ${show(mountPath)}, where the relay's manifest mounts its own: another is needed`]
      : []),
    ...(readOnly === undefined || typeof readOnly === 'boolean'
      ? []
      : [`readOnly is ${show(readOnly)}: true or false is needed`]),
    ...unknown(others, ['name', 'mountPath', 'readOnly', 'subPath', 'subPathExpr', 'mountPropagation']),
  ];
}

function sidecar({ name, image, securityContext }: Mapping): readonly string[] {
  const { allowPrivilegeEscalation, capabilities } = isMapping(securityContext)
    ? securityContext
    : ({} as Mapping);
  const dropped = isMapping(capabilities) ? capabilities['drop'] : undefined;
  const isRestricted =
    allowPrivilegeEscalation === false && Array.isArray(dropped) && dropped.includes('ALL');
  return [
    ...labelled(name, ['relay']),
    ...(isText(image) && image !== '' ? [] : [`image is ${show(image)}: the name of an image is needed`]),
    ...(isRestricted
      ? []
      : [
          'securityContext needs allowPrivilegeEscalation: false and capabilities: { drop: [ALL] }, as the namespace enforces "restricted"',
        ]),
  ];
}

function labelled(name: unknown, taken: readonly string[]): readonly string[] {
  if (!isText(name) || !dnsLabel.test(name))
    return [`name is ${show(name)}: 1 to 63 of a-z, 0-9 and "-" are needed`];
  return taken.includes(name)
    ? [`name is ${show(name)}, which the relay's manifest uses itself: another name is needed`]
    : [];
}

const unknown = (others: Mapping, allowed: readonly string[]): readonly string[] =>
  Object.keys(others)
    .filter((key) => !allowed.includes(key))
    .map((key) => `unknown key ${show(key)}: ${allowed.join(', ')} are allowed`);

const parts = (
  what: string,
  rule: (part: Mapping) => readonly string[],
  key = 'name',
): Shape<readonly PodPart[]> =>
  unique(list(mapping(what, rule)), key, (part) => part[key]) as Shape<readonly PodPart[]>;

export const extraEnv = parts('a mapping with name and value or valueFrom', variable);
export const extraVolumes = parts('a volume, as a pod has it,', volume);
export const extraVolumeMounts = parts('a mapping with name and mountPath', mount, 'mountPath');
export const sidecars = parts('a container, as a pod has it,', sidecar);

/** A mistake across several fields, as a sentence; undefined without one. */
export function brokenExtras(
  { extraVolumes: volumes, extraVolumeMounts: mounts, sidecars: containers, extraEnv: env }: PodExtras,
  projectsToken: boolean,
): string | undefined {
  const known = volumes.map((v) => v.name);
  const inSidecars = containers.flatMap(({ name, volumeMounts }) =>
    (Array.isArray(volumeMounts) ? (volumeMounts as readonly Mapping[]) : []).map(
      (m) => [`sidecar ${name}`, m['name']] as const,
    ),
  );
  for (const [where, name] of [...mounts.map((m) => ['extraVolumeMounts', m.name] as const), ...inSidecars]) {
    if (!known.includes(name as string))
      return `${where} mounts ${show(name)}, which is none of extraVolumes: ${known.join(', ') || 'there are none'}`;
  }
  const doubled = env.find(
    ({ name }) => projectsToken && /^AWS_(ROLE_ARN|WEB_IDENTITY_TOKEN_FILE)$/.test(name),
  );
  return (
    doubled &&
    `extraEnv sets ${doubled.name}, which the relay's identity sets already: leave it out, or give another identity`
  );
}
