/** The verdict at the top of a page: one sentence, and a line for each cause with a link to its cluster. */
import type { FleetRow } from '../../api-types.ts';
import { type Problem, verdictOn } from '../../fleet-verdict.ts';
import { durationText } from '../charts/format.ts';
import { h, setText } from '../dom.ts';
import { hashOf, servicesHash } from '../route.ts';

/** Number of causes shown. The table below has all. */
const shown = 8;

export function verdictView() {
  const sentence = h('p', { role: 'status' });
  const causes = h('ul', { class: 'lines' });
  const element = h('section', { class: 'panel verdict', 'aria-label': 'State' }, sentence, causes);
  let drawn = '';
  return {
    element,
    /** `linked`: each cause has a link to its cluster. */
    show(rows: readonly FleetRow[], linked: boolean): void {
      const { state, text, problems } = verdictOn(rows, durationText);
      element.dataset['state'] = state;
      setText(sentence, text);
      const more =
        problems.length > shown
          ? [h('li', {}, `${(problems.length - shown).toLocaleString('en')} more in the table`)]
          : [];
      const items = JSON.stringify(problems);
      if (items === drawn) return;
      drawn = items;
      causes.hidden = problems.length === 0;
      causes.replaceChildren(...problems.slice(0, shown).map((problem) => cause(problem, linked)), ...more);
    },
  };
}

function cause({ cluster, text, filter }: Problem, linked: boolean): HTMLElement {
  const clause = filter ? h('a', { href: servicesHash(cluster, filter) }, text) : text;
  return linked
    ? h('li', {}, h('a', { href: hashOf('cluster', cluster) }, cluster), ': ', clause)
    : h('li', {}, clause);
}
