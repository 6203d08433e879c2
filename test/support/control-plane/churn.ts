import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

export interface ChurnLoad {
  readonly services: number;
  /** Number of pods of each service. */
  readonly pods: number;
  /** Readiness flips a second; 0 only fills the cluster. */
  readonly rate: number;
  readonly seconds: number;
  /** How long the last flips may take to show. */
  readonly settleSeconds?: number;
  /** Whether services and pods are deleted at the end. */
  readonly clean?: boolean;
  readonly namespace?: string;
}

export interface ChurnView {
  readonly seen: number;
  /** Flips that had not shown by then. */
  readonly lost: number;
  readonly p50_ms: number;
  readonly p90_ms: number;
  readonly p99_ms: number;
  readonly max_ms: number;
  readonly writes: number;
}

export interface ChurnResult {
  readonly services: number;
  readonly pods: number;
  readonly flips: number;
  readonly created_s: number;
  readonly filled_s: number;
  readonly endpoints: ChurnView;
  readonly slices: ChurnView;
}

/** Runs the load generator of the control plane's binary until it has measured. */
export async function runChurn(binary: string, kubeconfig: string, load: ChurnLoad): Promise<ChurnResult> {
  const { services, pods, rate, seconds, settleSeconds = 30, clean = true, namespace = 'churn' } = load;
  const flags = {
    kubeconfig,
    services,
    pods,
    rate,
    for: `${seconds}s`,
    settle: `${settleSeconds}s`,
    clean,
    namespace,
  };
  const { stdout } = await promisify(execFile)(binary, [
    'churn',
    ...Object.entries(flags).map(([name, value]) => `-${name}=${value}`),
  ]);
  return JSON.parse(stdout) as ChurnResult;
}
