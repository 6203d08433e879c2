/** May the run go on, and may it write? */
import { conflictUntilMs } from '#shared/clusters/writer/service-conflict.ts';
import { isApiServersOwn } from '#shared/kube/services.ts';
import { ok } from '#shared/workqueue/rules/outcome.ts';
import { type Applicant, admit, admitToWrite } from '../admission/admission.ts';
import { beginProbe } from '../admission/circuit-breaker.ts';
import {
  type AdmittedRun,
  type BegunRun,
  type ComparedRun,
  nothingDone,
  type ServiceStep,
} from './service-run.ts';

export const admitRun: ServiceStep<BegunRun, AdmittedRun> = async (run) => {
  const applicant = applicantOf(run);
  const admission = admit(run.cluster, applicant);
  switch (admission.kind) {
    case 'skip':
      return { end: { ...nothingDone(run, ok), heldBack: admission.reason } };
    case 'requeue':
      return { end: nothingDone(run, admission.outcome) };
    default:
      return { next: { ...run, applicant, admission } };
  }
};

const applicantOf = ({ deps, claim, cluster, items }: BegunRun): Applicant => ({
  isKnown: items.serviceRecord !== undefined,
  isApiServersOwn: isApiServersOwn(claim.service.namespace, claim.service.name),
  conflictUntilMs: conflictUntilMs(items.counts.foreign, cluster),
  rounds: claim.message.requeues ?? 0,
  nowMs: deps.now(),
  random: deps.random,
  limits: deps.limits,
});

/** A run in a shadow cluster was admitted for a comparison alone. */
export const admitWrites: ServiceStep<ComparedRun, ComparedRun> = async (run) => {
  const { deps, cluster, claim, observed } = run;
  const admission = observed ? admitToWrite(cluster, run.applicant) : run.admission;
  if (admission.kind === 'requeue') return { end: nothingDone(run, admission.outcome) };
  if (admission.kind === 'probe') await beginProbe(deps, cluster, claim.leaseId);
  return { next: run };
};
