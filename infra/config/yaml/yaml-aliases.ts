import { type Document, isAlias, isNode, visit } from 'yaml';

/** More than a file of two thousand clusters has. */
const maxNodes = 200_000;

/**
 * Replaces each alias by its value. Returns the problem if that makes the file endless, which aliases of
 * aliases do in a few lines.
 */
export function resolveAliases(
  document: Document,
): readonly { readonly offset: number; readonly text: string }[] {
  const problems: { offset: number; text: string }[] = [];
  let nodes = 0;
  visit(document, (_key, node, path) => {
    const problem = (text: string): symbol => {
      problems.push({ offset: (isNode(node) ? node.range?.[0] : undefined) ?? 0, text });
      return visit.BREAK;
    };
    if (++nodes > maxNodes)
      return problem(`with its aliases (*name) the file has more than ${maxNodes} values`);
    if (!isAlias(node)) return undefined;
    const target = node.resolve(document);
    return path.some((above) => above === target)
      ? problem(`*${node.source} stands for a value that it is a part of`)
      : target;
  });
  return problems;
}
