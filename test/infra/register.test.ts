import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CloudFormationCustomResourceEvent } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { answer } from '#functions/register/answer.ts';
import { applyRegistration } from '#functions/register/apply-registration.ts';
import { listAudit } from '#shared/clusters/audit.ts';
import { clusterOfQueue, listClusters, readCluster } from '#shared/clusters/record.ts';
import { purgingUntil } from '#shared/clusters/registration.ts';
import { switchMode } from '#shared/clusters/writer/mode-switch.ts';
import { registrationProperty } from '#shared/contract/registration-property.ts';
import { accessKey, metaKey, queueKey } from '#shared/store/keys.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';

const registration = {
  id: 'shop',
  mode: 'shadow',
  settings: { batchPeriodSeconds: 1, maxEndpointsPerSlice: 100, controllers: ['endpoints', 'slices'] },
  queues: {
    events: 'https://events',
    syncs: 'https://syncs',
    parked: 'https://parked',
    quarantine: 'https://quarantine',
  },
  eventsArn: 'arn:events',
  syncsArn: 'arn:syncs',
  api: { url: 'https://shop.example.com', auth: { type: 'web-identity', audience: 'shop' } },
};

const event = (RequestType: string, rest: object = {}, ResponseURL = ''): CloudFormationCustomResourceEvent =>
  ({
    RequestType,
    ResponseURL,
    StackId: 'stack',
    RequestId: 'request',
    LogicalResourceId: 'Cluster',
    PhysicalResourceId: 'shop',
    ResourceProperties: { ServiceToken: 'token', [registrationProperty]: JSON.stringify(registration) },
    ...rest,
  }) as unknown as CloudFormationCustomResourceEvent;

