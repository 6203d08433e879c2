/**
 * Text from messages, clusters and processes as one line for a terminal. Names in messages are unchecked
 * text: escape sequences would set titles, erase what was printed and forge lines; marks of direction would
 * show a name as another one.
 */
export const printable = (text: string): string =>
  text.replace(/[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, escaped);

const short: { readonly [character: string]: string } = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

const escaped = (character: string): string =>
  short[character] ?? `\\u${(character.codePointAt(0) as number).toString(16).padStart(4, '0')}`;

/** On standard output, line by line: what comes as one element is one line. */
export function say(...lines: readonly string[]): void {
  for (const line of lines) console.log(printable(line));
}
