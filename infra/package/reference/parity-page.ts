import { code, type Part, page, table } from './markdown.ts';
import {
  type Parity,
  parityFile,
  readParity,
  type Section,
  type Statement,
  statementsOf,
} from './parity-statements.ts';

export function parityPage(): string {
  const parity = readParity();
  return page('Parity with Kubernetes v1.37.2', parityFile, [
    'What the endpoints controller (EPC) and the EndpointSlice controller (ESC) do, with the test that checks it here, or the deliberate difference. The facts come from the sources of k8s.io/kubernetes v1.37.2, k8s.io/endpointslice and client-go v0.37.2. Comments in the code use the same IDs.',
    'Each test is a file below `test/` with part of a title, or `conformance` with a family of recorded vectors.',
    '(V) was also seen by running upstream’s code, a TRAP is easy to get wrong, and a QUIRK is odd and kept only for parity. A key is namespace/name of a Service, a lister the informer’s cache, and batchPeriod endpointUpdatesBatchPeriod. Nil is absent or null; empty is `{}`, `[]` or `""`.',
    'The controllers of older versions differ too: [versions](../operate/versions.md).',
    '## Deliberate differences',
    table(['', 'statements', 'upstream', 'here, and why', 'tests'], differenceRows(parity)),
    ...parity.sections.flatMap(sectionParts),
  ]);
}

function differenceRows(parity: Parity): readonly (readonly string[])[] {
  const statements = statementsOf(parity);
  return parity.differences.map(({ id, upstream, here, tests }) => [
    id,
    statements.flatMap(({ id: of, differences }) => (differences?.includes(id) ? [of] : [])).join(', '),
    upstream,
    here,
    tests.map(code).join(', '),
  ]);
}

const sectionParts = ({ number, title, source, note, statements }: Section): readonly Part[] => [
  `${number.includes('.') ? '###' : '##'} ${number} ${title}`,
  ...(source === undefined ? [] : [`Source: ${source}.`]),
  ...(note === undefined ? [] : [note]),
  ...(statements.length === 0
    ? []
    : [
        table(
          ['ID', 'upstream', 'here'],
          statements.map((s) => [s.id, s.text, coverOf(s)]),
        ),
      ]),
];

const coverOf = ({ tests = [], differences = [], noTest }: Statement): string =>
  [...differences, ...tests.map(code), ...(noTest === undefined ? [] : [`no test: ${noTest}`])].join(', ');
