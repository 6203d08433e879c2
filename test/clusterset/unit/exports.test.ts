import { describe, expect, it } from 'vitest';
import { changedConditions, exportConditions } from '#shared/clusterset/exports/conditions.ts';
import { type ExportToCheck, validityOf } from '#shared/clusterset/exports/export-validity.ts';
import { derivedName } from '#shared/clusterset/imports/derived-name.ts';
import { webService } from './fixtures.ts';

const toCheck = (more: Partial<ExportToCheck> = {}): ExportToCheck => ({
  namespace: 'shop',
  name: 'web',
  isDeleting: false,
  service: webService(),
  allowed: ['shop'],
  optsIn: false,
  ...more,
});

const annotated = (text: string) => ({
  metadata: { name: 'web', annotations: { 'fleet-endpoints/selector': text } },
  spec: {},
});

describe('an export', () => {
  it('an export is valid for a Service with a selector in a namespace that the cluster exports (MC-10)', () => {
    expect(validityOf(toCheck())).toMatchObject({ valid: true });
    expect(validityOf(toCheck({ allowed: 'all' }))).toMatchObject({ valid: true });
  });

  it.each<[string, string, Partial<ExportToCheck>]>([
    ['no Service has its name', 'NoService', { service: undefined }],
    [
      'its Service is being deleted',
      'NoService',
      { service: { ...webService(), metadata: { name: 'web', deletionTimestamp: '2026-01-01T00:00:00Z' } } },
    ],
    [
      'its Service is of type ExternalName',
      'InvalidServiceType',
      { service: webService({ type: 'ExternalName' }) },
    ],
    ['the cluster does not export the namespace', 'NotAllowed', { allowed: ['other'] }],
    ['the cluster exports nothing', 'NotAllowed', { allowed: [] }],
    [
      'it is of a system namespace, which all does not mean',
      'NotAllowed',
      { namespace: 'kube-system', allowed: 'all' },
    ],
    [
      'it is of a system namespace, be it named',
      'NotAllowed',
      { namespace: 'default', allowed: ['default'] },
    ],
    [
      'its Service is derived from an import (MC-63)',
      'DerivedService',
      {
        service: {
          ...webService(),
          metadata: { name: 'derived-x', labels: { 'multicluster.kubernetes.io/service-name': 'web' } },
        },
      },
    ],
    [
      'the annotation of its Service is invalid',
      'InvalidAnnotation',
      { service: annotated('app in (web'), optsIn: true },
    ],
    ['the annotation of its Service is empty', 'NoSelector', { service: annotated(''), optsIn: true }],
    ['its Service opts in, and opt-in is off', 'OptInOff', { service: annotated('app=web') }],
    [
      'its Service has no selector, for endpoints by hand are not passed on (MC-63)',
      'NoSelector',
      { service: { metadata: { name: 'web' }, spec: {} } },
    ],
    ['it is being deleted', 'Deleting', { isDeleting: true }],
  ])('an export is not valid where %s', (_, reason, more) => {
    expect(validityOf(toCheck(more))).toMatchObject({ valid: false, reason });
  });

  it('an export may be of a Service that opts in by annotation, where the cluster’s switch is not off', () => {
    expect(validityOf(toCheck({ service: annotated('app=web'), optsIn: true }))).toMatchObject({
      valid: true,
    });
  });

  it('an export of an empty annotation keeps no pods, unlike one of an invalid annotation', () => {
    expect(validityOf(toCheck({ service: annotated(''), optsIn: true }))).not.toHaveProperty('keeps');
    expect(validityOf(toCheck({ service: annotated('app in (a'), optsIn: true }))).toHaveProperty('keeps');
  });

  it('an export contains nothing of a Service in a namespace that is not exported', () => {
    expect(validityOf(toCheck({ allowed: [], service: undefined }))).toMatchObject({ reason: 'NotAllowed' });
  });
});

