/**
 * A widget of kind `numbers`: each series' newest value in large type, and the alarm whose limit it exceeds.
 */
import { hubAlarms } from '#infra/aws/monitoring/alarms.ts';
import { clusterAlarms } from '#infra/aws/monitoring/cluster-alarms.ts';
import type { Widget } from '#infra/aws/monitoring/widgets.ts';
import { h, setText } from '../dom.ts';
import type { WidgetView } from './chart.ts';
import { helpText, valueText } from './format.ts';

export function numbers({ title, unit, series }: Widget, id: string): WidgetView {
  const cells = series.map((s) => {
    const [value, note] = [h('dd', { class: 'value' }), h('dd', { class: 'note' })];
    return {
      value,
      note,
      limit: limitOf(s),
      element: h('div', { class: 'number' }, h('dt', { title: helpText(s) }, s.label), value, note),
    };
  });
  const element = h(
    'section',
    { class: 'widget', 'aria-labelledby': id },
    h('h3', { id }, title),
    h('dl', {}, ...cells.map((c) => c.element)),
  );
  return {
    element,
    update(values) {
      for (const [i, cell] of cells.entries()) {
        const newest = values[i]?.newest ?? null;
        const past = newest !== null && cell.limit !== undefined && newest > cell.limit.threshold;
        setText(cell.value, valueText(newest, unit));
        setText(cell.note, past ? `above the limit of ${cell.limit?.id}` : '');
        cell.element.classList.toggle('bad', past);
      }
    },
    destroy() {},
  };
}

/** The number is a placeholder, because these widgets show no series whose threshold depends on it. */
const alarms = [...hubAlarms(1_000), ...clusterAlarms('ticket')].filter((a) => a.is === '>');

function limitOf({ label: _, ...series }: Widget['series'][number]) {
  const key = canonical(series);
  return alarms.find((a) => canonical(a.series) === key);
}

const canonical = (series: object): string =>
  JSON.stringify(Object.entries(series).sort(([a], [b]) => (a < b ? -1 : 1)));
