/**
 * Draws a dashboard's body with a day's metrics as CloudWatch does, as HTML with SVG. It knows the widgets and
 * the one expression of our bodies, and throws at any other.
 */
import type { Alarm } from './bodies.ts';
import { type Address, type DayMetrics, isStatistic, type Points } from './day-metrics.ts';

interface Body {
  readonly start: string;
  readonly periodOverride?: string;
  readonly variables?: readonly { readonly pattern?: string; readonly label?: string }[];
  readonly widgets: readonly WidgetBody[];
}

interface WidgetBody {
  readonly type: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly properties: {
    readonly view?: string;
    readonly title?: string;
    readonly markdown?: string;
    readonly alarms?: readonly string[];
    readonly metrics?: readonly Entry[];
    readonly annotations?: { readonly horizontal?: readonly Limit[] };
    readonly yAxis?: { readonly left?: { readonly label?: string } };
  };
}

interface Limit {
  readonly value: number;
  readonly label: string;
}

type Options = { readonly label?: string; readonly stat?: string; readonly expression?: string };
type Entry = readonly (string | Options)[];

interface Line {
  readonly label: string;
  readonly points: Points;
}

export interface Drawing {
  readonly html: string;
  /** The widgets without any value, by title. */
  readonly empty: readonly string[];
  /** The clusters of each top ten, the highest first. */
  readonly topTens: ReadonlyMap<string, readonly string[]>;
  readonly ringing: readonly string[];
}

export function draw(
  text: string,
  metrics: DayMetrics,
  {
    alarms = new Map(),
    cluster,
  }: { readonly alarms?: ReadonlyMap<string, Alarm>; readonly cluster?: string },
): Drawing {
  const { variables = [], widgets } = JSON.parse(text) as Body;
  const pattern = variables[0]?.pattern;
  const body = pattern && cluster ? (JSON.parse(text.replaceAll(pattern, cluster)) as Body).widgets : widgets;
  const empty: string[] = [];
  const topTens = new Map<string, readonly string[]>();
  const ringing: string[] = [];
  const drawn = body.map((widget) => {
    const { type, properties } = widget;
    const title = properties.title ?? '';
    if (type === 'text') return boxOf(widget, markdown(properties.markdown ?? ''), 'text');
    if (type === 'alarm') {
      ringing.push(...(properties.alarms ?? []).flatMap((arn) => ringsAtEnd(alarms.get(arn), metrics, arn)));
      return boxOf(widget, heading(title) + alarmList(ringing));
    }
    if (type !== 'metric') throw new Error(`a widget of the type ${type} is not known`);
    const lines = (properties.metrics ?? []).flatMap((entry) => linesOf(entry, metrics));
    if (lines.every(({ points }) => points.every((p) => p === null))) empty.push(title);
    if (properties.metrics?.some(isExpression))
      topTens.set(
        title,
        lines.map(({ label }) => label),
      );
    return boxOf(widget, heading(title) + viewOf(widget, lines));
  });
  const choice = cluster ? `<p class="choice">Cluster <b>${cluster}</b></p>` : '';
  const bottom = Math.max(...body.map(({ y, height }) => (y + height) * line));
  return { html: page(choice, drawn.join('\n'), bottom), empty, topTens, ringing };
}

const isExpression = (entry: Entry): boolean => optionsOf(entry).expression !== undefined;
const optionsOf = (entry: Entry): Options => {
  const last = entry.at(-1);
  return typeof last === 'object' ? last : {};
};

function linesOf(entry: Entry, metrics: DayMetrics): readonly Line[] {
  const { expression, label = '', stat = 'Average' } = optionsOf(entry);
  if (expression !== undefined) return topTen(expression, metrics);
  if (!isStatistic(stat)) throw new Error(`the statistic ${stat} is not known`);
  const [namespace = '', name = '', ...rest] = entry.filter((part) => typeof part === 'string');
  const dimensions: { [name: string]: string } = {};
  for (let i = 0; i < rest.length; i += 2) dimensions[rest[i] as string] = rest[i + 1] as string;
  return [{ label, points: metrics.points({ namespace, name, dimensions }, stat) }];
}

const topTenForm =
  /^SELECT MAX\("(?<name>\w+)"\) FROM SCHEMA\("(?<namespace>[\w/]+)", (?<by>\w+)\) GROUP BY \k<by> ORDER BY MAX\(\) DESC LIMIT (?<most>\d+)$/;

