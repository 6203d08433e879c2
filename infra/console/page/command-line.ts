/** A command of the CLI that shows the same as the page, with a button that copies it. */
import { h, setText } from './dom.ts';

/** How long the button reports the copy. */
const reportMs = 2_000;

/**
 * Returns a command as a user would type it. `table` is that of a deployed hub, whose operators have the
 * command installed; a local run is in a checkout.
 */
export const commandText = (table: string | undefined, ...words: readonly string[]): string =>
  (table === undefined
    ? ['npx fleet-endpoints', ...words]
    : ['fleet-endpoints', ...words, '--table', table]
  ).join(' ');

export function commandLine(text: string): HTMLElement {
  const label = h('span', { role: 'status' }, 'Copy');
  const button = h('button', { type: 'button', 'aria-label': `Copy the command ${text}` }, label);
  button.addEventListener('click', async () => {
    // A browser refuses the clipboard to a page without the focus.
    const report = await navigator.clipboard.writeText(text).then(
      () => 'Copied',
      () => 'Not copied',
    );
    setText(label, report);
    setTimeout(() => setText(label, 'Copy'), reportMs);
  });
  return h('div', { class: 'command' }, h('code', {}, text), button);
}
