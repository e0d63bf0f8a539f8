import { ERROR_TABLE } from '../core/errors.ts';
import { ownLine } from '../core/own-line.ts';
import type { ScrubbedOutcome } from './scrub.ts';

/** Exit status of the program that the caller started: the command's own, or the code of contextd's failure. */
export function exitStatusOf({ failure, data }: Pick<ScrubbedOutcome, 'failure' | 'data'>): number {
  if (failure !== null) return ERROR_TABLE[failure.code].exitCode;
  const status = data.exit_code;
  return typeof status === 'number' && Number.isInteger(status) && status >= 0 && status <= 255 ? status : 0;
}

/** How contextd failed the call; "" if it did not. Only the code of the error, because the answer holds the error. */
export function failureLine(outcome: Pick<ScrubbedOutcome, 'failure' | 'data'>): string {
  return outcome.failure === null ? '' : ownLine(`exit ${exitStatusOf(outcome)} · ${outcome.failure.code}`);
}
