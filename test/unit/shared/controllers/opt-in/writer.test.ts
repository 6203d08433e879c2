import { describe, expect, it } from 'vitest';
import { withOptInSelector, writerOf } from '#shared/controllers/opt-in/writer.ts';
import { annotationSelector } from '#shared/kube/names.ts';
import { decodeProjection, encodeProjection } from '#shared/kube/projection/projection.ts';
import type { Service } from '#shared/kube/types.ts';
import { service } from '#test/unit/shared/kube/objects.ts';

/** `annotation` undefined: without it. */
function annotated(
  annotation: string | undefined,
  spec: Partial<NonNullable<Service['spec']>> = {},
): Service {
  const { selector: _, ...rest } = service().spec ?? {};
  const plain = service();
  return {
    ...plain,
    metadata: {
      ...plain.metadata,
      ...(annotation !== undefined && { annotations: { [annotationSelector]: annotation } }),
    },
    spec: { ...rest, ...spec },
  };
}

describe('the endpoints of a service', () => {
  it.each([
    [
      'the built-in controllers, for it has a selector',
      annotated(undefined, { selector: { app: 'web' } }),
      { by: 'built-in' },
    ],
    [
      'the built-in controllers, for it has a selector still and is only announced to opt in',
      annotated('app=new', { selector: { app: 'web' } }),
      { by: 'built-in', annotated: { app: 'new' } },
    ],
    [
      'us, for it has the annotation and no selector',
      annotated('app=web'),
      { by: 'opt-in', selector: { app: 'web' } },
    ],
    [
      'us without a change, for its annotation cannot be followed',
      annotated('a in (b'),
      { by: 'invalid-annotation', reason: expect.stringContaining("expected: ',' or ')'") },
    ],
    ['nobody, for it has neither', annotated(undefined), { by: 'no-annotation' }],
    [
      'nobody, for its annotation is empty',
      annotated(' '),
      { by: 'none', reason: expect.stringContaining('is empty') },
    ],
    [
      'nobody, for it is an ExternalName',
      annotated('app=web', { type: 'ExternalName' }),
      { by: 'none', reason: expect.stringContaining('ExternalName') },
    ],
    [
      'nobody, though it has a selector, for it is an ExternalName',
      annotated(undefined, { type: 'ExternalName', selector: { app: 'web' } }),
      { by: 'none' },
    ],
  ])('the endpoints of a service are written by %s', (_, s, writer) => {
    expect(writerOf(s)).toMatchObject(writer);
  });

  it('come from the selector of the annotation as from one of its own, in a cluster that has it switched on', () => {
    const s = annotated('app=web');
    expect(withOptInSelector(s, 'active')).toEqual({ ...s, spec: { ...s.spec, selector: { app: 'web' } } });
    expect(withOptInSelector(s, 'shadow').spec?.selector).toEqual({ app: 'web' });
    expect(withOptInSelector(s, 'off')).toBe(s);
  });

  it.each([
    ['a selector of its own', annotated('app=new', { selector: { app: 'web' } })],
    ['an annotation that cannot be followed', annotated('app=a=b')],
    ['no annotation', annotated(undefined)],
    ['an empty annotation', annotated('')],
    ['the type ExternalName', annotated('app=web', { type: 'ExternalName' })],
  ])('the endpoints of a service are as they were with %s', (_, s) => {
    expect(withOptInSelector(s, 'active')).toBe(s);
  });
});

describe('the projection of a service', () => {
  it('carries the annotation out of the cluster', () => {
    const s = decodeProjection('Service', 'ns', 'svc', encodeProjection('Service', annotated('app=web')));
    expect(writerOf(s)).toMatchObject({ by: 'opt-in', selector: { app: 'web' } });
  });

  it('the projection of a service of the version before, which knew no such annotation, is read', () => {
    const before =
      '["svc-uid",1514764800,{"a":"b"},{},0,{"clusterIP":"10.0.0.1","ipFamilies":["IPv4"],"ports":[{"port":80}]}]';
    expect(writerOf(decodeProjection('Service', 'ns', 'svc', before))).toMatchObject({ by: 'no-annotation' });
  });
});
