/** The shape of clusters.yaml. */

import { clusterShape } from './cluster-shape.ts';
import type { Config } from './config.ts';
import { brokenRule } from './config-rules.ts';
import { hubShape } from './hub-shape.ts';
import { checked, unique } from './yaml/yaml-rules.ts';
import { fields, list, required, type Shape, withDefault } from './yaml/yaml-shape.ts';

const fleet = fields({
  hub: required(hubShape, 'What all clusters share.'),
  clusters: withDefault(
    unique(list(clusterShape), 'id', (c) => c.id),
    [],
    'The clusters of the hub.',
  ),
}) as Shape<Config>;

export const configShape: Shape<Config> = checked(fleet, brokenRule);
