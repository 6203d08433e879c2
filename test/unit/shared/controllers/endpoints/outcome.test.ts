import { describe, expect, it } from 'vitest';
import { endpointsFailure, isLeftoverCandidate } from '#shared/controllers/endpoints/outcome.ts';
import type { ApiFailure } from '#shared/kube/types.ts';
import { endpoints, service } from '#test/unit/shared/kube/objects.ts';

const failure = (status: number, reason?: string, ...causes: string[]): ApiFailure => ({
  status,
  ...(reason && { reason }),
  causes,
  message: 'boom',
});
const create = {
  verb: 'create',
  object: endpoints([], { uid: undefined, resourceVersion: undefined }),
} as const;
const update = { verb: 'update', object: endpoints([]) } as const;
const remove = { verb: 'delete', namespace: 'ns', name: 'svc' } as const;

const gone = { service: undefined, current: endpoints([]) };
const handMade = endpoints([{ addresses: [{ ip: '192.0.2.1' }], ports: [] }], { labels: {} });

describe('a failed delete', () => {
  it('a failed delete is done when there is nothing to delete', () => {
    expect(endpointsFailure(remove, gone, failure(404, 'NotFound'))).toEqual({ retry: false });
  });

  it('a failed delete is done when admission refuses it: hand-made Endpoints are not the writer’s to delete, however often it tries', () => {
    expect(
      endpointsFailure(remove, { service: undefined, current: handMade }, failure(422, 'Invalid')),
    ).toEqual({ retry: false });
  });

  it('a failed delete is tried again without an event, also of Endpoints of the controller that admission refuses once', () => {
    expect(endpointsFailure(remove, gone, failure(422, 'Invalid'))).toEqual({ retry: true });
    expect(endpointsFailure(remove, gone, failure(500))).toEqual({ retry: true });
  });
});

describe('a failed create', () => {
  it('a failed create is dropped without a word in a namespace that goes away', () => {
    expect(
      endpointsFailure(
        create,
        { service: service(), current: undefined },
        failure(403, 'Forbidden', 'NamespaceTerminating'),
      ),
    ).toEqual({
      retry: false,
    });
  });

  it.each([
    ['forbidden for another reason', failure(403, 'Forbidden')],
    ['there already', failure(409, 'AlreadyExists')],
    ['a terminating namespace under another status', failure(409, 'Conflict', 'NamespaceTerminating')],
    ['no connection', failure(0)],
  ])('a failed create is tried again with an event: %s', (_, f) => {
    expect(endpointsFailure(create, { service: service(), current: undefined }, f)).toEqual({
      retry: true,
      event: {
        type: 'Warning',
        reason: 'FailedToCreateEndpoint',
        message: 'Failed to create endpoint for service ns/svc: boom',
        regarding: { kind: 'Endpoints', apiVersion: 'v1', namespace: 'ns', name: 'svc' },
        component: 'endpoint-controller',
      },
    });
  });
});

describe('a failed update', () => {
  it.each([
    ['a conflict', failure(409, 'Conflict')],
    ['forbidden', failure(403, 'Forbidden', 'NamespaceTerminating')],
    ['invalid', failure(422, 'Invalid')],
  ])('a failed update is tried again with an event: %s', (_, f) => {
    expect(endpointsFailure(update, { service: service(), current: update.object }, f)).toEqual({
      retry: true,
      event: {
        type: 'Warning',
        reason: 'FailedToUpdateEndpoint',
        message: 'Failed to update endpoint ns/svc: boom',
        regarding: {
          kind: 'Endpoints',
          apiVersion: 'v1',
          namespace: 'ns',
          name: 'svc',
          uid: 'ep-uid',
          resourceVersion: '1',
        },
        component: 'endpoint-controller',
      },
    });
  });
});

describe('the check for leftovers', () => {
  it('looks at any Endpoints but those of a leader election [UT-5 TestCheckLeftoverEndpoints]', () => {
    expect(isLeftoverCandidate(undefined)).toBe(true);
    expect(isLeftoverCandidate({ other: 'x' })).toBe(true);
    expect(isLeftoverCandidate({ 'control-plane.alpha.kubernetes.io/leader': '' })).toBe(false);
  });
});
