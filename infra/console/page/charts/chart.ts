/**
 * A widget of kind `lines`: a chart, and below it a table of its newest values, which is both legend and text
 * alternative. uPlot draws sixty series a second in 50 KB. ECharts and Chart.js are four to twenty times as
 * large, and Vega compiles expressions with `eval`, which the page's content security policy forbids.
 */
import uPlot from 'uplot';
import type { Widget } from '#infra/aws/monitoring/widgets.ts';
import type { SeriesValues } from '../../api-types.ts';
import { h, setText } from '../dom.ts';
import { axisText, helpText, unitText, valueText } from './format.ts';
import { clockText, zoneName } from './time-zone.ts';

export interface WidgetView {
  readonly element: HTMLElement;
  update(series: readonly SeriesValues[], from: number, period: number): void;
  destroy(): void;
}

const height = 168;

export function lineChart(widget: Widget, id: string): WidgetView {
  const { title, unit, limit } = widget;
  const statistic = widget.series[0]?.statistic ?? 'Sum';
  const unitLabel = h('span', { class: 'unit' });
  const canvas = h('div', { class: 'chart', role: 'img', tabindex: '0' });
  const legend = legendOf(widget);
  const element = h(
    'section',
    { class: 'widget', 'aria-labelledby': id },
    h('h3', { id }, `${title} `, unitLabel),
    canvas,
    legend.element,
  );
  let times: readonly number[] = [];
  let series: readonly SeriesValues[] = [];

  const showAt = (index: number | null | undefined): void => {
    const time = index === null || index === undefined ? undefined : times[index];
    legend.show(
      series,
      time === undefined ? undefined : { index: index as number, label: clock(time, true) },
    );
  };
  const plot = new uPlot(options(widget, limit, showAt), [[], ...widget.series.map(() => [])], canvas);
  const resized = new ResizeObserver(() =>
    plot.setSize({ width: Math.max(120, canvas.clientWidth), height }),
  );
  resized.observe(canvas);
  canvas.addEventListener('keydown', (event) => moveCursor(plot, event));
  canvas.addEventListener('blur', () => plot.setCursor({ left: -10, top: -10 }));

  return {
    element,
    update(next, from, period) {
      series = next;
      times = (next[0]?.values ?? []).map((_, i) => from + i * period);
      setText(unitLabel, unitText(unit, statistic, period));
      plot.setData([[...times], ...next.map((s) => [...s.values])] as uPlot.AlignedData);
      canvas.setAttribute('aria-label', description(widget, next));
      showAt(plot.cursor.idx);
    },
    destroy() {
      resized.disconnect();
      plot.destroy();
    },
  };
}

function options(
  { unit, series }: Widget,
  limit: Widget['limit'],
  onCursor: (index: number | null | undefined) => void,
): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const color = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  const font = `11px ${style.getPropertyValue('--font').trim()}`;
  const axis = { stroke: color('muted'), font, ticks: { show: false }, border: { show: false } };
  return {
    width: 300,
    height,
    padding: [10, 18, 0, 0],
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, y: false, sync: { key: 'console' }, points: { size: 7 } },
    ...(zoneName() === 'UTC' && {
      tzDate: (seconds: number) => uPlot.tzDate(new Date(seconds * 1_000), 'Etc/UTC'),
    }),
    scales: { x: { time: true }, y: { range: (_u, _min, max) => [0, topOf(max, unit, limit?.value)] } },
    axes: [
      {
        ...axis,
        size: 28,
        gap: 8,
        grid: { show: false },
        space: 46,
        values: (_u, splits) => splits.map((s) => clock(s, s % 60 !== 0)),
      },
      {
        ...axis,
        size: 52,
        gap: 4,
        space: 32,
        grid: { stroke: color('grid'), width: 1 },
        ...(unit === 'Count' && {
          incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000],
        }),
        values: (_u, splits) => splits.map((s) => axisText(s, unit)),
      },
    ],
    series: [
      {},
      ...series.map((s, i): uPlot.Series => {
        const stroke = color(`series-${(i % 5) + 1}`);
        return {
          label: s.label,
          stroke,
          width: 1.75,
          ...(i >= 5 && { dash: i >= 10 ? [2, 3] : [6, 4] }),
          spanGaps: true,
          ...(series.length === 1 && { fill: `${stroke}1f` }),
          points: { size: 5, show: (u, index) => isLonely(u.data[index] ?? []) },
        };
      }),
    ],
    hooks: {
      setCursor: [(u) => onCursor(u.cursor.idx)],
      ...(limit && { draw: [(u: uPlot) => drawLimit(u, limit.value, color('limit'))] }),
    },
  };
}