describe('the conditions of an export', () => {
  const valid = validityOf(toCheck());
  const conflicts = [
    { reason: 'PortConflict', message: 'Ports differ.' },
    { reason: 'TypeConflict', message: 'Types differ.' },
  ] as const;
  const now = '2026-05-05T00:00:00Z';

  it('the conditions of an export are Valid, Ready and NoConflicts if all importers have it', () => {
    expect(
      exportConditions({ validity: valid, conflicts: [] }).map((c) => [c.type, c.status, c.reason]),
    ).toEqual([
      ['Valid', 'True', 'Valid'],
      ['Ready', 'True', 'Exported'],
      ['Conflict', 'False', 'NoConflicts'],
    ]);
  });

  it('the conditions of an export name each conflict, joined by a comma (MC-3, MC-14)', () => {
    const conflict = exportConditions({ validity: valid, conflicts })[2];
    expect(conflict).toEqual({
      type: 'Conflict',
      status: 'True',
      reason: 'PortConflict,TypeConflict',
      message: 'Ports differ. Types differ.',
    });
  });

  it('the conditions of an export have the reason why it is not valid, and no conflict then', () => {
    const said = exportConditions({ validity: validityOf(toCheck({ service: undefined })), conflicts });
    expect(said.map((c) => [c.type, c.status, c.reason])).toEqual([
      ['Valid', 'False', 'NoService'],
      ['Ready', 'False', 'Failed'],
      ['Conflict', 'False', 'NoConflicts'],
    ]);
  });

  it('the conditions of an export report the conflicting import of another implementation (MC-80)', () => {
    const failure = {
      reason: 'ImportNotOurs',
      message: 'cluster a has a ServiceImport of another implementation',
    } as const;
    expect(exportConditions({ validity: valid, conflicts: [], failure })[1]).toEqual({
      type: 'Ready',
      status: 'False',
      ...failure,
    });
  });

  it('the conditions of an export are not written again if they are equal', () => {
    const said = exportConditions({ validity: valid, conflicts });
    const conditions = changedConditions(said, { generation: 1, conditions: undefined }, now);
    expect(conditions).toHaveLength(3);
    expect(changedConditions(said, { generation: 1, conditions }, '2026-06-06T00:00:00Z')).toBeUndefined();
    expect(changedConditions(said, { generation: 2, conditions }, '2026-06-06T00:00:00Z')).toHaveLength(3);
  });

  it('the conditions of an export keep the time of a status that stays, and the conditions of other controllers', () => {
    const foreign = {
      type: 'Accepted',
      status: 'True',
      reason: 'Yes',
      message: '',
      lastTransitionTime: now,
    } as const;
    const before = changedConditions(
      exportConditions({ validity: valid, conflicts: [] }),
      { generation: 1, conditions: [foreign] },
      now,
    );
    const after = changedConditions(
      exportConditions({ validity: valid, conflicts }),
      { generation: 1, conditions: before },
      '2026-06-06T00:00:00Z',
    );
    expect(after?.map((c) => [c.type, c.lastTransitionTime])).toEqual([
      ['Accepted', now],
      ['Valid', now],
      ['Ready', now],
      ['Conflict', '2026-06-06T00:00:00Z'],
    ]);
  });

  it('the conditions of an export have a message that the API takes, however many clusters disagree', () => {
    const long = Array.from(
      { length: 1000 },
      () => ({ reason: 'PortConflict', message: 'x'.repeat(100) }) as const,
    );
    expect(exportConditions({ validity: valid, conflicts: long })[2]?.message.length).toBeLessThan(32_768);
  });
});

describe('the name of a derived Service', () => {
  it.each([
    ['shop', 'web', 'derived-isrlchlhrq'],
    ['default', 'a', 'derived-jrtjc4bta1'],
  ])(
    'the name of a derived Service is that of the reference controllers: %s/%s',
    (namespace, name, expected) => {
      expect(derivedName(namespace, name)).toBe(expected);
    },
  );
});
