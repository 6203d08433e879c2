/**
 * Publishes the metrics of AWS itself as EMF lines in its namespaces, so the console draws the same widgets
 * as CloudWatch.
 */
type Dimensions = { readonly [name: string]: string };

export interface AwsMetrics {
  put(dimensions: Dimensions, name: string, value: number): void;
  flush(): void;
}

const units: { readonly [name: string]: string } = {
  Duration: 'Milliseconds',
  ApproximateAgeOfOldestMessage: 'Seconds',
};

export function awsMetrics(
  namespace: 'AWS/Lambda' | 'AWS/SQS' | 'AWS/DynamoDB',
  write: (line: string) => void,
  now: () => number,
): AwsMetrics {
  const groups = new Map<
    string,
    { readonly dimensions: Dimensions; readonly values: { [name: string]: number[] } }
  >();
  return {
    put(dimensions, name, value) {
      const key = JSON.stringify(dimensions);
      const group = groups.get(key) ?? { dimensions, values: {} };
      groups.set(key, group);
      group.values[name] = [...(group.values[name] ?? []), value];
    },
    flush() {
      for (const { dimensions, values } of groups.values()) {
        const Metrics = Object.keys(values).map((Name) => ({ Name, Unit: units[Name] ?? 'Count' }));
        const CloudWatchMetrics = [{ Namespace: namespace, Dimensions: [Object.keys(dimensions)], Metrics }];
        write(JSON.stringify({ _aws: { Timestamp: now(), CloudWatchMetrics }, ...dimensions, ...values }));
      }
      groups.clear();
    },
  };
}
