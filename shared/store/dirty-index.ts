/**
 * Keys of the index of dirty work items. DynamoDB writes 1,000 units a second under one key, and an index
 * that is throttled throttles the writes of its table (Developer Guide, "Write throttling for global
 * secondary indexes"). A switch of mode enqueues every service of a cluster at once, so each cluster has
 * several keys.
 */
import { bucketOf } from '#shared/kube/hash.ts';

const keysPerCluster = 4;
const keyText = (cluster: string, bucket: number): string => `${cluster}#${bucket}`;

export const dirtyKeyOf = (cluster: string, namespace: string, service: string): string =>
  keyText(cluster, bucketOf(`${namespace}/${service}`, keysPerCluster));

export const dirtyKeysOf = (cluster: string): readonly string[] =>
  Array.from({ length: keysPerCluster }, (_, bucket) => keyText(cluster, bucket));
