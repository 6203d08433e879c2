/** A dashboard of infra/monitoring/dashboards.ts, drawn from the console's metrics. */
import type { Dashboard } from '#infra/monitoring/dashboards.ts';
import type { SeriesAnswer } from '../api-types.ts';
import { ask } from './ask.ts';
import { lineChart, type WidgetView } from './chart.ts';
import { h } from './dom.ts';
import { numbers } from './numbers.ts';

export interface DashboardView {
  readonly element: HTMLElement;
  refresh(minutes: number): Promise<void>;
  destroy(): void;
}

export function dashboardView(dashboard: Dashboard, cluster: string | undefined): DashboardView {
  const views: WidgetView[] = [];
  const rows = dashboard.rows.map((row, i) => {
    const widgets = row.widgets.map((widget, j) => {
      const id = `${dashboard.id}-${i}-${j}`;
      const view = widget.kind === 'numbers' ? numbers(widget, id) : lineChart(widget, id);
      views.push(view);
      return view.element;
    });
    const heading = `${dashboard.id}-${i}`;
    return h(
      'section',
      { class: 'row', 'aria-labelledby': heading },
      h('h2', { id: heading }, row.title),
      h('div', { class: 'widgets' }, ...widgets),
    );
  });
  return {
    element: h('div', { class: 'dashboard' }, ...rows),
    async refresh(minutes) {
      const answer = await ask<SeriesAnswer>('/api/series', { dashboard: dashboard.id, cluster, minutes: String(minutes) });
      for (const [i, view] of views.entries()) view.update(answer.widgets[i] ?? [], answer.from, answer.period);
    },
    destroy() {
      for (const view of views) view.destroy();
    },
  };
}
