/**
 * Values that a careless or malicious sender would write: the leaves of the doors' grammars, and changes of
 * valid values.
 */
import fc, { type Arbitrary } from 'fast-check';

const separators = [
  '#',
  '/',
  ':',
  '%',
  '%2F',
  '%zz',
  'a#b',
  'a/b',
  '../..',
  'a:b',
  'import:web',
  'export:web',
  '$',
  '=',
  ',',
];
const properties = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'length', 'then'];
const characters = [
  '',
  ' ',
  '\u0000',
  'a\nb',
  '\u001b[2J',
  '\u009b',
  '\u202e',
  '\u{1F600}',
  '\uffff',
  '\ud800',
  'a\udc00',
  'é',
];
const long = ['x'.repeat(253), 'x'.repeat(254), '漢'.repeat(253), '%'.repeat(253), 'y'.repeat(100_000)];

/** Text for any field. */
export const hostileText: Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...separators, ...properties, ...characters) },
  { weight: 1, arbitrary: fc.constantFrom(...long) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 20 }) },
);

/** Mostly names that Kubernetes allows. */
export const someName: Arbitrary<string> = fc.oneof(
  { weight: 40, arbitrary: fc.constantFrom('x', 'y', 'web-9', 'a-b', 'x-y') },
  { weight: 1, arbitrary: hostileText },
);

export const hostileNumber: Arbitrary<number> = fc.oneof(
  fc.constantFrom(-1, 0, 0.5, 1, 65_536, 2 ** 31, 2 ** 53, 1e21, 1e308, -1e308),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);

/** Mostly labels that Kubernetes allows. */
export const someLabels: Arbitrary<{ readonly [key: string]: string }> = fc.dictionary(
  fc.oneof(
    {
      weight: 40,
      arbitrary: fc.constantFrom(
        'app',
        'constructor',
        'kubernetes.io/service-name',
        'endpointslice.kubernetes.io/managed-by',
      ),
    },
    { weight: 1, arbitrary: hostileText },
  ),
  fc.oneof(
    { weight: 40, arbitrary: fc.constantFrom('web', 'svc', '') },
    { weight: 1, arbitrary: hostileText },
  ),
  { maxKeys: 3 },
);

/** Mostly the one value. */
export const mostly = <T, U>(usual: Arbitrary<T>, hostile: Arbitrary<U>): Arbitrary<T | U> =>
  fc.oneof({ weight: 40, arbitrary: usual as Arbitrary<T | U> }, { weight: 1, arbitrary: hostile });

const depth = 20_000;
/** More levels than a stack has room for. */
export const deepJson = `${'['.repeat(depth)}${']'.repeat(depth)}`;

/** Any value of JSON, also with the names of an object's own machinery as keys. */
export const anyJson: Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, [], {}, [[]], [null], { a: null }),
  hostileText,
  hostileNumber,
  fc.dictionary(hostileText, fc.oneof(hostileText, hostileNumber, fc.constant(null)), { maxKeys: 3 }),
  fc.jsonValue({ maxDepth: 3 }),
);
/** A change at one place of a JSON value. */
export interface Mutation {
  readonly place: number;
  readonly how: 'drop' | 'replace' | 'swap' | 'wrap' | 'repeat';
  readonly by: unknown;
}

const mutation: Arbitrary<Mutation> = fc.record({
  place: fc.nat(200),
  how: fc.constantFrom('drop', 'replace', 'replace', 'swap', 'wrap', 'repeat'),
  by: anyJson,
});

/** Most values get no change. */
export const someMutations: Arbitrary<readonly Mutation[]> = fc.oneof(
  { weight: 5, arbitrary: fc.constant([]) },
  { weight: 1, arbitrary: fc.array(mutation, { minLength: 1, maxLength: 3 }) },
);
export const mutations: Arbitrary<readonly Mutation[]> = fc.array(mutation, { minLength: 1, maxLength: 3 });

type Container = { [key: string]: unknown };

/** A copy of the value with the changes. */
export function mutated<T>(value: T, changes: readonly Mutation[]): unknown {
  const root: Container = { value: structuredClone(value) };
  for (const change of changes) apply(root, change);
  return root['value'];
}

function apply(root: Container, { place, how, by }: Mutation): void {
  const places = placesOf(root);
  const [of, key] = places[place % places.length] as Place;
  const [otherOf, otherKey] = places[(place * 7 + 1) % places.length] as Place;
  if (how !== 'drop')
    put(
      of,
      key,
      {
        replace: structuredClone(by),
        swap: structuredClone(otherOf[otherKey]),
        wrap: [of[key]],
        repeat: repeated(of[key]),
      }[how],
    );
  else if (Array.isArray(of)) of.splice(Number(key), 1);
  else if (of !== root) delete of[key];
}

const repeated = (value: unknown): unknown =>
  typeof value === 'string' ? value.repeat(2) : Array.isArray(value) ? [...value, ...value] : [value, value];

type Place = readonly [of: Container, key: string];

function placesOf(of: Container): readonly Place[] {
  return Object.entries(of).flatMap(([key, value]): readonly Place[] => [
    [of, key],
    ...(typeof value === 'object' && value !== null ? placesOf(value as Container) : []),
  ]);
}

/** An assignment to "__proto__" would change the prototype instead. */
function put(of: Container, key: string, value: unknown): void {
  Object.defineProperty(of, key, { value, enumerable: true, configurable: true, writable: true });
}

/** The text without its end. `share` of 1 is all of it. */
export const cut = (text: string, share: number): string => text.slice(0, Math.floor(text.length * share));
export const someCut: Arbitrary<number> = fc.oneof(
  { weight: 15, arbitrary: fc.constant(1) },
  { weight: 1, arbitrary: fc.double({ min: 0, max: 1, noNaN: true }) },
);
