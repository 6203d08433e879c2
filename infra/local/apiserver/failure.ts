import { ClusterApiError } from '#shared/cluster/errors.ts';
import type { Status } from '#shared/kube/types.ts';
import { detailsOf, kindName, resourceName, type StoreKind } from './kinds.ts';

/** A refusal, both as the error that a client would make of it and as the Status that goes over the wire. */
export class Refusal extends ClusterApiError {
  readonly body: Status;

  constructor(code: number, reason: string | undefined, message: string, details?: NonNullable<Status['details']>) {
    super(message, {
      status: code,
      ...(reason && { reason }),
      causes: (details?.causes ?? []).flatMap((c) => c.reason ?? []),
      retryAfterSeconds: details?.retryAfterSeconds,
    });
    this.body = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message,
      ...(reason && { reason }),
      ...(details && { details }),
      code,
    };
  }
}

export type FieldError = Required<StatusCause>;
type StatusCause = NonNullable<NonNullable<Status['details']>['causes']>[number];

export const badRequest = (message: string): Refusal => new Refusal(400, 'BadRequest', message);

export const notFound = (kind: StoreKind, name: string): Refusal =>
  new Refusal(404, 'NotFound', `${resourceName(kind)} "${name}" not found`, detailsOf(kind, name));

export const alreadyExists = (kind: StoreKind, name: string): Refusal =>
  new Refusal(409, 'AlreadyExists', `${resourceName(kind)} "${name}" already exists`, detailsOf(kind, name));

export function conflict(kind: StoreKind, name: string, why: string, by: 'resource' | 'kind' = 'resource'): Refusal {
  const on = by === 'kind' ? kindName(kind) : resourceName(kind);
  return new Refusal(409, 'Conflict', `Operation cannot be fulfilled on ${on} "${name}": ${why}`, detailsOf(kind, name, by));
}

export const modified = (kind: StoreKind, name: string): Refusal =>
  conflict(kind, name, 'the object has been modified; please apply your changes to the latest version and try again');

export function invalid(kind: StoreKind, name: string, errors: readonly FieldError[]): Refusal {
  const texts = errors.map((e) => `${e.field}: ${e.message}`);
  const text = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
  return new Refusal(422, 'Invalid', `${kindName(kind)} "${name}" is invalid: ${text}`, { ...detailsOf(kind, name, 'kind'), causes: [...errors] });
}

export function terminating(kind: StoreKind, name: string, namespace: string): Refusal {
  const message = `${resourceName(kind)} "${name}" is forbidden: unable to create new content in namespace ${namespace} because it is being terminated`;
  const cause = { reason: 'NamespaceTerminating', message: `namespace ${namespace} is being terminated`, field: 'metadata.namespace' };
  return new Refusal(403, 'Forbidden', message, { ...detailsOf(kind, name), causes: [cause] });
}

export const expired = (message: string): Refusal => new Refusal(410, 'Expired', message);
