/** Names of the deployed dashboards, and the placeholder for the cluster that a reader chooses. */
import type { Dashboard } from './widgets.ts';

/** An account's dashboards are those of all its regions. */
export const dashboardNameOf = (hub: string, region: string, { title }: Dashboard): string =>
  `${hub}-${region}-${title}`;

/** Stands where the id of the chosen cluster goes; CloudWatch replaces it wherever it is. */
export const chosenCluster = 'CHOSEN-CLUSTER';