/** Returns true for a single value, which needs a dot because it makes no line. */
const isLonely = (values: ArrayLike<number | null | undefined>): boolean =>
  Array.from(values).filter((v) => typeof v === 'number').length === 1;

/**
 * Returns the top of the scale, with space above the highest value and the limit. For counts it is a whole
 * number.
 */
function topOf(max: number | null, unit: Widget['unit'], limit = 0): number {
  const top = Math.max(max ?? 0, limit) * 1.1;
  return unit === 'Count' ? Math.max(1, Math.ceil(top)) : Math.max(unit === 'Seconds' ? 1 : 10, top);
}

function drawLimit(u: uPlot, value: number, color: string): void {
  const { ctx, bbox } = u;
  const y = Math.round(u.valToPos(value, 'y', true));
  ctx.save();
  ctx.strokeStyle = color;
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([5 * devicePixelRatio, 4 * devicePixelRatio]);
  ctx.beginPath();
  ctx.moveTo(bbox.left, y);
  ctx.lineTo(bbox.left + bbox.width, y);
  ctx.stroke();
  ctx.restore();
}

/** Moves the cursor along the points by arrow keys, in all charts at once. */
function moveCursor(plot: uPlot, event: KeyboardEvent): void {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  const [times] = plot.data;
  if (event.key === 'Escape') plot.setCursor({ left: -10, top: -10 });
  if (step === undefined || times.length === 0) return;
  event.preventDefault();
  const index = Math.min(times.length - 1, Math.max(0, (plot.cursor.idx ?? times.length) + step));
  plot.setCursor({ left: plot.valToPos(times[index] as number, 'x'), top: 10 });
}

function legendOf({ series, unit, limit }: Widget) {
  const newestHead = h('th', { scope: 'col' }, 'newest');
  const rows = series.map((s, i) => {
    const key = h('span', {
      class: `key series-${(i % 5) + 1}${i >= 5 ? ' again' : ''}`,
      'aria-hidden': 'true',
    });
    const [newest, highest] = [h('td'), h('td')];
    return {
      newest,
      highest,
      element: h(
        'tr',
        {},
        h('th', { scope: 'row', title: helpText(s) }, h('span', { class: 'series' }, key, s.label)),
        newest,
        highest,
      ),
    };
  });
  const limitRow =
    limit &&
    h(
      'tr',
      {},
      h(
        'th',
        { scope: 'row' },
        h('span', { class: 'series' }, h('span', { class: 'key limit', 'aria-hidden': 'true' }), limit.label),
      ),
      h('td', {}, valueText(limit.value, unit)),
      h('td'),
    );
  const head = h('thead', {}, h('tr', {}, h('td'), newestHead, h('th', { scope: 'col' }, 'highest')));
  const element = h(
    'table',
    { class: 'legend' },
    head,
    h('tbody', {}, ...rows.map((r) => r.element), limitRow),
  );
  return {
    element,
    /** Shows the newest values, or the values under the cursor. */
    show(
      values: readonly SeriesValues[],
      at: { readonly index: number; readonly label: string } | undefined,
    ) {
      setText(newestHead, at?.label ?? 'newest');
      for (const [i, row] of rows.entries()) {
        const all = values[i]?.values ?? [];
        setText(row.newest, valueText(at ? all[at.index] : values[i]?.newest, unit));
        setText(row.highest, valueText(highestOf(all), unit));
      }
    },
  };
}

function highestOf(values: readonly (number | null)[]): number | null {
  const there = values.filter((v) => v !== null);
  return there.length > 0 ? Math.max(...there) : null;
}

const description = ({ title, unit, series }: Widget, values: readonly SeriesValues[]): string =>
  `Chart of ${title}, newest values: ${series.map((s, i) => `${s.label} ${valueText(values[i]?.newest, unit)}`).join(', ')}`;

const clock = (seconds: number, exact: boolean): string => clockText(seconds * 1000).slice(0, exact ? 8 : 5);
