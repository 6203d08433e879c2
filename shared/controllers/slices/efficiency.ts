/** How one group of endpoints with the same ports is spread over slices. */
export interface GroupCount {
  readonly endpoints: number;
  readonly slices: number;
}

/** Counts for the gauges ME-3..5: a service's slices of one address type. */
export interface Efficiency {
  readonly endpointsDesired: number;
  readonly slicesActual: number;
  readonly slicesDesired: number;
}

/** Sums the groups. Without endpoints one slice is wanted still: the placeholder. */
export function efficiency(groups: Iterable<GroupCount>, maxEndpointsPerSlice: number): Efficiency {
  let [endpointsDesired, slicesActual, slicesDesired] = [0, 0, 0];
  for (const { endpoints, slices } of groups) {
    endpointsDesired += endpoints;
    slicesActual += slices;
    slicesDesired += Math.ceil(endpoints / maxEndpointsPerSlice);
  }
  return { endpointsDesired, slicesActual, slicesDesired: Math.max(1, slicesDesired) };
}
