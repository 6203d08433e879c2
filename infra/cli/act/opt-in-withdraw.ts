/**
 * `opt-in CLUSTER off --withdraw`: sync deletes the slices of Services that opt in, and the switch is off
 * when they are gone.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { readServices } from '#infra/cli/ask/lists/list-services.ts';
import { hasOptInSlices, keyOf, servicesWhere } from '#infra/cli/ask/opt-in/opt-in-slices.ts';
import { counted, listedNames } from '#infra/cli/terminal/counted.ts';
import { say } from '#infra/cli/terminal/printable.ts';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import type { ModeSwitch } from '#shared/clusters/writer/mode.ts';
import { isWoken, withdrawOptIn } from '#shared/clusters/writer/mode-switch.ts';
import { withoutEquivalent } from '#shared/controllers/opt-in/selector.ts';
import { type Writer, writerOf } from '#shared/controllers/opt-in/writer.ts';
import { isSetBased } from '#shared/kube/selectors/label-selector.ts';
import type { Service } from '#shared/kube/types.ts';
import type { Table } from '#shared/store/table.ts';
import { readWork } from '#shared/workqueue/item-store.ts';
import { isClean } from '#shared/workqueue/rules/item.ts';

export interface Withdrawal {
  /** Also where Services would be left without endpoints. */
  readonly override: boolean;
  readonly waitMs: number;
  readonly note: (what: string) => Promise<void>;
  readonly wake: () => Promise<string>;
}

const lookEveryMs = 1000;

export async function withdraw(
  { table, now }: { readonly table: Table; readonly now: () => number },
  { id, mode, optIn, relay }: ClusterRecord,
  { override, waitMs, note, wake }: Withdrawal,
): Promise<void> {
  if (mode !== 'active' && mode !== 'shadow')
    throw new UsageError(`${id} is ${mode}, so it has no runs: switch it to shadow or active first`);
  const services = await readServices(table, id);
  const withdrawn = await servicesWhere(services, (service) => hasOptInSlices(table, id, service));
  const alone = services.filter((service) => !hasOtherEnd.includes(writerOf(service).by));
  const unserved = withdrawn.filter((service) => alone.includes(service));
  const orphans = unserved.map(nameOf);
  if (orphans.length > 0 && !override) {
    throw new UsageError(
      `${id} stays opt-in ${optIn}: ${orphans.length} services have no selector, and would be left without endpoints: ${listedNames(orphans)}. Add their selectors first, or use --override${setBasedNote(unserved)}`,
    );
  }
  // While the switch is off, a rebuild forgets the slices of the hub. Runs of a withdrawal find them in the
  // cluster.
  const { sliced = 0 } = relay.annotated ?? {};
  if (sliced > withdrawn.length && alone.length > orphans.length && !override) {
    throw new UsageError(
      `${id} stays opt-in ${optIn}: its relay counts ${counted(sliced, 'Service')} with slices of the hub, whose records have ${withdrawn.length}: others may be left without endpoints. Switch it to opt-in active first, so that the hub reads these slices, or use --override. The relay counts again within half a minute`,
    );
  }
  if (!(await withdrawOptIn(table, id, now())))
    throw new UsageError(`${id} was paused or deregistered meanwhile`);
  await note(
    `slices of ${counted(withdrawn.length, 'Service')} withdrawn${orphans.length > 0 ? ` with --override: ${listedNames(orphans)}` : ''}`,
  );
  say(`${id}  slices of ${counted(withdrawn.length, 'Service')} are being deleted, ${await wake()}`);
  const end = now() + waitMs;
  // A run that began before the switch may still write. Services that opt in are therefore checked until a
  // run has followed the switch.
  let left: readonly Service[] = services.filter(
    (service) => withdrawn.includes(service) || writerOf(service).by === 'opt-in',
  );
  for (;;) {
    const modeSwitch = (await readCluster(table, id))?.modeSwitch;
    const isDone = async (service: Service): Promise<boolean> =>
      modeSwitch !== undefined &&
      isWokenFor(modeSwitch, service) &&
      (await isRun(table, id, service)) &&
      !(await hasOptInSlices(table, id, service));
    left = await servicesWhere(left, async (service) => !(await isDone(service)));
    if (left.length === 0) break;
    if (now() >= end) {
      throw new Error(
        `${id} stays withdrawing: ${left.length} services have slices of ours, or have not run, after ${waitMs / 1000} s: ${listedNames(left.map(nameOf))}. Repeat the command to continue waiting, or run opt-in ${id} active to cancel it`,
      );
    }
    await sleep(lookEveryMs);
  }
  say(`${id}  all are deleted`);
}

/** What `Add their selectors` means for Services whose annotation a selector cannot replace. */
function setBasedNote(services: readonly Service[]): string {
  const names = services.filter(hasSetBasedAnnotation).map(nameOf);
  return names.length > 0 ? `. ${listedNames(names)}: ${withoutEquivalent}` : '';
}

function hasSetBasedAnnotation(service: Service): boolean {
  const writer = writerOf(service);
  return writer.by === 'opt-in' && isSetBased(writer.selector);
}

const nameOf = ({ metadata: { namespace, name } }: Service): string => `${namespace}/${name}`;

/**
 * The built-in controllers serve the Service, or it is to have no endpoints (an ExternalName, an empty
 * annotation).
 */
const hasOtherEnd: readonly Writer['by'][] = ['built-in', 'none'];

const isWokenFor = (modeSwitch: ModeSwitch, { metadata: { namespace = '', name } }: Service): boolean =>
  isWoken(modeSwitch, { namespace, kind: 'service', name });

const isRun = async (table: Table, cluster: string, service: Service): Promise<boolean> =>
  isClean(await readWork(table, { ...keyOf(cluster, service), kind: 'service' }));
