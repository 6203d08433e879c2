/** Building blocks of the writer's admission policies: CEL expressions, and a policy with its binding. */
import type { Manifest } from './manifest-yaml.ts';
import { writerGroup, writerServiceAccount } from './relay-names.ts';

export interface Rule {
  readonly expression: string;
  readonly message: string;
}

export interface Named {
  readonly name: string;
  readonly expression: string;
}

/** CEL for the map's entry, or "" if the key is absent. */
const entryOf = (map: string, key: string): string =>
  `(has(${map}) && '${key}' in ${map} ? ${map}['${key}'] : '')`;
export const labelOf = (it: string, key: string): string => entryOf(`${it}.metadata.labels`, key);
export const annotationOf = (it: string, key: string): string => entryOf(`${it}.metadata.annotations`, key);

export const onWrite = (expression: string): string => `request.operation == 'DELETE' || (${expression})`;
export const onUpdate = (expression: string): string => `request.operation != 'UPDATE' || (${expression})`;
/** Applies the expression to the former object of an update or a deletion. */
export const onOld = (expression: string): string => `request.operation == 'CREATE' || (${expression})`;
/** The new object, or the object to be deleted. */
const target: Named = { name: 'target', expression: "request.operation == 'DELETE' ? oldObject : object" };

/**
 * Finalizers and owners could block the deletion of other objects. The writer may keep the entries of other
 * clients.
 */
export const addsNo = (list: 'finalizers' | 'ownerReferences', allowed = 'false'): string => {
  const wasThere = `request.operation == 'UPDATE' && has(oldObject.metadata.${list}) && x in oldObject.metadata.${list}`;
  return onWrite(
    `!has(object.metadata.${list}) || object.metadata.${list}.all(x, ${allowed} || (${wasThere}))`,
  );
};
export const noFinalizers: Rule = {
  expression: addsNo('finalizers'),
  message: 'the writer adds no finalizers',
};

export interface Policy {
  readonly name: string;
  readonly kinds: readonly { readonly apiGroups: readonly string[]; readonly resources: readonly string[] }[];
  readonly validations: readonly Rule[];
  /** Match conditions in addition to the writer's identity. */
  readonly conditions?: readonly Named[];
  readonly variables?: readonly Named[];
  readonly paramKind?: object;
  /** When the policy itself can't be applied. Its rules deny all the same. */
  readonly failurePolicy?: 'Fail' | 'Ignore';
}

export function policy(
  namespace: string,
  { name, kinds, validations, conditions = [], variables = [], paramKind, failurePolicy = 'Fail' }: Policy,
  paramRef?: object,
): readonly Manifest[] {
  const isWriter = `'${writerGroup}' in request.userInfo.groups || request.userInfo.username == 'system:serviceaccount:${namespace}:${writerServiceAccount}'`;
  return [
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name },
      spec: {
        failurePolicy,
        ...(paramKind && { paramKind }),
        matchConstraints: {
          resourceRules: kinds.map((kind) => ({
            ...kind,
            apiVersions: ['*'],
            operations: ['CREATE', 'UPDATE', 'DELETE'],
          })),
        },
        matchConditions: [{ name: 'writer', expression: isWriter }, ...conditions],
        variables: [target, ...variables],
        validations,
      },
    },
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name },
      spec: { policyName: name, validationActions: ['Deny'], ...(paramRef && { paramRef }) },
    },
  ];
}
