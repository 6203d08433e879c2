import type { ServiceState } from '#infra/cli/ask/explain/explanation.ts';
import type { OptInFinding } from '#infra/cli/ask/opt-in/opt-in-point.ts';
import type { ChangeReason } from '#shared/controllers/verdicts/verdict.ts';
import { answers } from '../answer-schemas.ts';
import { code, page, table } from './markdown.ts';

type Meanings<Code extends string> = { readonly [C in Code]: string };

const states: Meanings<ServiceState> = {
  Written: 'are as the hub would write them',
  Pending: 'wait for a run, or a run is in progress',
  Failing: 'wait for another try after a failed run',
  GivenUp: 'are as the last failed run left them; the next change or the resync tries again',
  OutOfDate:
    'are not what the hub would write, and nothing woke it; the next change or the resync repairs them',
  CircuitOpen: 'wait until the cluster answers',
  WriterConflict: 'are not written for some minutes, because another client keeps changing them',
  Same: 'shadow mode: are what the hub would write',
  Comparing: 'shadow mode: are being compared',
  Different: 'shadow mode: differ from what the hub would write',
  HandOver:
    'are served by the previous writer until the next one’s slices serve every ready address on each port',
  NotWritten: 'are not written by the hub; the message has the reason',
  NoWriter:
    'are written by no controller: the Service opts in and the cluster’s opt-in is not active, or its annotation was removed',
  NoSelector: 'are not made from pods, because the Service has no selector',
  InvalidAnnotation: 'are not updated until the annotation is valid',
  DerivedFromImport: 'are those of an import',
  ExternalName: 'do not exist: the Service is an ExternalName',
  ServiceDeleted: 'are deleted with the Service',
};

const reasons: Meanings<ChangeReason> = {
  Ready: 'it is ready',
  NotReady: 'it is not ready',
  PublishedNotReady: 'it is not ready, and the Service publishes such addresses',
  Terminating: 'it is being deleted',
  PodCompleted: 'it has run to its end',
  NoPodIP: 'it has no IP yet',
  NoAddressOfFamily: 'it has no IP of this family',
  NotScheduled: 'it has no node yet',
  NodeUnknown: 'the hub does not know its node',
  NoMatchingPort: 'none of its containers has the target port’s name and protocol',
  NoServicePorts: 'the Service has no ports',
  OverCapacity: 'it is beyond the 1,000 addresses of Endpoints',
  ZoneAway: 'traffic is away from its zone',
  NotSelected: 'the selector does not match it',
  PodDeleted: 'it is gone',
  ServiceDeleted: 'the Service is gone',
  ExternalName: 'the Service is an ExternalName',
  NoSelector: 'the Service has no selector',
  OptIn: 'the Service opts in, so it has no Endpoints object',
  OptedIn: 'the hub became the Service’s writer',
  Withdrawn: 'the hub’s slices were withdrawn',
  HandedBack: 'the built-in controllers became the Service’s writer',
  OtherWriter: 'repairs another client’s change',
  NoFamily: 'the Service lost the address family',
  NoPod: 'an address without a pod',
};

const findings: Meanings<OptInFinding['code']> = {
  Type: 'whether a Service of this type can opt in',
  Annotation:
    'whether the annotation is valid and selects the pods of the selector; for a set-based one, what a hand-back needs',
  Switch: 'whether the cluster’s opt-in is active',
  Hub: 'relay, first lists and circuit of the cluster',
  ZonalShift: 'on EKS: whether the hub follows the cluster’s zonal shifts',
  State:
    'whether the built-in controllers wrote what the hub computes, and whether the Service can be reached',
  Cluster: 'whether the cluster itself could be read, which the next four need',
  SelectorOwner: 'other clients that set the selector again, such as Argo CD',
  ReadinessGates: 'gates of load balancers, which new pods no longer get',
  LoadBalancer: 'TargetGroupBindings of the AWS Load Balancer Controller for the Service',
  OtherWriters: 'Endpoints and slices that stay beside the hub’s slices',
  Exported: 'whether other clusters import the Service; their imports follow the annotation then',
  Headless: 'the families of a headless Service',
  Kubectl: 'what kubectl can’t do with a Service that opts in',
  HubOutage: 'what an outage of the hub means for a Service that opts in',
};

const verdicts: Meanings<OptInFinding['verdict']> = {
  fine: 'nothing to do',
  applies: 'works differently once the Service opts in',
  blocks: 'keep the selector until this is repaired',
  unknown: 'not known yet, or could not be read',
};

const rowsOf = (meanings: Meanings<string>): readonly (readonly string[])[] =>
  Object.entries(meanings).map(([name, meaning]) => [code(name), meaning]);

export const codesPage = (): string =>
  page('Answers for programs', 'infra/package/reference/codes-page.ts', [
    'What `-o json` and `-o yaml` print follows these JSON Schemas, in `dist/schemas` of the package. A `reach` and the code of a cause are explained in [why isn’t my pod an endpoint](../use/why-not-an-endpoint.md).',
    table(
      ['command', 'kind', 'schema'],
      answers.map(({ name, title, description }) => [
        description.replace(/fleet-endpoints .*/, code),
        title,
        code(`${name}.schema.json`),
      ]),
    ),
    '## State of a Service',
    'A Service’s `state` says how its endpoints are:',
    table(['state', 'the endpoints'], rowsOf(states)),
    '## Reason of a pod',
    'The `reason` for a pod’s place in Endpoints or a slice, or of a change in `history`:',
    table(['reason', 'meaning'], rowsOf(reasons)),
    '## Findings of opt-in check',
    table(['code', 'checks'], rowsOf(findings)),
    table(['verdict', 'meaning'], rowsOf(verdicts)),
  ]);
