/** The Kubernetes versions that are played, and what each lacks of the version that the hub follows. */

export const versions = ['v1.31.0', 'v1.33.13', 'v1.34.4', 'v1.35.4', 'v1.36.3', 'v1.37.2'] as const;

export interface Feature {
  readonly name: string;
  /** The first minor version that has it switched on. */
  readonly from: number;
  /** Steps of the parity script that need it. */
  readonly steps?: readonly string[];
  /** Differences from an older version's own controllers that it explains, as lines of test/cluster/parity/comparison.ts. */
  readonly explains?: RegExp;
  /** Statement of docs/behaviour.md. */
  readonly statement: string;
}

export const features: readonly Feature[] = [
  { name: 'label endpoints.kubernetes.io/managed-by of Endpoints', from: 33, explains: /^Endpoints \S+ .*managed-by/, statement: 'DF-7' },
  { name: 'trafficDistribution PreferSameZone and PreferSameNode', from: 34, steps: ['the same zone', 'the same node'], statement: 'DF-20' },
];

export const minorOf = (version: string): number => Number(/^v1\.(\d+)\./.exec(version)?.[1]);
export const lackedBy = (version: string): readonly Feature[] => features.filter(({ from }) => minorOf(version) < from);