describe('registering a cluster', () => {
  it('register writes all facts that the functions need', async () => {
    const table = memoryTable();
    expect(await applyRegistration(table, event('Create'))).toBe('shop');
    const { id, mode, settings, queues, api } = registration;
    expect(await readCluster(table, 'shop')).toMatchObject({ id, mode, settings, queues, api });
    expect(Object.keys((await table.get(metaKey('shop'))) ?? {})).not.toEqual(
      expect.arrayContaining(['queues']),
    );
    expect(await listClusters(table)).toEqual(['shop']);
    expect(await clusterOfQueue(table, 'arn:events')).toBe('shop');
  });

  it('the addresses and credentials of a cluster are read only from its access record, which ingest cannot write', async () => {
    const table = memoryTable();
    await applyRegistration(table, event('Create'));
    const stolen = { url: 'https://attacker.example.com', auth: { type: 'secret', secretArn: 'arn:stolen' } };
    await table.update(metaKey('shop'), {
      set: { api: JSON.stringify(stolen), queues: JSON.stringify({ events: 'https://attacker' }) },
    });
    expect(await readCluster(table, 'shop')).toMatchObject({
      api: registration.api,
      queues: registration.queues,
    });
    const { api: _, ...watched } = registration;
    await applyRegistration(
      table,
      event('Update', { ResourceProperties: { [registrationProperty]: JSON.stringify(watched) } }),
    );
    await table.update(metaKey('shop'), { set: { api: JSON.stringify(stolen) } });
    expect((await readCluster(table, 'shop'))?.api).toBeUndefined();
  });

  it('gives up every queue that was ever its own when it is taken out, and none of another cluster', async () => {
    const table = memoryTable();
    await applyRegistration(table, event('Create'));
    const replaced = { ...registration, eventsArn: 'arn:named-events', syncsArn: 'arn:named-syncs' };
    await applyRegistration(
      table,
      event('Update', { ResourceProperties: { [registrationProperty]: JSON.stringify(replaced) } }),
    );
    for (const arn of ['arn:events', 'arn:named-events'])
      expect(await clusterOfQueue(table, arn)).toBe('shop');
    await table.put({ ...queueKey('arn:syncs'), cluster: 'another' });
    await applyRegistration(table, event('Delete'));
    for (const arn of ['arn:events', 'arn:named-events', 'arn:named-syncs'])
      expect(await clusterOfQueue(table, arn)).toBeUndefined();
    expect(await clusterOfQueue(table, 'arn:syncs')).toBe('another');
    expect(await table.get(accessKey('shop'))).toBeUndefined();
  });

  it('again, with other settings, leaves the mode as it was switched by hand', async () => {
    const table = memoryTable();
    await applyRegistration(table, event('Create'));
    await switchMode(table, 'shop', 'paused', Date.now());
    const changed = { ...registration, settings: { ...registration.settings, batchPeriodSeconds: 5 } };
    await applyRegistration(
      table,
      event('Update', { ResourceProperties: { [registrationProperty]: JSON.stringify(changed) } }),
    );
    expect(await readCluster(table, 'shop')).toMatchObject({
      mode: 'paused',
      settings: { batchPeriodSeconds: 5 },
    });
  });

  it('drains the cluster when it is taken out, and forgets nothing', async () => {
    const table = memoryTable();
    await applyRegistration(table, event('Create'));
    await applyRegistration(table, event('Delete'));
    expect(await readCluster(table, 'shop')).toMatchObject({
      mode: 'draining',
      settings: registration.settings,
    });
    expect(await listClusters(table)).toEqual(['shop']);
    expect(await listAudit(table, 'shop')).toMatchObject([
      { who: 'CloudFormation, stack', what: expect.stringContaining('draining') },
    ]);
  });

  it('a cluster that is added again is registered once its purge has ended', async () => {
    const table = memoryTable();
    await applyRegistration(table, event('Create'));
    await applyRegistration(table, event('Delete'));
    await table.update(metaKey('shop'), { set: { [purgingUntil]: Date.now() + 60_000 } });
    const waits: number[] = [];
    await applyRegistration(table, event('Create'), async (ms) => {
      waits.push(ms);
      if (waits.length === 3) await table.update(metaKey('shop'), { set: { [purgingUntil]: 0 } });
    });
    expect(waits).toEqual([5000, 5000, 5000]);
    expect(await readCluster(table, 'shop')).toMatchObject({ mode: 'shadow', incarnation: 2 });
    expect((await listAudit(table, 'shop')).at(-1)?.what).toBe('draining → shadow (added again)');
  });

  it('finds nothing to drain where nothing was registered', async () => {
    const table = memoryTable();
    await applyRegistration(table, event('Delete', { PhysicalResourceId: 'not-registered' }));
    expect(await readCluster(table, 'not-registered')).toBeUndefined();
  });
});

describe('the answer to CloudFormation', () => {
  async function answered(
    work: () => Promise<string>,
    request = 'Create',
  ): Promise<{ body: object; contentType: string | undefined }> {
    let seen: { body: object; contentType: string | undefined } | undefined;
    const server = createServer(async (req, res) => {
      const chunks: Buffer[] = [];
      for await (const chunk of req) chunks.push(chunk as Buffer);
      seen = { body: JSON.parse(Buffer.concat(chunks).toString()), contentType: req.headers['content-type'] };
      res.end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    await answer(
      event(request, {}, `http://127.0.0.1:${(server.address() as AddressInfo).port}/answer?signature=x`),
      work,
    );
    server.close();
    return seen!;
  }

  it('the answer reports success, without a content type, which the signed address lacks', async () => {
    expect(await answered(async () => 'shop')).toEqual({
      body: {
        Status: 'SUCCESS',
        PhysicalResourceId: 'shop',
        StackId: 'stack',
        RequestId: 'request',
        LogicalResourceId: 'Cluster',
      },
      contentType: undefined,
    });
  });

  it('the answer reports the error, and for a new resource an id that a deletion ignores', async () => {
    const fail = async (): Promise<string> => {
      throw new Error('the table could not be reached');
    };
    expect((await answered(fail)).body).toMatchObject({
      Status: 'FAILED',
      PhysicalResourceId: 'not-registered',
      Reason: 'the table could not be reached',
    });
    expect((await answered(fail, 'Update')).body).toMatchObject({
      Status: 'FAILED',
      PhysicalResourceId: 'shop',
    });
  });
});
