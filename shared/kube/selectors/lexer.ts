/** The tokens of a label selector, as apimachinery's pkg/labels scans them. */

const symbols = [')', ',', '!', '==', '=', '>', 'in', '<', '!=', 'notin', '('] as const;

export interface Token {
  readonly kind: (typeof symbols)[number] | 'identifier' | 'end';
  /** As it is in the text; empty at the end. */
  readonly literal: string;
}

export const end: Token = { kind: 'end', literal: '' };

/** The last token is the end. */
export function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  for (const [literal] of text.matchAll(/==|!=|[=!(),<>]|[^ \t\r\n=!(),<>]+/g)) {
    const kind = symbols.find((symbol) => symbol === literal) ?? 'identifier';
    tokens.push({ kind, literal });
  }
  return [...tokens, end];
}
