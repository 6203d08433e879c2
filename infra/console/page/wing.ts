/** The door of services across clusters (docs/use/clusterset.md): their view, and their part of an explanation. */
import type { Explanation } from '#infra/cli/ask/explain/explanation.ts';
import { pageOfSet } from '#infra/clusterset/page/clusterset-page.ts';

export interface PagePart {
  readonly view: 'clusterset';
  readonly title: string;
  readonly makeView: () => { readonly element: HTMLElement; refresh(): Promise<void>; destroy(): void };
  readonly makePanel: () => { readonly element: HTMLElement; show(explanation: Explanation): void };
}

export const pageParts: readonly PagePart[] = [pageOfSet];
