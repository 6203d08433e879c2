/** Says that a moment of the history is chosen, because the rest of the page shows the present state. */
import { dateText, zoneName } from '../charts/time-zone.ts';
import { h, setText } from '../dom.ts';

/** `leave` goes back to the present state. */
export function momentBanner(leave: () => void) {
  const text = h('span');
  const button = h('button', { type: 'button' }, 'Back to now');
  button.addEventListener('click', leave);
  const element = h('p', { class: 'panel moment', role: 'status', hidden: '' }, text, button);
  return {
    element,
    show(atMs: number | undefined): void {
      element.hidden = atMs === undefined;
      if (atMs !== undefined)
        setText(
          text,
          `The addresses at ${dateText(atMs)} (${zoneName()}) are below the history; the rest of the page shows the present state.`,
        );
    },
  };
}
