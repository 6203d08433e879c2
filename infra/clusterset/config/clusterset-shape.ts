/**
 * The part of clusters.yaml for Services across clusters: the hub's set, and the exports and imports of a
 * cluster.
 */

import type { ClustersetConfig, ExportsConfig } from '#infra/config/config.ts';
import { dnsLabel, seconds } from '#infra/config/config-values.ts';
import { checked, unique } from '#infra/config/yaml/yaml-rules.ts';
import {
  fields,
  flag,
  known,
  list,
  listOr,
  oneOf,
  optional,
  required,
  type Shape,
  text,
  withDefault,
} from '#infra/config/yaml/yaml-shape.ts';
import { excludedNamespaces } from '#shared/clusterset/contract/clusterset-names.ts';
import { noMembership } from '#shared/clusterset/contract/clusterset-settings.ts';
import { parseCidr } from '#shared/kube/cidr.ts';

export const clustersetShape: Shape<ClustersetConfig> = fields({
  name: required(
    dnsLabel,
    'The set has this name. A namespace takes imports if its label fleet-endpoints/clusterset has this value.',
  ),
  evictAfterSeconds: optional(
    seconds(60, 604_800),
    'After this time of silence the endpoints of a cluster are removed from the importers, if its API does not answer either. Less than 90 s acts like 90 s. Without the key they stay.',
  ),
  sameness: withDefault(
    oneOf('labelled', 'all'),
    noMembership.sameness,
    '`labelled` namespaces take imports, or `all` except default, kube-system and the like.',
  ),
});

const namespace = known(
  text('the name of a namespace', (value) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(value)),
);
const namespaces = checked(
  unique(list(namespace), 'namespace', (name) => name),
  (names) => {
    const never = names.filter((name) => excludedNamespaces.includes(name));
    if (never.length > 0)
      return `${never.join(', ')}: never exported, as none of ${excludedNamespaces.join(', ')} is`;
    return names.length > 500
      ? `${names.length} namespaces are too many: 500 are allowed, or all`
      : undefined;
  },
);

/** A policy of each importing cluster has the ranges of every other one. */
const maxCidrs = 16;
const cidr = known(
  text(
    'a range of addresses, such as 10.20.0.0/16, without bits behind its prefix and not of every address',
    (value) => !!parseCidr(value) && !value.endsWith('/0'),
  ),
);
const podCidrs = checked(list(cidr), ({ length }) =>
  length === 0 || length > maxCidrs
    ? `${length} ranges are given: 1 to ${maxCidrs} are allowed, and all addresses of pods must be in one`
    : undefined,
);

export const exportsShape: Shape<ExportsConfig> = fields({
  namespaces: required(
    listOr(namespaces, 'all'),
    'Services of these namespaces may be exported, or of all. [] prepares the cluster and exports nothing.',
  ),
  podCidrs: required(
    podCidrs,
    'The addresses of its pods are in these ranges. Importers accept no other address.',
  ),
  allowOverlap: withDefault(
    flag,
    false,
    'Its ranges may overlap those of clusters that allow it too, such as two clusters in the same subnets.',
  ),
  editorsMayExport: withDefault(
    flag,
    false,
    "The cluster's roles edit and admin may make ServiceExports. The API's CRDs grant that to no role.",
  ),
});
