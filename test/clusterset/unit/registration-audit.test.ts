/** What the audit says of a registration that changes imports or exports. */
import type { CloudFormationCustomResourceEvent } from 'aws-lambda';
import { expect, it } from 'vitest';
import { applyRegistration } from '#functions/register/apply-registration.ts';
import { listAudit } from '#shared/clusters/audit.ts';
import { noMembership } from '#shared/clusterset/contract/clusterset-settings.ts';
import { registrationProperty } from '#shared/contract/registration-property.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';

it('a deploy that changes imports or exports of a cluster leaves an audit record, and another deploy does not', async () => {
  const table = memoryTable();
  const clusterset = {
    ...noMembership,
    set: 'prod',
    imports: 'shadow',
    exports: { namespaces: ['web'], podCidrs: ['10.20.0.0/16'] },
  };
  const deploy = (changed: object, RequestType = 'Update') =>
    applyRegistration(table, {
      RequestType,
      StackId: 'stack',
      PhysicalResourceId: 'shop',
      ResourceProperties: {
        [registrationProperty]: JSON.stringify({ id: 'shop', mode: 'shadow', ...changed }),
      },
    } as unknown as CloudFormationCustomResourceEvent);
  await deploy({}, 'Create');
  await deploy({ clusterset });
  await deploy({ clusterset: { ...clusterset, evictAfterSeconds: 600 } });
  await deploy({});
  expect((await listAudit(table, 'shop')).map((a) => a.what).sort()).toEqual([
    'imports off, exports none → imports shadow, exports web (clusters.yaml)',
    'imports shadow, exports web → imports off, exports none (clusters.yaml)',
  ]);
});
