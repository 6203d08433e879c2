/**
 * The search of the page's head: clusters and services of the whole hub. The key "/" moves the focus to it.
 */
import type { FoundName, SearchAnswer } from '../api-types.ts';
import { ask } from './ask.ts';
import { h, setText } from './dom.ts';
import { hashOf } from './route.ts';

const pauseMs = 200;

export function findBox(): HTMLElement {
  const input = h('input', {
    id: 'find',
    type: 'search',
    placeholder: 'Names, pods and IPs ( / )',
    'aria-label': 'Search all clusters',
    'aria-keyshortcuts': '/',
    autocomplete: 'off',
    spellcheck: 'false',
  });
  const list = h('ul');
  const note = h('p', { class: 'note', role: 'status' });
  const results = h('div', { class: 'panel results' }, list, note);
  const element = h('form', { class: 'find', role: 'search' }, input, results);
  results.hidden = true;
  let timer = 0;

  async function search(): Promise<void> {
    const text = input.value;
    let answer: SearchAnswer = { found: [], more: 0 };
    let problem = '';
    try {
      answer = await ask<SearchAnswer>('/api/search', { text });
    } catch (e) {
      problem = (e as Error).message;
    }
    // The user may have typed more meanwhile.
    if (text !== input.value) return;
    list.replaceChildren(
      ...answer.found.map((name) => h('li', {}, h('a', { href: hashTo(name) }, titleOf(name)))),
    );
    setText(note, problem || noteOf(answer));
    results.hidden = text.trim() === '';
  }

  /** Moves the focus between the field and the results. */
  function move(step: number): void {
    const stops = [input, ...list.querySelectorAll('a')];
    const at = stops.indexOf(document.activeElement as HTMLInputElement);
    stops[at + step]?.focus();
  }

  function close(): void {
    results.hidden = true;
  }

  input.addEventListener('input', () => {
    clearTimeout(timer);
    timer = window.setTimeout(() => void search(), pauseMs);
  });
  element.addEventListener('submit', (event) => {
    event.preventDefault();
    clearTimeout(timer);
    void search().then(() => list.querySelector('a')?.click());
  });
  element.addEventListener('click', (event) => {
    if (!(event.target instanceof HTMLAnchorElement)) return;
    input.value = '';
    close();
  });
  element.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      move(step);
    }
    if (event.key === 'Escape') {
      close();
      input.focus();
    }
  });
  element.addEventListener('focusout', ({ relatedTarget }) => {
    if (!(relatedTarget instanceof Node && element.contains(relatedTarget))) close();
  });
  addEventListener('keydown', (event) => {
    const isShortcut = ['Control', 'Meta', 'Alt'].some((key) => event.getModifierState(key));
    const isTyping = event.target instanceof HTMLElement && event.target.matches('input, select, textarea');
    if (event.key !== '/' || isTyping || isShortcut) return;
    event.preventDefault();
    input.focus();
  });
  return element;
}

const hashTo = ({ cluster, namespace, service }: FoundName): string =>
  service === undefined ? hashOf('cluster', cluster) : hashOf('services', cluster, namespace, service);

const titleOf = ({ cluster, namespace, service, pod }: FoundName): string =>
  service === undefined ? cluster : `${cluster}  ${namespace}/${service}${pod ? `  ${pod}` : ''}`;

function noteOf({ found, more }: SearchAnswer): string {
  if (found.length === 0) return 'No cluster, service or selected pod has such a name or IP.';
  return more > 0 ? `${more} more: type more of the name.` : '';
}
