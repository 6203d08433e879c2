/** Answers of AWS to questions that a synthesis cannot ask. */
import type { Aws } from './aws-cli.ts';

export interface Finding {
  /** `hub`, or the id of a cluster. */
  readonly subject: string;
  readonly question: string;
  /** `unknown`: AWS did not answer. */
  readonly verdict: 'fine' | 'wrong' | 'unknown';
  readonly found: string;
  /** The repair: a sentence or a command. */
  readonly todo?: string;
}

export type Verdict = Omit<Finding, 'subject' | 'question'>;

export const fine = (found: string): Verdict => ({ verdict: 'fine', found });
export const wrong = (found: string, todo: string): Verdict => ({ verdict: 'wrong', found, todo });

/** Resolves to `unknown` if AWS refuses, because the account may be right all the same. */
export async function finding(
  subject: string,
  question: string,
  ask: () => Promise<Verdict>,
): Promise<Finding> {
  try {
    return { subject, question, ...(await ask()) };
  } catch (error) {
    return {
      subject,
      question,
      verdict: 'unknown',
      found: error instanceof Error ? error.message : String(error),
    };
  }
}

/** The command line of AWS has no region, by its own words. */
export const lacksRegion = ({ verdict, found }: Finding): boolean =>
  verdict === 'unknown' && found.includes('You must specify a region');

/** Resolves to undefined if AWS answers that the resource does not exist. */
export async function unlessAbsent(answer: ReturnType<Aws>): Promise<unknown> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Error && /NotFound/.test(error.message)) return undefined;
    throw error;
  }
}
