/**
 * Converts the port's conditions and changes to DynamoDB expressions. Every name is an alias, so reserved
 * words cannot occur.
 */
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { Change, Value, WriteCondition } from '../table.ts';
import { encodeValue } from './attributes.ts';

/** Builds the expressions of one command, whose update and condition share aliases. Call `bindings` last. */
export class ExpressionBuilder {
  readonly #aliases = new Map<string, string>();
  readonly #values: Record<string, AttributeValue> = {};

  update(change: Change): { UpdateExpression?: string } {
    const set = Object.entries(change.set ?? {}).map(
      ([name, value]) => `${this.#name(name)} = ${this.#value(value)}`,
    );
    const setIfAbsent = Object.entries(change.setIfAbsent ?? {}).map(([attribute, value]) => {
      const name = this.#name(attribute);
      return `${name} = if_not_exists(${name}, ${this.#value(value)})`;
    });
    const add = Object.entries(change.add ?? {}).map(
      ([name, value]) => `${this.#name(name)} ${this.#value(value)}`,
    );
    const remove = (change.remove ?? []).map((name) => this.#name(name));
    const clauses = [
      clause('SET', [...set, ...setIfAbsent]),
      clause('ADD', add),
      clause('REMOVE', remove),
    ].filter((c) => c !== '');
    return clauses.length > 0 ? { UpdateExpression: clauses.join(' ') } : {};
  }

  condition(condition: WriteCondition | undefined): { ConditionExpression?: string } {
    return condition ? { ConditionExpression: this.#condition(condition) } : {};
  }

  bindings(): {
    ExpressionAttributeNames?: Record<string, string>;
    ExpressionAttributeValues?: Record<string, AttributeValue>;
  } {
    const names = Object.fromEntries([...this.#aliases].map(([name, alias]) => [alias, name]));
    return {
      ...(this.#aliases.size > 0 && { ExpressionAttributeNames: names }),
      ...(Object.keys(this.#values).length > 0 && { ExpressionAttributeValues: this.#values }),
    };
  }

  #condition(c: WriteCondition): string {
    if ('absent' in c) return `attribute_not_exists(${this.#name(c.absent)})`;
    if ('present' in c) return `attribute_exists(${this.#name(c.present)})`;
    if ('than' in c) return `${this.#name(c.attribute)} ${c.is} ${this.#name(c.than)}`;
    if ('attribute' in c) return `${this.#name(c.attribute)} ${c.is} ${this.#value(c.value)}`;
    const [list, word] = 'all' in c ? [c.all, ' AND '] : [c.any, ' OR '];
    if (list.length === 0) throw new RangeError('a condition that lists nothing');
    return list
      .map((part) => (needsBrackets(c, part) ? `(${this.#condition(part)})` : this.#condition(part)))
      .join(word);
  }

  #name(attribute: string): string {
    const alias = this.#aliases.get(attribute) ?? `#${this.#aliases.size}`;
    this.#aliases.set(attribute, alias);
    return alias;
  }

  #value(value: Value): string {
    const alias = `:${Object.keys(this.#values).length}`;
    this.#values[alias] = encodeValue(value);
    return alias;
  }
}

/**
 * AND binds closer than OR. Unneeded brackets are left out, because dynalite takes five times as long for
 * each pair.
 */
const needsBrackets = (whole: WriteCondition, part: WriteCondition): boolean =>
  'all' in whole && 'any' in part;

const clause = (word: string, parts: readonly string[]): string =>
  parts.length > 0 ? `${word} ${parts.join(', ')}` : '';
