/** The recipes of docs/operate/monitoring.md, synthesized as they are on the page. */
import { readFileSync } from 'node:fs';
import { App, type CfnElement, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { Topic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { expect, it } from 'vitest';

const blocks = [...readFileSync('docs/operate/monitoring.md', 'utf8').matchAll(/```ts\n([\s\S]*?)```/g)].map(
  ([, text = '']) => text,
);

/** Runs a block with its own imports, and what the page's text names. */
async function runBlock(text: string, named: object): Promise<void> {
  const imports = [...text.matchAll(/^import \{ (.*) \} from '(.*)';$/gm)];
  const modules = await Promise.all(
    imports.map(async ([, names = '', from = '']) => ({
      names: names.split(', '),
      module: await import(from),
    })),
  );
  const given = new Map<string, unknown>([
    ...Object.entries(named),
    ...modules.flatMap(({ names, module }) => names.map((name) => [name, module[name]] as const)),
  ]);
  new Function(...given.keys(), text.replace(/^import .*$/gm, ''))(...given.values());
}

it('the recipes send alarms to Slack and PagerDuty, and their changes of state to a rule of EventBridge', async () => {
  const stack = new Stack(new App(), 'Platform', {
    env: { account: '111122223333', region: 'eu-central-1' },
  });
  const topic = new Topic(stack, 'Page');
  const automation = new LambdaFunction(stack, 'Automation', {
    code: Code.fromInline('exports.handler = () => {}'),
    handler: 'index.handler',
    runtime: Runtime.NODEJS_24_X,
  });
  expect(blocks).toHaveLength(2);
  for (const block of blocks) await runBlock(block, { stack, topic, automation });
  const template = Template.fromStack(stack);
  const idOf = (construct: Construct): string =>
    stack.getLogicalId(construct.node.defaultChild as CfnElement);
  const ref = { Ref: idOf(topic) };
  template.hasResourceProperties('AWS::Chatbot::SlackChannelConfiguration', { SnsTopicArns: [ref] });
  template.hasResourceProperties('AWS::SNS::Subscription', {
    TopicArn: ref,
    Protocol: 'https',
    Endpoint: Match.stringLikeRegexp('pagerduty'),
  });
  template.hasResourceProperties('AWS::Events::Rule', {
    EventPattern: { source: ['aws.cloudwatch'], 'detail-type': ['CloudWatch Alarm State Change'] },
    Targets: [Match.objectLike({ Arn: { 'Fn::GetAtt': [idOf(automation), 'Arn'] } })],
  });
});
