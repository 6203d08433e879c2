/** A search field for the rows of a table or list. */
import { h } from './dom.ts';

/** A page has one field of an `id`. `changed` is called at each input. */
export function searchField(id: string, placeholder: string, changed: () => void) {
  const input = h('input', { id, type: 'search', placeholder, autocomplete: 'off', spellcheck: 'false' });
  input.addEventListener('input', changed);
  return {
    element: h('div', { class: 'field' }, h('label', { for: id }, 'Search'), input),
    /** Returns true if the text has every word of the input, in any order and case. */
    finds(text: string): boolean {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      return words.every((word) => text.toLowerCase().includes(word));
    },
  };
}
