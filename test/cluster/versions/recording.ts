/** Recordings of the conformance vectors with the controllers of another version. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { go } from '#test/support/control-plane/kubernetes-module.ts';
import type { Vector } from '#test/worlds/conformance/vector.ts';

export interface Recording<V extends Vector = Vector> {
  readonly vectors: readonly V[];
  /** Reasons, each with the identifiers of its vectors. */
  readonly leftOut: readonly string[];
  /** A JSON object a line. */
  readonly text: string;
}

/** `module`: a folder of kubernetesModule. `flags` of test/cluster/control-plane/record. */
export async function record<V extends Vector>(
  module: string,
  file: string,
  flags: readonly string[] = [],
): Promise<Recording<V>> {
  const folder = await mkdtemp(join(tmpdir(), 'upstream-'));
  try {
    const [given, out] = ['given.jsonl', 'recorded.jsonl'].map((name) => join(folder, name)) as [
      string,
      string,
    ];
    await writeFile(given, gunzipSync(await readFile(file)));
    const output = await go(
      [
        'test',
        './record',
        '-count=1',
        '-timeout=0',
        '-v',
        '-run=TestRecord',
        '-args',
        '-in',
        given,
        '-out',
        out,
        ...flags,
      ],
      module,
    );
    const text = await readFile(out, 'utf8');
    const lines = text.split('\n').filter((line) => line !== '');
    const reasons = Map.groupBy(
      output.matchAll(/^(\S+) is left out: (.*)$/gm),
      ([, , reason = '']) => reason,
    );
    const leftOut = [...reasons].map(
      ([reason, all]) => `${all.length} are left out, ${reason}: ${all.map(([, id]) => id).join(', ')}`,
    );
    return { vectors: lines.map((line) => JSON.parse(line) as V), leftOut, text };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
