/** How late endpoints are, as the relays see it, whoever wrote them. */
import { lines, type Row, series } from './widgets.ts';

export const endpointDelayRow: Row = {
  title: 'Delay of endpoints',
  widgets: [
    lines('From a ready pod to its slice', 'Milliseconds', [
      series('EndpointReadyDelay', 'p50', 'p50'),
      series('EndpointReadyDelay', 'p99', 'p99'),
    ]),
    lines('From a pod that goes to its slice', 'Milliseconds', [
      series('EndpointRemovalDelay', 'p50', 'p50'),
      series('EndpointRemovalDelay', 'p99', 'p99'),
    ]),
  ],
};
