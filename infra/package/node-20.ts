/** Functions that the package's programs use and Node 20 lacks; Node 22 has all of them. */
import workers from 'node:worker_threads';
import zlib from 'node:zlib';

// undici, of @kubernetes/client-node, takes both when it is loaded. Nothing here asks for zstd, or clones its objects.
(zlib as { createZstdDecompress: unknown }).createZstdDecompress ??= () => {
  throw new Error('zstd needs Node 22.15');
};
(workers as { markAsUncloneable: unknown }).markAsUncloneable ??= () => {};

Promise.withResolvers ??= <T>() => {
  let [resolve, reject] = [(_: T | PromiseLike<T>): void => {}, (_?: unknown): void => {}];
  const promise = new Promise<T>((...both) => {
    [resolve, reject] = both;
  });
  return { promise, resolve, reject };
};

Map.groupBy ??= <K, T>(items: Iterable<T>, keyOf: (item: T, index: number) => K) => {
  const groups = new Map<K, T[]>();
  let index = 0;
  for (const item of items) {
    const key = keyOf(item, index++);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
};
