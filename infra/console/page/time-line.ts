/** The history of a service: a time line of its runs, with the addresses after the chosen run. */
import type { AddressThen, GoneThen, HistoryAnswer, Then, Told } from '../api-types.ts';
import { type Child, h, setText } from './dom.ts';

/** Number of addresses shown. `fleet-endpoints explain --at` prints all of them. */
const maxAddresses = 50;

export function timeLine(askThen: (atMs: number) => Promise<Then>) {
  let runs: readonly Told[] = [];
  let drawn = '';
  /** End of the chosen run, ms since the epoch. Undefined chooses the newest run, after which the addresses are those of the rest of the page. */
  let chosenMs: number | undefined;
  let shownMs: number | undefined;
  const slider = h('input', { id: 'run', type: 'range', min: '0', max: '0', step: '1' });
  const earlier = h('button', { type: 'button' }, 'Earlier');
  const later = h('button', { type: 'button' }, 'Later');
  const marks = h('div', { class: 'marks', 'aria-hidden': 'true' });
  const count = h('span', { class: 'note' });
  const run = h('div', { class: 'run', 'aria-live': 'polite' });
  const then = h('div', { class: 'then' });
  const controls = h('div', { class: 'moves' }, earlier, h('div', { class: 'track' }, marks, slider), later);
  const heading = h('div', { class: 'heading' }, h('h3', {}, h('label', { for: 'run' }, 'History')), count);
  const element = h('section', { class: 'panel history' }, heading, controls, run, then);
  slider.addEventListener('input', () => choose(Number(slider.value)));
  earlier.addEventListener('click', () => choose(Number(slider.value) - 1));
  later.addEventListener('click', () => choose(Number(slider.value) + 1));

  function choose(index: number): void {
    const at = Math.max(0, Math.min(runs.length - 1, index));
    chosenMs = at === runs.length - 1 ? undefined : runs[at]?.atMs;
    void show(at);
  }

  async function show(index: number): Promise<void> {
    const told = runs[index];
    slider.value = String(index);
    // A `disabled` button would lose the focus at the ends.
    earlier.setAttribute('aria-disabled', String(index <= 0));
    later.setAttribute('aria-disabled', String(index >= runs.length - 1));
    for (const [i, mark] of [...marks.children].entries()) mark.classList.toggle('chosen', i === index);
    if (!told || told.atMs === shownMs) return;
    shownMs = told.atMs;
    slider.setAttribute('aria-valuetext', told.headline);
    run.replaceChildren(h('p', {}, h('span', { class: `badge ${states[told.kind]}` }, told.kind), ' ', told.headline), lineList(told.lines));
    if (index === runs.length - 1) return then.replaceChildren();
    try {
      const answer = await askThen(told.atMs);
      // The user may have chosen another run meanwhile.
      if (shownMs === told.atMs) then.replaceChildren(...addressesThen(answer));
    } catch (e) {
      if (shownMs === told.atMs) then.replaceChildren(h('p', { class: 'empty' }, (e as Error).message));
    }
  }

  return {
    element,
    show({ told, remarks }: HistoryAnswer): void {
      const text = JSON.stringify([told, remarks]);
      if (text === drawn) return;
      drawn = text;
      runs = told;
      setText(count, [`${runs.length} runs`, ...remarks].join('; '));
      controls.hidden = runs.length === 0;
      slider.max = String(Math.max(0, runs.length - 1));
      marks.replaceChildren(...runs.map((r) => h('span', { class: `mark ${r.kind}` })));
      if (runs.length === 0) run.replaceChildren(h('p', { class: 'empty' }, 'The history is empty: no run has changed the service.'));
      const found = chosenMs === undefined ? -1 : runs.findIndex((r) => r.atMs === chosenMs);
      void show(found < 0 ? runs.length - 1 : found);
    },
  };
}

const states: { readonly [K in Told['kind']]: string } = { wrote: 'good', failed: 'bad', held: 'fair', found: 'out' };

const lineList = (lines: readonly string[]): HTMLElement => h('ul', { class: 'lines' }, ...lines.map((line) => h('li', {}, line)));

function addressesThen({ summary, addresses, gone, caveats }: Then): readonly HTMLElement[] {
  const rows = [
    ...addresses.map((a) => row(a, a.state, a.sinceMs)),
    // The addresses that were removed last come first.
    ...[...gone].sort((a, b) => b.sinceMs - a.sinceMs).map((a) => row(a, 'gone', a.sinceMs)),
  ];
  const head = h('thead', {}, h('tr', {}, ...columns.map((c) => h('th', { scope: 'col' }, c))));
  const more =
    rows.length > maxAddresses ? [h('p', { class: 'empty' }, `${rows.length - maxAddresses} more: fleet-endpoints explain --at prints them.`)] : [];
  return [
    h('p', { class: 'summary' }, summary),
    ...(rows.length > 0 ? [h('table', { class: 'list' }, head, h('tbody', {}, ...rows.slice(0, maxAddresses)))] : []),
    ...more,
    ...(caveats.length > 0 ? [lineList(caveats)] : []),
  ];
}

const columns = ['In', 'Address', 'Pod', 'State', 'Since (UTC)', 'Why'] as const;

function row({ places, address, pod, why }: Pick<AddressThen | GoneThen, 'places' | 'address' | 'pod' | 'why'>, state: string, sinceMs?: number) {
  const since = sinceMs === undefined ? 'before the first record' : new Date(sinceMs).toISOString().slice(0, 19).replace('T', ' ');
  const cells: readonly Child[] = [places.join(' and '), address, pod, state, since, why ?? ''];
  return h('tr', {}, ...cells.map((cell, i) => h('td', { 'data-title': columns[i] }, cell)));
}
