/** Single values of clusters.yaml. */
import type { CdkForm } from './schema.ts';
import { integer, type Shape, shape, text } from './yaml/yaml-shape.ts';

/** The same shape, whose value a construct takes as an object of the CDK. */
export const asCdk = <T>(inner: Shape<T>, cdk: CdkForm): Shape<T> => shape({ ...inner.schema, cdk }, inner);

export const matches = (allowed: string, pattern: RegExp): Shape<string> =>
  text(allowed, (v) => pattern.test(v), { pattern: pattern.source });
export const arn = (service: string, what: string): Shape<string> =>
  matches(
    `the ARN of ${what}, arn:aws:${service}:…`,
    new RegExp(`^arn:aws[a-z-]*:${service}:[a-z0-9-]*:[0-9]{12}:.+$`),
  );
export const roleArn = asCdk(arn('iam', 'a role'), { type: 'iam.IRole', member: 'roleArn' });
export const dnsLabel = matches(
  '1 to 63 of a-z, 0-9 and "-", not beginning or ending with "-"',
  /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/,
);
export const eksName = matches('the name of an EKS cluster', /^[0-9A-Za-z][A-Za-z0-9_-]{0,99}$/);
export const awsRegion = matches('a region such as eu-central-1', /^[a-z]{2}(-[a-z]+)+-[0-9]$/);
export const keyArn = asCdk(
  matches(
    'the ARN of a KMS key, arn:aws:kms:REGION:ACCOUNT:key/…',
    /^arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key\/.+$/,
  ),
  {
    type: 'kms.IKey',
    member: 'keyArn',
  },
);
export const topicArn = asCdk(arn('sns', 'a topic'), { type: 'sns.ITopic', member: 'topicArn' });
export const seconds = (from: number, to: number): Shape<number> =>
  asCdk(integer(from, to), { type: 'Duration', member: 'toSeconds' });
export const days = (from: number, to: number): Shape<number> =>
  asCdk(integer(from, to), { type: 'Duration', member: 'toDays' });