/** One line for each value of the dimension, those with the highest maximum of the whole time first. */
function topTen(expression: string, metrics: DayMetrics): readonly Line[] {
  const { name = '', namespace = '', by = '', most } = topTenForm.exec(expression)?.groups ?? {};
  if (most === undefined) throw new Error(`the expression is not known: ${expression}`);
  return metrics
    .valuesOf({ namespace, name }, by)
    .map((value) => ({
      label: value,
      points: metrics.points({ namespace, name, dimensions: { [by]: value } }, 'Maximum'),
    }))
    .sort((a, b) => highest(b.points) - highest(a.points))
    .slice(0, Number(most));
}

const highest = (points: Points): number => points.reduce<number>((most, p) => Math.max(most, p ?? 0), 0);
const newest = (points: Points): number | null => points.findLast((p) => p !== null) ?? null;

/** An alarm of one metric rings if its newest value is beyond the threshold; others are left out. */
function ringsAtEnd(alarm: Alarm | undefined, metrics: DayMetrics, arn: string): readonly string[] {
  if (!alarm) throw new Error(`${arn} is no alarm of the template`);
  const { namespace, metric: name, statistic = '', dimensions, threshold, isBelow } = alarm;
  if (namespace === undefined || name === undefined || !isStatistic(statistic)) return [];
  const address: Address = { namespace, name, dimensions };
  const value = metrics.points(address, statistic).at(-1) ?? null;
  return value !== null && (isBelow ? value < threshold : value > threshold) ? [alarm.name] : [];
}

function viewOf({ width, height, properties }: WidgetBody, lines: readonly Line[]): string {
  const { view, annotations, yAxis } = properties;
  if (view === 'singleValue') return numbersOf(lines);
  if (view !== 'timeSeries') throw new Error(`the view ${view} is not known`);
  const size = { width: width * column - 24, height: height * line - 44 - 17 * Math.ceil(lines.length / 3) };
  return chart(lines, size, { limits: annotations?.horizontal ?? [], unit: yAxis?.left?.label ?? '' });
}

const numbersOf = (lines: readonly Line[]): string =>
  `<div class="numbers">${lines
    .map(
      ({ label, points }) => `<div><b>${numberText(newest(points))}</b><span>${escaped(label)}</span></div>`,
    )
    .join('')}</div>`;

const numberText = (value: number | null): string =>
  value === null
    ? '–'
    : value >= 10_000
      ? `${Math.round(value / 1_000)}K`
      : String(Math.round(value * 10) / 10);

/** Of a body's grid, px: 24 columns fill a page of 1,280. */
const [column, line] = [52, 48];
const colors = [
  '#1f77b4',
  '#ff7f0e',
  '#2ca02c',
  '#d62728',
  '#9467bd',
  '#8c564b',
  '#e377c2',
  '#7f7f7f',
  '#bcbd22',
  '#17becf',
];
const colorOf = (i: number): string => colors[i % colors.length] as string;

interface Axes {
  readonly limits: readonly Limit[];
  readonly unit: string;
}

/** The next of 1, 2, 5, 10, 20 and so on. */
function roundUp(value: number): number {
  const unit = 10 ** Math.floor(Math.log10(value));
  return unit * ([1, 2, 5].find((step) => step * unit >= value) ?? 10);
}

function chart(
  lines: readonly Line[],
  { width, height }: { readonly width: number; readonly height: number },
  { limits, unit }: Axes,
): string {
  const [left, bottom] = [44, 18];
  const highs = [...limits.map(({ value }) => value), ...lines.map(({ points }) => highest(points))];
  const top = roundUp(Math.max(1, ...highs));
  const count = Math.max(2, lines[0]?.points.length ?? 2);
  const x = (i: number): number => left + (i / (count - 1)) * (width - left - 8);
  const y = (value: number): number => 16 + (1 - value / top) * (height - bottom - 16);
  const grid = [0, 0.5, 1].map((share) => {
    const at = y(share * top);
    return `<line x1="${left}" x2="${width - 8}" y1="${at}" y2="${at}" class="grid"/><text x="${left - 6}" y="${at + 4}" text-anchor="end">${numberText(share * top)}</text>`;
  });
  const hours = [0, 6, 12, 18].map(
    (hour) =>
      `<text x="${x((hour / 24) * count)}" y="${height - 4}">${String(hour).padStart(2, '0')}:00</text>`,
  );
  const marks = limits.map(
    ({ value, label }) =>
      `<line x1="${left}" x2="${width - 8}" y1="${y(value)}" y2="${y(value)}" class="limit"/><text x="${width - 10}" y="${y(value) - 4}" text-anchor="end" class="limit">${escaped(label)}</text>`,
  );
  const paths = lines.map(({ points }, i) => pathOf(points, { x, y, color: colorOf(i) }));
  const legend = lines
    .map(({ label }, i) => `<span><i style="background:${colorOf(i)}"></i>${escaped(label)}</span>`)
    .join('');
  const none = lines.every(({ points }) => points.every((p) => p === null));
  return `<svg width="${width}" height="${height}"><text x="${left}" y="9" class="unit">${escaped(unit)}</text>${grid.join('')}${hours.join('')}${marks.join('')}${paths.join('')}${none ? `<text x="${width / 2}" y="${height / 2}">No data available</text>` : ''}</svg><div class="legend">${legend}</div>`;
}

