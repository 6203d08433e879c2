/** The door of services across clusters (docs/use/clusterset.md): their part of a cluster's record and wake-ups. */

import type { ClusterRecord } from './clusters/record.ts';
import { setRegistration } from './clusterset/membership/registered-membership.ts';
import { memberWakeUps } from './clusterset/wake-ups/member-wake-ups.ts';
import type { Item, Table, Value } from './store/table.ts';
import type { WakeUp } from './workqueue/rules/message.ts';

type Attributes = { readonly [attribute: string]: Value };

export interface RegistrationPart {
  /**
   * The attributes of a registration in the cluster's record. `known` is its record before, `given` the part
   * of the registration. `isChanged`: every service is to be woken.
   */
  readonly register: (
    table: Table,
    cluster: string,
    change: { readonly known: Item | undefined; readonly given: object | undefined },
  ) => Promise<{ readonly attributes: Attributes; readonly isChanged: boolean }>;
  /** The attributes that a cluster keeps when it is registered again after a rebuild. */
  readonly kept: (former: Item) => Attributes;
  /** Its switches as text, for the audit of registrations. */
  readonly switchesText: (cluster: ClusterRecord | undefined) => string;
}

export const registrationParts: readonly RegistrationPart[] = [setRegistration];

/** Wake-ups of a cluster besides those of its services, after a switch and with each resync. */
export type MoreWakeUps = (
  table: Table,
  cluster: ClusterRecord,
  options?: { readonly isResync?: boolean },
) => Promise<readonly WakeUp[]>;

export const moreWakeUps: readonly MoreWakeUps[] = [memberWakeUps];
