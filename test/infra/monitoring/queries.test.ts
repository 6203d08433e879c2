import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { queries } from '#infra/aws/monitoring/queries.ts';
import { fleetOf } from '#test/infra/fleet.ts';

const sources = globSync([
  'functions/{worker,ingest,sync,sweep}/**/*.ts',
  'shared/{telemetry,workqueue,contract}/*.ts',
])
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n');

describe('saved queries of the logs', () => {
  it('look for messages that are written', () => {
    const messages = queries.flatMap(({ text }) =>
      text.flatMap((t) => /message in \[(.*?)\]/.exec(t)?.[1]?.match(/'[^']+'/g) ?? []),
    );
    expect(messages.length).toBeGreaterThan(5);
    for (const message of messages)
      expect({ message, written: sources.includes(message) }).toEqual({ message, written: true });
  });

  it('saved queries of the logs are under the hub’s name, each over the logs of the functions that write their lines', () => {
    const { hubTemplate } = fleetOf();
    const made = Object.values(hubTemplate.findResources('AWS::Logs::QueryDefinition')).map(
      (q) => q['Properties'],
    );
    expect(made.map((q) => q.Name)).toEqual(queries.map(({ name }) => `Fleet/${name}`));
    for (const [i, { roles }] of queries.entries()) {
      const groups = made[i].LogGroupNames.map((g: { Ref: string }) => g.Ref.toLowerCase());
      expect(groups).toEqual(roles.map((role) => expect.stringMatching(new RegExp(`^${role}logs`))));
      expect(made[i].QueryString).toContain('\n| ');
    }
  });
});
