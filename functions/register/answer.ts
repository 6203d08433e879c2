import type { CloudFormationCustomResourceEvent } from 'aws-lambda';

/** Physical id of a resource that could not be made. CloudFormation asks to delete it again, which finds no such cluster. */
const notMade = 'not-registered';

/** Does the work and tells CloudFormation how it went, by PUT to the presigned address in the event. Rejects only if that fails. */
export async function answer(event: CloudFormationCustomResourceEvent, work: () => Promise<string>): Promise<void> {
  const outcome = await work().then(
    (physicalId) => ({ Status: 'SUCCESS', PhysicalResourceId: physicalId }),
    (e: unknown) => ({ Status: 'FAILED', PhysicalResourceId: physicalIdOf(event), Reason: e instanceof Error ? e.message : String(e) }),
  );
  const { StackId, RequestId, LogicalResourceId } = event;
  // Bytes, not text: fetch would add a content type, which the signature of the address does not cover.
  const body = new TextEncoder().encode(JSON.stringify({ ...outcome, StackId, RequestId, LogicalResourceId }));
  const response = await fetch(event.ResponseURL, { method: 'PUT', body, signal: AbortSignal.timeout(10_000) });
  if (!response.ok) throw new Error(`CloudFormation did not take the answer: HTTP ${response.status}`);
}

const physicalIdOf = (event: CloudFormationCustomResourceEvent): string => (event.RequestType === 'Create' ? notMade : event.PhysicalResourceId);
