import { CfnBudget } from 'aws-cdk-lib/aws-budgets';
import type { Construct } from 'constructs';
import type { HubConfig } from '#infra/config/config.ts';

/**
 * The bill follows the changes in the clusters, so it may rise although the hub works as intended. The budget is for the whole account: a third of the
 * bill is custom metrics, which cannot be filtered by tags.
 */
export function watchBudget(scope: Construct, { monthlyBudget, alarms: { ticketTopicArn } }: HubConfig): void {
  if (monthlyBudget === undefined) return;
  const tell = (notificationType: 'ACTUAL' | 'FORECASTED', threshold: number): CfnBudget.NotificationWithSubscribersProperty => ({
    notification: { notificationType, threshold, thresholdType: 'PERCENTAGE', comparisonOperator: 'GREATER_THAN' },
    subscribers: [{ subscriptionType: 'SNS', address: ticketTopicArn as string }],
  });
  new CfnBudget(scope, 'Budget', {
    budget: { budgetType: 'COST', timeUnit: 'MONTHLY', budgetLimit: { amount: monthlyBudget, unit: 'USD' } },
    notificationsWithSubscribers: [tell('FORECASTED', 100), tell('ACTUAL', 80)],
  });
}
