import type { EndpointsInput, EndpointsPlan } from './plan.ts';

export function decideEndpoints(input: EndpointsInput): EndpointsPlan {
  throw new Error(`not yet: ${input.name}`);
}
