/**
 * The history of a service: a mark for each run on a time axis, and the runs as a list. The chosen moment is
 * in the URL, with the addresses of that moment below the list.
 */
import type { AddressThen, GoneThen, HistoryAnswer, RunText, Then } from '../../api-types.ts';
import { dateText, zoneName } from '../charts/time-zone.ts';
import { type Child, h, keepTimes, setText } from '../dom.ts';
import { searchField } from '../search-field.ts';

/** Number of addresses shown. `fleet-endpoints explain --at` prints all of them. */
const maxAddresses = 50;
/** Number of runs shown. The filter finds the others. */
const maxRuns = 8;

const kinds: { readonly [K in RunText['kind']]: string } = {
  wrote: 'wrote',
  failed: 'failed',
  held: 'held back',
  found: 'wrote nothing',
};

/**
 * `choose` writes the moment into the URL, or takes it away. `commandAt` is the command for a moment.
 * `chosenMs`: ms since the epoch.
 */
export function timeLine(
  askThen: (atMs: number) => Promise<Then>,
  choose: (atMs: number | undefined) => void,
  commandAt: (atMs: number) => HTMLElement,
  chosenMs: number | undefined,
) {
  let runs: readonly RunText[] = [];
  let drawn = '';
  let isLinked = chosenMs !== undefined;
  const search = searchField('run-search', 'pod, address or reason', draw);
  const kind = h(
    'select',
    { id: 'run-kind' },
    h('option', { value: '' }, 'all entries'),
    ...Object.entries(kinds).map(option),
  );
  const count = h('span', { class: 'note' });
  const axis = h('div', { class: 'axis', 'aria-hidden': 'true' });
  const list = h('ol', { class: 'runs' });
  const more = h('p', { class: 'empty' });
  const then = h('div', { class: 'then', 'aria-live': 'polite' });
  const heading = h(
    'div',
    { class: 'heading' },
    h('h3', {}, 'History'),
    count,
    search.element,
    h('div', { class: 'field' }, h('label', { for: 'run-kind' }, 'Show'), kind),
  );
  const element = h('section', { class: 'panel history' }, heading, axis, list, more, then);
  kind.addEventListener('change', draw);
  if (chosenMs !== undefined) void showThen(chosenMs);

  function draw(): void {
    const isFound = (r: RunText) =>
      (!kind.value || r.kind === kind.value) && search.finds(`${r.headline} ${r.lines}`);
    const found = runs.filter(isFound);
    const shown = found.slice(-maxRuns);
    const chosen = found.find((r) => r.atMs === chosenMs);
    // The chosen run stays in the list while others come.
    const rows = (chosen && !shown.includes(chosen) ? [chosen, ...shown] : shown).toReversed();
    const focused = document.activeElement?.getAttribute('data-at');
    list.replaceChildren(...rows.map(runItem));
    if (focused) list.querySelector<HTMLElement>(`[data-at="${focused}"]`)?.focus({ preventScroll: true });
    axis.replaceChildren(...marksOf(found));
    axis.hidden = found.length < 2;
    more.hidden = runs.length > 0 && found.length > 0 && found.length <= rows.length;
    setText(
      more,
      runs.length === 0
        ? noRuns
        : found.length === 0
          ? 'The search finds no entry.'
          : `${found.length - rows.length} earlier entries: the search finds them.`,
    );
  }

  function runItem({ atMs, kind: ofRun, headline, lines }: RunText): HTMLElement {
    const button = h(
      'button',
      { type: 'button', 'data-at': String(atMs), 'aria-pressed': String(atMs === chosenMs) },
      dateText(atMs),
    );
    button.addEventListener('click', () => {
      pick(atMs === chosenMs ? undefined : atMs);
    });
    return h('li', { class: ofRun }, button, ' ', headline.slice(headline.indexOf(' ') + 1), lineList(lines));
  }

  function pick(atMs: number | undefined): void {
    chosenMs = atMs;
    choose(atMs);
    draw();
    if (atMs === undefined) then.replaceChildren();
    else void showThen(atMs);
  }

  /** Places each mark by its time. */
  function marksOf(found: readonly RunText[]): readonly HTMLElement[] {
    const [first, last] = [found[0]?.atMs ?? 0, found.at(-1)?.atMs ?? 0];
    const marks = found.map((r) => {
      const mark = h('span', { class: `mark ${r.kind}${r.atMs === chosenMs ? ' chosen' : ''}` });
      mark.style.left = `${((100 * (r.atMs - first)) / Math.max(1, last - first)).toFixed(2)}%`;
      return mark;
    });
    return [
      h('div', { class: 'marks' }, ...marks),
      h('div', { class: 'ends' }, h('span', {}, dateText(first)), h('span', {}, dateText(last))),
    ];
  }

  async function showThen(atMs: number): Promise<void> {
    let content: readonly HTMLElement[];
    try {
      content = [...addressesThen(await askThen(atMs), atMs), commandAt(atMs)];
    } catch (e) {
      content = [h('p', { class: 'empty' }, (e as Error).message)];
    }
    // The user may have chosen another run meanwhile.
    if (chosenMs === atMs) then.replaceChildren(...content);
  }

  return {
    element,
    /** Brings the moment of the link into view, once it is drawn with all that is above it. */
    open(): void {
      if (!isLinked || then.childElementCount === 0) return;
      isLinked = false;
      then.scrollIntoView({ block: 'center' });
    },
    leave: (): void => pick(undefined),
    show({ runs: newRuns, remarks }: HistoryAnswer): void {
      const text = JSON.stringify([newRuns, remarks]);
      if (text === drawn) return;
      drawn = text;
      runs = newRuns;
      setText(
        count,
        [`${runs.length} ${runs.length === 1 ? 'entry' : 'entries'}, ${zoneName()}`, ...remarks].join('; '),
      );
      draw();
    },
  };
}

