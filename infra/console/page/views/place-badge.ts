/** The state of a pod in Endpoints or in the slices of a family, as a coloured word. */
import { h } from '../dom.ts';

export type Look = 'good' | 'fair' | 'out';

const places: { readonly [place: string]: readonly [text: string, look: Look] } = {
  addresses: ['ready', 'good'],
  ready: ['ready', 'good'],
  notReadyAddresses: ['not ready', 'fair'],
  'not ready': ['not ready', 'fair'],
  absent: ['not listed', 'out'],
};

export const lookOf = (place: string): Look => places[place]?.[1] ?? 'out';

export function placeBadge(place: string, title?: string, before = ''): HTMLElement {
  const [text, look] = places[place] ?? [place, 'out'];
  return h('span', { class: `badge ${look}`, title }, `${before}${text}`);
}
