/** Creates elements. Strings always become text, so a name from a cluster cannot become markup. */
export type Child = Node | string | undefined;

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: { readonly [name: string]: string | undefined } = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined) element.setAttribute(name, value);
  element.append(...children.filter((c) => c !== undefined));
  return element;
}

/** Changes the text only if it differs, so a selection stays and screen readers stay silent. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * Returns the text with each time in an element of its own, because a line could break at the hyphens of a
 * date.
 */
export const keepTimes = (text: string): readonly Child[] =>
  text
    .split(/(\d{4}-\d\d-\d\dT[\d:.]+Z?)/)
    .map((part, i) => (i % 2 === 1 ? h('span', { class: 'whole' }, part) : part));
