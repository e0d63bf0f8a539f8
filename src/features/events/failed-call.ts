import { ERROR_TABLE, isErrorCode } from '../../core/errors.ts';

/** Calls that were not carried out, or not because of the work: they say nothing about it. */
const NOT_OF_WORK: ReadonlySet<string> = new Set(['CANCELLED', 'INTERRUPTED', 'RATE_LIMITED', 'EXPIRED', 'CONFLICT']);

/**
 * True if a failure says nothing about the work: the call was not carried out, or only its form was wrong, such as an argument
 * or a path that the tool refuses.
 */
export function isOfForm(errorCode: string | null): boolean {
  if (errorCode === null) return false;
  return NOT_OF_WORK.has(errorCode) || (isErrorCode(errorCode) && ERROR_TABLE[errorCode].type === 'validation');
}
