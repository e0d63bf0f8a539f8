import { profileFault } from './faults.ts';
import type { OciAction } from './profile.ts';

/** SECCOMP_RET_* of linux/seccomp.h; the low 16 bits carry data. */
export const RET_ALLOW = 0x7fff0000;
export const RET_LOG = 0x7ffc0000;
export const RET_ERRNO = 0x00050000;
export const RET_TRAP = 0x00030000;
export const RET_KILL_THREAD = 0x00000000;
export const RET_KILL_PROCESS = 0x80000000;

/** Linux numbers, whatever system this runs on. */
export const EPERM = 1;
export const ENOSYS = 38;

/** The kernel cuts larger ones to this. */
const MAX_ERRNO = 4095;

const RETURN_VALUES: Readonly<Record<OciAction, number>> = {
  SCMP_ACT_ALLOW: RET_ALLOW,
  SCMP_ACT_ERRNO: RET_ERRNO,
  SCMP_ACT_KILL: RET_KILL_THREAD,
  SCMP_ACT_KILL_PROCESS: RET_KILL_PROCESS,
  SCMP_ACT_KILL_THREAD: RET_KILL_THREAD,
  SCMP_ACT_LOG: RET_LOG,
  SCMP_ACT_TRAP: RET_TRAP,
};

/** What the filter returns for an action. `where` names the rule in the error. */
export function returnValue(action: OciAction, errno: number | undefined, where: string): number {
  if (action !== 'SCMP_ACT_ERRNO') {
    if (errno === undefined) return RETURN_VALUES[action];
    throw profileFault(where, `errnoRet ${errno} beside ${action}`, 'Give errnoRet only with SCMP_ACT_ERRNO.');
  }
  const value = errno ?? EPERM;
  if (Number.isInteger(value) && value >= 0 && value <= MAX_ERRNO) return RET_ERRNO + value;
  throw profileFault(where, `errnoRet ${value} is no error number`, `Give a whole number from 0 to ${MAX_ERRNO}.`);
}

/** Whether the call is carried out. */
export function lets(returned: number): boolean {
  return returned === RET_ALLOW || returned === RET_LOG;
}
