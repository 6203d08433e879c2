/** The program that runs in each cluster. Exit codes: 0 stopped by a signal, 1 cannot run. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { SQSClient } from '@aws-sdk/client-sqs';
import { forFrequentCalls, frequentCallConfig, sqsEndpoint, timeouts } from '#shared/aws-client-config.ts';
import { mcsVersions } from '#shared/clusters/api/mcs-versions.ts';
import { httpTransport } from '#shared/clusters/api/transport.ts';
import { defaultLimits } from '#shared/contract/limits.ts';
import { sqsQueue } from '#shared/queue/sqs.ts';
import { jsonLog } from '#shared/telemetry/log.ts';
import { fileCredentials } from './credentials.ts';
import { Election } from './election/election.ts';
import { httpLeaseStore } from './election/lease-store.ts';
import { probeServer } from './probes.ts';
import { Relay } from './relay.ts';
import { readSettings } from './relay-settings.ts';
import { systemClock } from './runtime/clock.ts';
import { Meter } from './runtime/meter.ts';
import { crdGuard } from './source/crd-guard.ts';
import { httpWatchSource } from './source/watch-source-http.ts';

const log = jsonLog((line) => process.stdout.write(`${line}\n`), Date.now);

try {
  const settings = readSettings(process.env);
  const { connection, token } = fileCredentials(settings.api, Date.now);
  const transport = mcsVersions(
    httpTransport(connection, { ...(token && { token }), userAgent: 'fleet-endpoints-relay' }),
  );
  // Without time-outs a call to a queue that has vanished would block its kind for ever.
  const sqs = forFrequentCalls(
    new SQSClient({
      ...frequentCallConfig,
      ...sqsEndpoint,
      maxAttempts: 2,
      requestHandler: timeouts(10_000, 3_000),
    }),
  );
  const meter = new Meter();
  const clusterLog = log.with({ cluster: settings.cluster });
  const runtime = { clock: systemClock, log: clusterLog, meter, limits: defaultLimits };
  const relay = new Relay(
    {
      source: crdGuard(httpWatchSource(transport, systemClock), transport, clusterLog),
      queue: sqsQueue(sqs, settings.eventsQueueUrl),
      ...runtime,
      newId: randomUUID,
      ...(settings.lease && {
        election: new Election({
          store: httpLeaseStore(transport, settings.lease, Date.now, defaultLimits.election.callTimeoutMs),
          ...runtime,
          id: `${hostname()}_${randomUUID()}`,
        }),
      }),
    },
    settings,
  );

  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.once(signal, () => stop.abort(new Error(signal)));
  const probes = probeServer(relay, meter, systemClock);
  const { port, host } = settings;
  await new Promise<void>((resolve, reject) =>
    probes.once('error', reject).listen({ port, ...(host && { host }) }, resolve),
  );
  log.info('relay started', { cluster: settings.cluster, address: probes.address() });
  await relay.run(stop.signal);
  log.info('relay stopped', { cluster: settings.cluster });
  process.exit(0);
} catch (e) {
  log.error('relay cannot run', { fatal: true, reason: (e as Error).message });
  process.exit(1);
}
