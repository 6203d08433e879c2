/** Who writes the endpoints of a churn: kube-controller-manager, or a checkout of this project. */
import type { ControlPlane } from '#test/support/control-plane/control-plane.ts';
import { startLocalRun } from '#test/support/local-run.ts';
import { type Work, workOfLocalRun, workOfProcess } from './cost.ts';

export interface Writer {
  /** Output of the run, shown if flips are lost. */
  readonly lines: readonly string[];
  work(): Promise<Work>;
  stop(): Promise<unknown>;
}

export interface WriterKind {
  /** Of kube-controller-manager. */
  readonly controllers: string;
  readonly flags?: readonly string[];
  start(controlPlane: ControlPlane): Promise<Writer>;
}

const others = 'namespace-controller,garbage-collector-controller';

export const kubeControllerManager = (flags: readonly string[]): WriterKind => ({
  controllers: `endpoints-controller,endpointslice-controller,endpointslice-mirroring-controller,${others}`,
  flags,
  start: async ({ controllerManager }) => ({
    lines: [],
    work: async () => workOfProcess('kcm', controllerManager.pid),
    stop: async () => {},
  }),
});

/** A commit before `--controllers-off` writes without it. */
export const flagsOfOurs: readonly string[] = ['--mode', 'active', '--controllers-off'];

/** `folder`: of a checkout, by default this one. `flags`: of `npm start`, beside those for the cluster. */
export const ours = (flags: readonly string[], folder?: string): WriterKind => ({
  controllers: others,
  async start({ kubeconfig }) {
    const run = startLocalRun(['--kubeconfig', kubeconfig, ...flags], {}, folder);
    try {
      const [, console = ''] = await run.line(/console at (http:\S+)/);
      await run.line(/^ready/);
      return { lines: run.lines, work: () => workOfLocalRun(run.pid, console), stop: () => run.stop() };
    } catch (e) {
      await run.stop();
      throw e;
    }
  },
});