const noRuns = 'The history is empty: nothing has changed the service’s endpoints.';

const option = ([value, title]: [string, string]): HTMLElement => h('option', { value }, title);

const lineList = (lines: readonly string[]): HTMLElement =>
  h('ul', { class: 'lines' }, ...lines.map((line) => h('li', {}, ...keepTimes(line))));

function addressesThen({ summary, addresses, gone, caveats }: Then, atMs: number): readonly HTMLElement[] {
  const rows = [
    ...addresses.map((a) => row(a, a.state, a.sinceMs)),
    // The addresses that were removed last come first.
    ...[...gone].sort((a, b) => b.sinceMs - a.sinceMs).map((a) => row(a, 'gone', a.sinceMs)),
  ];
  const head = h('thead', {}, h('tr', {}, ...columns().map((c) => h('th', { scope: 'col' }, c))));
  const more =
    rows.length > maxAddresses
      ? [
          h(
            'p',
            { class: 'empty' },
            `${rows.length - maxAddresses} more: fleet-endpoints explain --at prints them.`,
          ),
        ]
      : [];
  return [
    h('h4', {}, `Addresses at ${dateText(atMs)}`),
    h('p', { class: 'summary' }, summary),
    ...(rows.length > 0
      ? [h('table', { class: 'list' }, head, h('tbody', {}, ...rows.slice(0, maxAddresses)))]
      : []),
    ...more,
    ...(caveats.length > 0 ? [lineList(caveats)] : []),
  ];
}

const columns = (): readonly string[] => ['In', 'Address', 'Pod', 'State', `Since (${zoneName()})`, 'Why'];

function row(
  { places, address, pod, why }: Pick<AddressThen | GoneThen, 'places' | 'address' | 'pod' | 'why'>,
  state: string,
  sinceMs?: number,
) {
  const since = sinceMs === undefined ? 'before the first record' : dateText(sinceMs);
  const cells: readonly Child[] = [places.join(' and '), address, pod, state, since, why ?? ''];
  return h('tr', {}, ...cells.map((cell, i) => h('td', { 'data-title': columns()[i] }, cell)));
}
