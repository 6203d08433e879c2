/** The subset of JSON Schema (draft 2020-12) that describes the clusters file. */
export interface Schema {
  readonly title?: string;
  readonly description?: string | undefined;
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'boolean';
  readonly properties?: { readonly [name: string]: Schema };
  readonly required?: readonly string[];
  readonly additionalProperties?: false;
  readonly items?: Schema;
  readonly oneOf?: readonly Schema[];
  readonly const?: string;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: unknown;
}
