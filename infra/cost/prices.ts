/** Other regions cost up to half as much again, in about the same proportions. */
export const priceBasis = 'us-east-1, November 2026, arm64, without free tier, discounts and data transfer';

/** US dollars. */
export const price = {
  writeUnit: 0.625e-6,
  readUnit: 0.125e-6,
  writeUnitHour: 0.00065,
  readUnitHour: 0.00013,
  queueRequest: 0.4e-6,
  lambdaGbSecond: 13.3334e-6,
  lambdaRequest: 0.2e-6,
  logGb: 0.5,
  logGbMonth: 0.03,
  tableGbMonth: 0.25,
  tableBackupGbMonth: 0.2,
  alarm: 0.1,
  compositeAlarm: 0.5,
  dashboard: 3,
  secret: 0.4,
} as const;

/** Custom metrics of an account and month, by number: the first 10,000, then the next 240,000. */
export const metricsPrice = (count: number): number => Math.min(count, 10_000) * 0.3 + Math.max(0, count - 10_000) * 0.1;
