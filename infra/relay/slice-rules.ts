/**
 * Rules for every slice of the writer: slices in place of the built-in controllers, of Services that opt in,
 * and of imports.
 */
import { labelServiceName, labelSliceManagedBy } from '#shared/kube/names.ts';
import { addsNo, labelOf, noFinalizers, onUpdate, onWrite, type Rule } from './admission-policy.ts';

export const slices = { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'] };

export const manager = (it: string): string => labelOf(it, labelSliceManagedBy);
export const serviceOf = (it: string): string => labelOf(it, labelServiceName);
const isTheService = `(x.apiVersion == 'v1' && x.kind == 'Service' && x.name == ${serviceOf('object')})`;

export const staysWithItsService: Rule = {
  expression: onUpdate(`${serviceOf('object')} == ${serviceOf('oldObject')}`),
  message: 'the writer does not move a slice to another Service',
};

export const ofAService: readonly Rule[] = [
  {
    expression: onWrite(
      `has(object.metadata.ownerReferences) && object.metadata.ownerReferences.exists(x, ${isTheService})`,
    ),
    message: 'a slice of the writer’s belongs to the Service that its label names',
  },
  {
    expression: addsNo('ownerReferences', isTheService),
    message: 'the writer adds no owner but the Service',
  },
  noFinalizers,
  {
    expression: onWrite("object.addressType in ['IPv4', 'IPv6']"),
    message: 'the writer writes slices of IP addresses only',
  },
];

/** `isRight`: of an endpoint `e`. A slice without endpoints may have null for them. */
export const allEndpoints = (isRight: string): string =>
  onWrite(`!has(object.endpoints) || dyn(object.endpoints) == null || object.endpoints.all(e, ${isRight})`);
