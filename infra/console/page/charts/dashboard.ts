/**
 * A dashboard of infra/aws/monitoring/dashboards.ts, drawn from the console's metrics. Charts whose values are
 * all zero fold into one line, because a page of thirty charts hides the few that move.
 */
import type { Dashboard, Row } from '#infra/aws/monitoring/widgets.ts';
import type { SeriesAnswer, SeriesValues } from '../../api-types.ts';
import { ask } from '../ask.ts';
import { h, setText } from '../dom.ts';
import { lineChart, type WidgetView } from './chart.ts';
import { numbers } from './numbers.ts';
import type { TimeRange } from './time-range.ts';

export interface DashboardView {
  readonly element: HTMLElement;
  refresh(range: TimeRange): Promise<void>;
  destroy(): void;
}

export function dashboardView(dashboard: Dashboard, cluster: string | undefined): DashboardView {
  // The table of the clusters stands for rows of top tens alone.
  const rows = dashboard.rows
    .filter(({ widgets }) => widgets.length > 0)
    .map((row, i) => dashboardRow(row, `${dashboard.id}-${i}`));
  let drawn: string | undefined;
  return {
    element: h('div', { class: 'dashboard' }, ...rows.map((row) => row.element)),
    async refresh({ minutes, untilMs }) {
      const query = {
        dashboard: dashboard.id,
        cluster,
        minutes: String(minutes),
        ...(untilMs !== undefined && { until: String(untilMs) }),
      };
      // The past does not change.
      const past = untilMs === undefined ? undefined : JSON.stringify(query);
      if (past !== undefined && past === drawn) return;
      const answer = await ask<SeriesAnswer>('/api/series', query);
      drawn = past;
      let first = 0;
      for (const row of rows) {
        row.update(answer.widgets.slice(first, first + row.count), answer.from, answer.period);
        first += row.count;
      }
    },
    destroy() {
      for (const row of rows) row.destroy();
    },
  };
}

function dashboardRow({ title, normal, widgets }: Row, id: string) {
  const views: readonly WidgetView[] = widgets.map((w, j) =>
    w.kind === 'numbers' ? numbers(w, `${id}-${j}`) : lineChart(w, `${id}-${j}`),
  );
  const fold = h('button', { type: 'button', class: 'fold', 'aria-expanded': 'false' });
  let isOpen = false;
  let quiet: readonly boolean[] = [];
  fold.addEventListener('click', () => {
    isOpen = !isOpen;
    show();
  });

  function show(): void {
    const titles = widgets.flatMap((w, i) => (quiet[i] ? w.title : []));
    fold.hidden = titles.length === 0;
    fold.setAttribute('aria-expanded', String(isOpen));
    setText(fold, `${isOpen ? 'Fold' : 'Show'} ${titles.length} quiet: ${titles.join(', ')}`);
    for (const [i, view] of views.entries()) view.element.hidden = !isOpen && quiet[i] === true;
  }

  return {
    element: h(
      'section',
      { class: 'row', 'aria-labelledby': id },
      h('h2', { id }, title),
      h('p', { class: 'normal' }, normal),
      // A chart is taller than a number, so they have grids of their own.
      ...(['numbers', 'lines'] as const).map((kind) =>
        h(
          'div',
          { class: 'widgets' },
          ...views.flatMap((v, i) => (widgets[i]?.kind === kind ? v.element : [])),
        ),
      ),
      fold,
    ),
    count: widgets.length,
    update(values: SeriesAnswer['widgets'], from: number, period: number): void {
      quiet = widgets.map((w, i) => w.kind === 'lines' && isQuiet(values[i] ?? []));
      show();
      for (const [i, view] of views.entries()) view.update(values[i] ?? [], from, period);
    },
    destroy(): void {
      for (const view of views) view.destroy();
    },
  };
}

const isQuiet = (series: readonly SeriesValues[]): boolean =>
  series.every(({ values }) => values.every((value) => !value));
