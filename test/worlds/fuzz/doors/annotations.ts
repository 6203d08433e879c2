/**
 * Annotations, which any tenant writes: a selector, a wish for locality, a topology mode. Each is followed,
 * or refused with a reason.
 */
import fc from 'fast-check';
import { askedLocality, localityText } from '#shared/clusterset/imports/locality.ts';
import { parseSelector } from '#shared/controllers/opt-in/selector.ts';
import { withAnnotatedSelector, withOptInSelector, writerOf } from '#shared/controllers/opt-in/writer.ts';
import type { ServiceExport } from '#shared/kube/mcs-types.ts';
import { annotationMinLocal, annotationPrefer, annotationSelector } from '#shared/kube/names.ts';
import { project } from '#shared/kube/projection/projection.ts';
import { requirementsOf, selectorText } from '#shared/kube/selectors/label-selector.ts';
import type { Service } from '#shared/kube/types.ts';
import { type Door, ensure } from '../door.ts';
import { hostileText, someLabels } from '../hostile.ts';

const part = fc.oneof(
  fc.constantFrom(
    'app',
    'web',
    'a.example.com/app',
    '-a',
    'a-',
    'A_b.c',
    ' web ',
    '',
    'x'.repeat(64),
    `${'a'.repeat(254)}/b`,
  ),
  hostileText,
);
const pair = fc
  .tuple(part, fc.constantFrom('=', '=', '=', '==', '!=', '<', '>', ' in ', ''), part)
  .map((parts) => parts.join(''));
const set = fc
  .tuple(part, fc.constantFrom('in', 'notin'), fc.array(part, { maxLength: 300 }))
  .map(([key, operator, values]) => `${key} ${operator} (${values.join(',')})`);
const requirement = fc.oneof(
  { weight: 3, arbitrary: pair },
  set,
  part.map((key) => `!${key}`),
);
const selector = fc.oneof(
  { weight: 5, arbitrary: fc.array(requirement, { maxLength: 18 }).map((all) => all.join(',')) },
  { weight: 2, arbitrary: hostileText },
);
const share = fc.oneof(
  fc.constantFrom('1%', '100%', '101%', '0%', '050%', '50', '50 %', '1e2%'),
  hostileText,
);

interface Annotated {
  readonly selector: string;
  readonly prefer: string;
  readonly minLocal: string;
  readonly own: { readonly [key: string]: string } | undefined;
}

const maxReasonLength = 601;

function checkSelector(text: string): void {
  const parsed = parseSelector(text);
  if (parsed.selector === undefined) {
    ensure(
      /\w{2}/.test(parsed.error) && parsed.error.length <= maxReasonLength,
      `a selector is refused because of ${parsed.error}`,
    );
    return;
  }
  const requirements = requirementsOf(parsed.selector);
  ensure(
    requirements.length >= 1 && requirements.length <= 16,
    `a selector has ${requirements.length} requirements`,
  );
  for (const { key, values } of requirements)
    ensure(
      /^[-A-Za-z0-9_./]{1,317}$/.test(key) && values.every((value) => /^[-A-Za-z0-9_.]{0,63}$/.test(value)),
      `a selector has ${key} and ${values.join()}`,
    );
  const again = parseSelector(selectorText(parsed.selector));
  ensure(
    JSON.stringify(again.selector) === JSON.stringify(parsed.selector),
    'a selector is read otherwise when it is written again',
  );
}

function checkWriter({ selector: text, own }: Annotated): void {
  const service: Service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', namespace: 'shop', annotations: { [annotationSelector]: text } },
    spec: own ? { selector: own } : {},
  };
  const writer = writerOf(service);
  ensure(
    writer.reason.length <= 2 * maxReasonLength,
    `a writer has a reason of ${writer.reason.length} characters`,
  );
  ensure(
    JSON.stringify(writerOf(project('Service', service))) === JSON.stringify(writer),
    'the hub finds another writer than the cluster',
  );
  if (writer.by === 'invalid-annotation')
    ensure(
      withOptInSelector(service, 'active') === service,
      'a Service with an annotation that cannot be followed gets a selector',
    );
  withAnnotatedSelector(service);
}

function checkLocality({ prefer, minLocal }: Annotated): void {
  const annotations = { [annotationPrefer]: prefer, [annotationMinLocal]: minLocal };
  const { locality, problems } = askedLocality(annotations);
  const { minLocal: percent = 1 } = locality ?? {};
  ensure(Number.isInteger(percent) && percent >= 1 && percent <= 100, `a share of ${percent}`);
  for (const problem of problems)
    ensure(
      problem.length <= 1_000 || problem.length <= minLocal.length + prefer.length + 400,
      `a problem of ${problem.length} characters`,
    );
  localityText(locality);
  const exported: ServiceExport = {
    apiVersion: 'multicluster.x-k8s.io/v1beta1',
    kind: 'ServiceExport',
    metadata: { name: 'web', namespace: 'shop', annotations },
  };
  const projected = askedLocality(project('ServiceExport', exported).metadata.annotations);
  ensure(
    JSON.stringify(projected.locality) === JSON.stringify(locality),
    'the hub finds another locality than the cluster',
  );
}

export const annotations: Door<Annotated> = {
  name: 'annotations',
  cases: 500,
  values: fc.record({
    selector,
    prefer: fc.oneof(fc.constantFrom('local', 'zone', 'any', 'Local'), hostileText),
    minLocal: share,
    own: fc.option(someLabels, { nil: undefined }),
  }),
  check(value) {
    checkSelector(value.selector);
    checkWriter(value);
    checkLocality(value);
  },
};
