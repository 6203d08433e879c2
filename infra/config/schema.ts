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
  /**
   * The object of the CDK in whose place the value is given to a construct. It is not part of JSON Schema.
   */
  readonly cdk?: CdkForm;
}

/**
 * A key of clusters.yaml ends with what its text or number is (Arn, Seconds, Days). The prop of a construct
 * has the object, and the key's name without that.
 */
export interface CdkForm {
  /** With the module of aws-cdk-lib in front (iam.IRole), but for the CDK's core. */
  readonly type: string;
  /**
   * The object's property, or method without arguments, whose value clusters.yaml has; undefined if the
   * object is that value.
   */
  readonly member?: string;
}

export const propNameOf = (key: string, { cdk }: Schema): string =>
  cdk ? key.replace(/(Arn|Seconds|Days)$/, '') : key;

/** Properties of an object, or of each of the objects that it may be. */
export const propertiesOf = ({ properties, oneOf = [] }: Schema): { readonly [name: string]: Schema } =>
  properties ?? Object.assign({}, ...oneOf.map((each) => each.properties));
