import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import type { Status } from '#shared/kube/types.ts';
import { detailsOf, type NamedBy, qualified, type StoreKind } from './api-kinds.ts';

type Details = NonNullable<Status['details']>;
export type FieldError = Required<NonNullable<Details['causes']>[number]>;

/** A failed request, as the error of a client and as the Status of the response. */
export class Refusal extends ClusterApiError {
  readonly body: Status;

  constructor(code: number, reason: string | undefined, message: string, details?: Details) {
    const causes = (details?.causes ?? []).flatMap((c) => c.reason ?? []);
    const fields = (details?.causes ?? []).flatMap((c) => c.field ?? []);
    super(message, {
      status: code,
      ...(reason && { reason }),
      causes,
      fields,
      retryAfterSeconds: details?.retryAfterSeconds,
    });
    this.body = { ...failure, message, ...(reason && { reason }), ...(details && { details }), code };
  }
}

const failure = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure' };

export const badRequest = (message: string): Refusal => new Refusal(400, 'BadRequest', message);

const messageOf = (kind: StoreKind, name: string, text: string): string =>
  `${qualified(kind, 'resource')} "${name}" ${text}`;
export const notFound = (kind: StoreKind, name: string): Refusal =>
  new Refusal(404, 'NotFound', messageOf(kind, name, 'not found'), detailsOf(kind, name));
export const alreadyExists = (kind: StoreKind, name: string): Refusal =>
  new Refusal(409, 'AlreadyExists', messageOf(kind, name, 'already exists'), detailsOf(kind, name));

export const conflict = (kind: StoreKind, name: string, why: string, by: NamedBy = 'resource'): Refusal =>
  new Refusal(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${qualified(kind, by)} "${name}": ${why}`,
    detailsOf(kind, name, by),
  );

export function invalid(kind: StoreKind, name: string, causes: FieldError[]): Refusal {
  const texts = causes.map((c) => `${c.field}: ${c.message}`).join(', ');
  const message = `${qualified(kind, 'kind')} "${name}" is invalid: ${causes.length === 1 ? texts : `[${texts}]`}`;
  return new Refusal(422, 'Invalid', message, { ...detailsOf(kind, name, 'kind'), causes });
}

export function terminating(kind: StoreKind, name: string, namespace: string): Refusal {
  const resource = qualified(kind, 'resource');
  const message = `${resource} "${name}" is forbidden: unable to create new content in namespace ${namespace} because it is being terminated`;
  const cause = {
    reason: 'NamespaceTerminating',
    message: `namespace ${namespace} is being terminated`,
    field: 'metadata.namespace',
  };
  return new Refusal(403, 'Forbidden', message, { ...detailsOf(kind, name), causes: [cause] });
}
