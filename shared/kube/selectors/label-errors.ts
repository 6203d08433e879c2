/**
 * What is wrong with the key or the value of a label, in the words of apimachinery's api/validate/content, its
 * double spaces included.
 */
import { isDnsSubdomain, isLabelValue, isQualifiedName } from '../api-validation.ts';

const namePattern = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const nameRule = `alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character`;
const keyExamples = `(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${namePattern}')`;
const subdomainPattern = '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*';

/** Empty for a valid key. */
export function labelKeyErrors(key: string): readonly string[] {
  if (isQualifiedName(key)) return [];
  const [first = '', second, ...more] = key.split('/');
  if (more.length > 0)
    return [
      `a valid label key must consist of ${nameRule} ${keyExamples} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  const name = second ?? first;
  return [
    ...(second === undefined ? [] : prefixErrors(first)),
    ...(name === '' ? ['name part must be non-empty'] : []),
    ...(bytesOf(name) > 63 ? ['name part must be no more than 63 bytes'] : []),
    ...(hasNameForm(name) ? [] : [`name part must consist of ${nameRule} ${keyExamples}`]),
  ];
}

/** Empty for a valid value. */
export function labelValueErrors(value: string): readonly string[] {
  if (isLabelValue(value)) return [];
  return [
    ...(bytesOf(value) > 63 ? ['must be no more than 63 bytes'] : []),
    ...(hasNameForm(value)
      ? []
      : [
          `a valid label must be an empty string or consist of ${nameRule} (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(${namePattern})?')`,
        ]),
  ];
}

function prefixErrors(prefix: string): readonly string[] {
  if (prefix === '') return ['prefix part must be non-empty'];
  const hasForm = new RegExp(`^${subdomainPattern}$`).test(prefix);
  if (isDnsSubdomain(prefix)) return [];
  return [
    ...(bytesOf(prefix) > 253 ? ['prefix part must be no more than 253 bytes'] : []),
    ...(hasForm
      ? []
      : [
          `prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${subdomainPattern}')`,
        ]),
  ];
}

const hasNameForm = (text: string): boolean => new RegExp(`^${namePattern}$`).test(text);
const bytesOf = (text: string): number => new TextEncoder().encode(text).length;
