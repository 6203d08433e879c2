import { Duration } from 'aws-cdk-lib';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { hubQueue, refusesDeadLetters, withoutConsumer } from './cluster-queues.ts';

/**
 * Where work goes that no worker will take up again by itself; each message names its cluster. Read by people
 * and by redrive.
 */
export class DeadLetters extends Construct {
  /** Work that used up its retries. */
  readonly parked: Queue;
  /** Messages that could not be read, or not be believed. */
  readonly quarantine: Queue;

  constructor(scope: Construct, id: string, keyArn: string | undefined) {
    super(scope, id);
    const retentionPeriod = Duration.days(14);
    const props = { retentionPeriod, keyArn, ...refusesDeadLetters };
    this.parked = withoutConsumer(hubQueue(this, 'Parked', props));
    this.quarantine = withoutConsumer(hubQueue(this, 'Quarantine', props));
  }
}
