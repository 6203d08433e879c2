/**
 * JSON Schemas of the answers to programs (`-o json`), from the types of the data. Their doc comments are the
 * descriptions.
 */
import { createGenerator } from 'ts-json-schema-generator';

interface Answer {
  /** Of the file, without its ending. */
  readonly name: string;
  readonly type: string;
  readonly title: string;
  readonly description: string;
}

export const answers: readonly Answer[] = [
  {
    name: 'explanation',
    type: 'ExplanationData',
    title: 'Explanation',
    description: 'fleet-endpoints explain CLUSTER NAMESPACE/SERVICE -o json',
  },
  {
    name: 'addresses',
    type: 'AddressesData',
    title: 'Addresses',
    description: 'fleet-endpoints explain CLUSTER NAMESPACE/SERVICE --at TIME -o json',
  },
  {
    name: 'service-list',
    type: 'ServiceList',
    title: 'ServiceList',
    description: 'fleet-endpoints explain CLUSTER -A -o json',
  },
  {
    name: 'history',
    type: 'HistoryData',
    title: 'History',
    description: 'fleet-endpoints history CLUSTER NAMESPACE/SERVICE -o json',
  },
  {
    name: 'run',
    type: 'RunData',
    title: 'Run',
    description: 'a line of fleet-endpoints history CLUSTER NAMESPACE/SERVICE -f -o json',
  },
  {
    name: 'timeline',
    type: 'TimelineData',
    title: 'Timeline',
    description: 'fleet-endpoints explain CLUSTER NAMESPACE/SERVICE --timeline POD -o json',
  },
  {
    name: 'cluster-list',
    type: 'ClusterList',
    title: 'ClusterList',
    description: 'fleet-endpoints cluster list -o json',
  },
  {
    name: 'cluster-zones',
    type: 'ClusterZonesList',
    title: 'ClusterZonesList',
    description: 'fleet-endpoints cluster zone CLUSTER -o json',
  },
  {
    name: 'opt-in-check',
    type: 'OptInCheck',
    title: 'OptInCheck',
    description: 'fleet-endpoints opt-in check CLUSTER NAMESPACE/SERVICE -o json',
  },
];

/** Text of each schema by the name of its file. */
export function answerSchemas(): ReadonlyMap<string, string> {
  const generator = createGenerator({
    path: 'infra/cli/ask/**/{explanation-data,history-data,service-list,cluster-list,cluster-zones,opt-in-check,timeline}.ts',
    tsconfig: 'tsconfig.json',
    // `npm run verify` checks the types.
    skipTypeCheck: true,
    expose: 'none',
    topRef: false,
  });
  return new Map(
    answers.map(({ name, type, title, description }) => {
      const { $schema, definitions, ...schema } = generator.createSchema(type);
      const whole = {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        title,
        ...schema,
        description,
      };
      return [`${name}.schema.json`, `${JSON.stringify(whole, null, 2)}\n`];
    }),
  );
}
