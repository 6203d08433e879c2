/** Tells CloudFormation how the work for a custom resource has ended. */
import type { CloudFormationCustomResourceEvent } from 'aws-lambda';

/**
 * Physical id of a resource whose creation failed. CloudFormation then deletes it, and register finds no such
 * cluster.
 */
const notMade = 'not-registered';

/**
 * Does the work and reports its outcome to CloudFormation, by a PUT to the presigned URL in the event.
 * Rejects only if the report fails.
 */
export async function answer(
  event: CloudFormationCustomResourceEvent,
  work: () => Promise<string>,
): Promise<void> {
  const outcome = await work().then(
    (physicalId) => ({ Status: 'SUCCESS', PhysicalResourceId: physicalId }),
    (e: unknown) => ({
      Status: 'FAILED',
      PhysicalResourceId: physicalIdOf(event),
      Reason: e instanceof Error ? e.message : String(e),
    }),
  );
  const { StackId, RequestId, LogicalResourceId } = event;
  // Bytes, not text: fetch would add a content type, which the signature of the address does not cover.
  const body = new TextEncoder().encode(
    JSON.stringify({ ...outcome, StackId, RequestId, LogicalResourceId }),
  );
  const response = await fetch(event.ResponseURL, {
    method: 'PUT',
    body,
    signal: AbortSignal.timeout(10_000),
  });
  if (!response.ok) throw new Error(`CloudFormation did not accept the answer: HTTP ${response.status}`);
}

const physicalIdOf = (event: CloudFormationCustomResourceEvent): string =>
  event.RequestType === 'Create' ? notMade : event.PhysicalResourceId;
