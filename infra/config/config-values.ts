/** Single values of clusters.yaml. */
import { type Shape, text } from './yaml-shape.ts';

export const matches = (allowed: string, pattern: RegExp): Shape<string> => text(allowed, (v) => pattern.test(v), { pattern: pattern.source });
export const arn = (service: string, what: string): Shape<string> =>
  matches(`the ARN of ${what}, arn:aws:${service}:…`, new RegExp(`^arn:aws[a-z-]*:${service}:[a-z0-9-]*:[0-9]{12}:.+$`));
export const roleArn = arn('iam', 'a role');
export const dnsLabel = matches('1 to 63 of a-z, 0-9 and "-", not beginning or ending with "-"', /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/);
export const eksName = matches('the name of an EKS cluster', /^[0-9A-Za-z][A-Za-z0-9_-]{0,99}$/);
export const awsRegion = matches('a region such as eu-central-1', /^[a-z]{2}(-[a-z]+)+-[0-9]$/);
export const keyArn = matches('the ARN of a KMS key, arn:aws:kms:REGION:ACCOUNT:key/…', /^arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key\/.+$/);
