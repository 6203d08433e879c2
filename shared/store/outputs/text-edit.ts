/**
 * The difference between a text and a similar former text. Pairs of numbers are pieces of the former text
 * (the first piece and their number), with new text between them. A piece ends with a comma, so a JSON field
 * is a piece. Pure.
 */
export type TextEdit = readonly (number | string)[];

/** Number of pieces in which an equal piece is searched for: about a list's element. */
const nearby = 16;

export function editOf(former: string, text: string): TextEdit {
  const pieces = piecesOf(former);
  const places = placesOf(pieces);
  const edit: (number | string)[] = [];
  const added = piecesOf(text);
  let expected = 0;
  for (let i = 0; i < added.length; ) {
    const piece = added[i] as string;
    const from = placeOf(piece, { pieces, places, expected });
    if (from === undefined) {
      pushText(edit, piece);
      i++;
    } else {
      const count = equalPieces(added, i, pieces, from);
      edit.push(from, count);
      i += count;
      expected = from + count;
    }
  }
  return edit;
}

function placesOf(pieces: readonly string[]): ReadonlyMap<string, number | 'several'> {
  const places = new Map<string, number | 'several'>();
  for (const [i, piece] of pieces.entries()) places.set(piece, places.has(piece) ? 'several' : i);
  return places;
}

function pushText(edit: (number | string)[], text: string): void {
  const last = edit.at(-1);
  if (typeof last === 'string') edit[edit.length - 1] = last + text;
  else edit.push(text);
}

/** The first of them are known to be equal. */
function equalPieces(a: readonly string[], i: number, b: readonly string[], j: number): number {
  let count = 1;
  while (i + count < a.length && a[i + count] === b[j + count]) count++;
  return count;
}

export function edited(former: string, edit: TextEdit): string {
  const pieces = piecesOf(former);
  let text = '';
  for (let i = 0; i < edit.length; i++) {
    const from = edit[i];
    text += typeof from === 'number' ? pieces.slice(from, from + (edit[++i] as number)).join('') : from;
  }
  return text;
}

function piecesOf(text: string): readonly string[] {
  const pieces: string[] = [];
  let from = 0;
  for (let comma = text.indexOf(','); comma >= 0; comma = text.indexOf(',', from)) {
    pieces.push(text.slice(from, comma + 1));
    from = comma + 1;
  }
  if (from < text.length) pieces.push(text.slice(from));
  return pieces;
}

interface Former {
  readonly pieces: readonly string[];
  /** Index of each piece that occurs once. */
  readonly places: ReadonlyMap<string, number | 'several'>;
  /** Index after the last copied piece. */
  readonly expected: number;
}

function placeOf(piece: string, { pieces, places, expected }: Former): number | undefined {
  const place = places.get(piece);
  if (place !== 'several') return place;
  for (let i = expected; i < expected + nearby; i++) if (pieces[i] === piece) return i;
  return undefined;
}
