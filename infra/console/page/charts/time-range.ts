/**
 * The time that charts show: the last minutes, or minutes until a moment. The URL has it, so a link shows the
 * same charts later.
 */
import { h } from '../dom.ts';
import { minuteText, parseMinute, zoneName } from './time-zone.ts';

export interface TimeRange {
  readonly minutes: number;
  /** ms since the epoch. Undefined: until now. */
  readonly untilMs: number | undefined;
}

/** Returns the part of a URL's hash after "?", or '' for the default. */
export function rangeQuery({ minutes, untilMs }: TimeRange, defaultMinutes: number): string {
  if (untilMs === undefined && minutes === defaultMinutes) return '';
  return `?minutes=${minutes}${untilMs === undefined ? '' : `&until=${new Date(untilMs).toISOString().slice(0, 16)}Z`}`;
}

/**
 * Returns undefined for a hash without a range. Minutes that the source does not offer become the default.
 */
export function parseRange(hash: string, choices: readonly number[]): TimeRange | undefined {
  const at = hash.indexOf('?');
  if (at < 0) return undefined;
  const query = new URLSearchParams(hash.slice(at));
  const minutes = Number(query.get('minutes'));
  const untilMs = Date.parse(query.get('until') ?? '');
  return {
    minutes: choices.includes(minutes) ? minutes : (choices[0] ?? 5),
    untilMs: Number.isNaN(untilMs) ? undefined : untilMs,
  };
}

export function rangeControls(
  choices: readonly number[],
  range: TimeRange,
  changed: (range: TimeRange) => void,
): HTMLElement {
  let current = range;
  const buttons = choices.map((minutes) => {
    const button = h('button', { type: 'button' }, minutes < 120 ? `${minutes} min` : `${minutes / 60} h`);
    button.addEventListener('click', () => change({ ...current, minutes }));
    return button;
  });
  const until = h('input', { id: 'until', type: 'datetime-local' });
  const live = h('button', { type: 'button' }, 'Now');
  until.addEventListener('change', () => {
    const untilMs = parseMinute(until.value);
    change({ ...current, untilMs: Number.isNaN(untilMs) ? undefined : untilMs });
  });
  live.addEventListener('click', () => change({ ...current, untilMs: undefined }));

  function change(next: TimeRange): void {
    current = next;
    show();
    changed(next);
  }

  function show(): void {
    for (const [i, button] of buttons.entries())
      button.setAttribute('aria-pressed', String(choices[i] === current.minutes));
    live.setAttribute('aria-pressed', String(current.untilMs === undefined));
    until.value = current.untilMs === undefined ? '' : minuteText(current.untilMs);
  }

  show();
  return h(
    'div',
    { class: 'times' },
    h('div', { class: 'ranges', role: 'group', 'aria-label': 'Time shown' }, ...buttons),
    h('div', { class: 'field' }, h('label', { for: 'until' }, `until (${zoneName()})`), until, live),
  );
}
