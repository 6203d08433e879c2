/**
 * The dashboards as data. CloudWatch draws them in a deployed hub (dashboard-drawing.ts), the console and
 * Grafana draw the same rows.
 */
import { clusterDashboard } from './cluster-dashboard.ts';
import { fleetDashboard } from './fleet-dashboard.ts';
import type { Dashboard } from './widgets.ts';

export const dashboards: readonly Dashboard[] = [fleetDashboard, clusterDashboard];
