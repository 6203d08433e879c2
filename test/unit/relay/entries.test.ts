import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { inputEntry, outputEntry } from '#functions/relay/projection/entries.ts';
import { SentIndex } from '#functions/relay/projection/sent-index.ts';
import { Meter } from '#functions/relay/runtime/meter.ts';
import { readCluster } from '#shared/clusters/record.ts';
import { hasSynced } from '#shared/clusters/relay/first-lists.ts';
import { defaultLimits } from '#shared/contract/limits.ts';
import { annotationTopologyMode } from '#shared/kube/names.ts';
import { kinds } from '#shared/kube/types.ts';
import { encodeMessage } from '#shared/queue/codec.ts';
import { encodeParts } from '#shared/queue/list-parts.ts';
import { entry, ingestHub, silent } from '#test/unit/ingest/hub.ts';
import { endpoints, service } from '#test/unit/shared/kube/objects.ts';

/**
 * A Service with an annotation that the controllers read, as long as is wanted: the API server takes 256 KB
 * of annotations, and labels beside.
 */
function annotated(text: string) {
  const labels = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`label-${i}`, 'v'.repeat(63)]));
  const { metadata, ...rest } = service();
  return { ...rest, metadata: { ...metadata, labels, annotations: { [annotationTopologyMode]: text } } };
}
const bytesOf = (text: string): number =>
  Buffer.byteLength(inputEntry('Service', annotated(text), '5').projection ?? '');

describe('an object is bounded in bytes, as the table counts', () => {
  it('a Service of few characters and many bytes is refused, with its size', () => {
    const text = '語'.repeat(80_000);
    expect(() => bytesOf(text)).toThrow(/its projection has 3\d{5} bytes: at most 262144 are sent/);
  });

  it('the largest Service that is sent fits its item, in a list as in a live message, and its neighbours are applied', async () => {
    const largest = '語'.repeat(Math.floor((256 * 1024 - bytesOf('')) / 3));
    expect(bytesOf(largest)).toBeGreaterThan(256 * 1024 - 3);
    expect(() => bytesOf(`${largest}語`)).toThrow(RangeError);
    const hub = await ingestHub();
    const name = 'n'.repeat(63);
    const sent = (rv: string) => ({
      ...inputEntry('Service', annotated(largest), rv),
      namespace: 's'.repeat(63),
      name,
    });
    const neighbour = entry('Service', 4, service());
    for (const kind of kinds.filter((k) => k !== 'Service')) await hub.ingest(hub.list(kind, 10));
    expect(await hub.ingest(hub.list('Service', 10, neighbour, sent('5')))).toEqual([]);
    expect(await hub.ingest(hub.live('Service', 11, sent('11')))).toEqual([]);
    const meta = await readCluster(hub.table, 'c');
    expect(meta && hasSynced(meta)).toBe(true);
  });

  it('an unreadable object is counted once, by its kind', () => {
    const meter = new Meter();
    const sentIndex = new SentIndex({
      clock: { now: () => 0, monotonic: () => 0, after: () => () => {}, random: () => 0 },
      log: silent,
      meter,
      outputs: 'metadata',
      limits: defaultLimits,
    });
    expect(sentIndex.onListed('Service', annotated('語'.repeat(80_000)), '5', false)).toBeUndefined();
    expect(meter.value('relay_unsendable_total', 'Service')).toBe(1);
  });
});

describe('whole Endpoints, for shadow mode', () => {
  const annotatedEndpoints = (annotation: string) => endpoints([], { annotations: { a: annotation } });
  const whole = (annotation: string) =>
    outputEntry('Endpoints', annotatedEndpoints(annotation), '7', { outputs: 'full' });

  it('whole Endpoints, for shadow mode, are refused above a megabyte of JSON, however well they compress, and go as metadata at any size', () => {
    expect(() => whole('x'.repeat(1_100_000))).toThrow(
      /the whole object has 1\d{6} bytes: at most 1000000 are sent/,
    );
    expect(outputEntry('Endpoints', annotatedEndpoints('x'.repeat(1_100_000)), '7')).toMatchObject({
      namespace: 'ns',
      name: 'svc',
    });
  });

  it('whole Endpoints, for shadow mode, are left out of a list when they do not compress to 256 KiB, which any queue takes', () => {
    const random = randomBytes(225_000).toString('base64');
    const list = {
      header: { v: 1, cluster: 'c', session: 's', uid: 'u', firstListVersion: '1' },
      kind: 'Endpoints',
      asOf: '9',
      listId: 'l',
    } as const;
    const page = [{ key: 'ns/svc', entry: whole(random) }];
    const { bodies, tooLarge } = encodeParts(list, page, { from: '', to: '', first: 0 });
    expect(encodeMessage({ random }).length).toBeGreaterThan(256 * 1024);
    expect(tooLarge).toEqual(['ns/svc']);
    expect(bodies.every((body) => body.length <= 256 * 1024)).toBe(true);
  });
});