interface Scale {
  readonly x: (i: number) => number;
  readonly y: (value: number) => number;
  readonly color: string;
}

/** A line, broken where a value is missing; a value by itself is a dot. */
function pathOf(points: Points, { x, y, color }: Scale): string {
  let path = '';
  let dots = '';
  for (const [i, value] of points.entries()) {
    if (value === null) continue;
    const isAlone = (points[i - 1] ?? null) === null && (points[i + 1] ?? null) === null;
    const at = `${x(i).toFixed(1)} ${y(value).toFixed(1)}`;
    path += `${(points[i - 1] ?? null) === null ? 'M' : 'L'}${at}`;
    if (isAlone)
      dots += `<circle cx="${x(i).toFixed(1)}" cy="${y(value).toFixed(1)}" r="2" fill="${color}"/>`;
  }
  return `<path d="${path}" fill="none" stroke="${color}" stroke-width="1.5"/>${dots}`;
}

const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c] as string);
const heading = (title: string): string => `<h3>${escaped(title)}</h3>`;

const alarmList = (ringing: readonly string[]): string =>
  ringing.length === 0
    ? '<p>No alarms in ALARM</p>'
    : `<p class="alarms">${ringing.map((name) => `<b>${escaped(name)}</b>`).join('')}</p>`;

/** Headings, paragraphs and links: what our texts have. */
const markdown = (text: string): string =>
  text
    .split('\n')
    .map((each) => {
      const linked = escaped(each).replace(/\[([^\]]+)\]\(([^)]+)\)/g, '<a href="$2">$1</a>');
      return linked.startsWith('## ') ? `<h2>${linked.slice(3)}</h2>` : `<p>${linked}</p>`;
    })
    .join('');

const boxOf = ({ x, y, width, height }: WidgetBody, inner: string, kind = 'widget'): string =>
  `<section class="${kind}" style="left:${x * column}px;top:${y * line}px;width:${width * column - 8}px;height:${height * line - 8}px">${inner}</section>`;

const page = (
  choice: string,
  inner: string,
  height: number,
): string => `<!doctype html><meta charset="utf-8"><title>Dashboard</title>
<style>
body{margin:12px 16px;font:13px/1.35 system-ui,sans-serif;color:#16191f;background:#f2f3f3;width:1248px}
main{position:relative}section{position:absolute;box-sizing:border-box;overflow:hidden}
.widget{background:#fff;border:1px solid #d5dbdb;border-radius:3px;padding:6px 10px}
h2{font-size:18px;margin:14px 0 2px}h3{font-size:13px;margin:0 0 4px}p{margin:0}
svg{display:block}svg text{font-size:10px;fill:#545b64}.grid{stroke:#eaeded}.limit{stroke:#d13212;stroke-dasharray:4 3}text.limit{stroke:none;fill:#d13212}
.legend{display:flex;flex-wrap:wrap;gap:1px 12px;font-size:11px}.legend i{display:inline-block;width:9px;height:9px;margin-right:4px}
.numbers{display:flex;gap:18px;margin-top:22px}.numbers div{flex:1}.numbers b{display:block;font-size:30px;font-weight:400}.numbers span{font-size:12px;color:#545b64}
.alarms{display:flex;flex-wrap:wrap;gap:6px;margin-top:8px}.alarms b{background:#d13212;color:#fff;padding:2px 8px;border-radius:3px;font-weight:400}
.choice{margin:0 0 4px}
</style>
${choice}<main style="height:${height}px">${inner}</main>`;
