/** `hand-back`: plans, asks, does it Service by Service, and prints what happens. */
import { counted } from '#infra/cli/terminal/counted.ts';
import { say } from '#infra/cli/terminal/printable.ts';
import { isConflict } from '#shared/clusters/api/errors.ts';
import type { ClusterApi } from '#shared/clusters/api/port.ts';
import { concurrently } from '#shared/concurrently.ts';
import { labelServiceName, labelSliceManagedBy, optInManagedBy } from '#shared/kube/names.ts';
import type { Service } from '#shared/kube/types.ts';
import {
  appliedBy,
  type HandBackDeps,
  handBack,
  nameOf,
  type Plan,
  planHandBack,
  planUndo,
  type Step,
  undo,
} from './hand-back.ts';

export interface HandBackChoice {
  /** Of the kubeconfig, for the lines. */
  readonly context: string;
  readonly only: { readonly namespace: string; readonly name: string } | undefined;
  readonly namespace: string | undefined;
  readonly undo: boolean;
  readonly dryRun: boolean;
  /** Rejects unless the person agrees. */
  readonly confirm: (question: string) => Promise<void>;
}

/** Services at a time: each one waits for the built-in controllers, which take them one after the other. */
const atOnce = 10;

/** Resolves to false if a Service needs a person: it was refused, or has slices of the hub left. */
export async function handBackServices(deps: HandBackDeps, choice: HandBackChoice): Promise<boolean> {
  const { context } = choice;
  const services = await servicesOf(deps.api, choice);
  const plan = choice.undo
    ? planUndo(services)
    : planHandBack(services, new Date(deps.now()), await withSlices(deps.api, choice));
  for (const line of planLines(plan, choice)) say(`${context}  ${line}`);
  if (choice.dryRun || plan.steps.length === 0) return plan.refused.length === 0;
  await choice.confirm(`${question(choice, plan)} in ${context}?`);
  const troubles = await concurrently(atOnce, plan.steps, async (step) => {
    const trouble = await (choice.undo ? undo(deps, step) : handBack(deps, step)).catch(troubleOf);
    say(
      `${context}  ${nameOf(step.service)} ${trouble ?? (choice.undo ? 'has no selector any more: the hub writes it' : 'is handed back')}`,
    );
    return trouble;
  });
  return plan.refused.length === 0 && troubles.every((trouble) => trouble === undefined);
}

const question = ({ undo: isUndo }: HandBackChoice, { steps }: Plan): string =>
  isUndo
    ? `Remove the selector of ${counted(steps.length, 'Service')}`
    : `Hand ${counted(steps.length, 'Service')} back to the built-in controllers`;

async function servicesOf(api: ClusterApi, { only, namespace }: HandBackChoice): Promise<readonly Service[]> {
  if (!only) return (await api.list('Service', namespace ?? '')).items;
  const service = await api.get('Service', only.namespace, only.name);
  if (!service) throw new Error(`the cluster has no Service ${only.namespace}/${only.name}`);
  return [service];
}

/** Names of the Services that have slices of the hub. */
async function withSlices(
  api: ClusterApi,
  { only, namespace }: HandBackChoice,
): Promise<ReadonlySet<string>> {
  const { items } = await api.list('EndpointSlice', only?.namespace ?? namespace ?? '', {
    labels: { [labelSliceManagedBy]: optInManagedBy },
    keep: ({ metadata }) => `${metadata.namespace}/${metadata.labels?.[labelServiceName]}`,
  });
  return new Set(items);
}

function planLines({ steps, refused }: Plan, { undo: isUndo }: HandBackChoice): readonly string[] {
  if (steps.length + refused.length === 0)
    return [
      isUndo
        ? 'no Service has a selector that hand-back added'
        : 'no Service to hand back: each one with the annotation has its selector',
    ];
  return [
    ...refused.map(({ name, reason }) => `${name} stays as it is: ${reason}`),
    ...steps.flatMap((step) => [`${nameOf(step.service)} ${step.text}`, ...warningOf(step)]),
  ];
}

function warningOf({ service }: Step): readonly string[] {
  const owner = appliedBy(service);
  return owner === undefined
    ? []
    : [
        `${nameOf(service)} is applied by ${owner}: pause its sync or commit the change there, or it is undone`,
      ];
}

const troubleOf = (error: Error): string =>
  isConflict(error)
    ? 'has changed since it was read: repeat the command'
    : `is not done: ${error.message}; repeat the command to go on`;
