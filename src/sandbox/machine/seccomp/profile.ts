import { ContextdError } from '../../../core/errors.ts';

/** A seccomp profile in the JSON form of the OCI runtime specification, limited to what a filter alone can enforce. */
export interface OciProfile {
  readonly defaultAction: OciAction;
  /** Linux error number of an ERRNO default; 1 (EPERM) if absent. */
  readonly defaultErrnoRet?: number;
  /** SCMP_ARCH_* names that the profile was written for; absent: any. Calls of other architectures always kill. */
  readonly architectures?: readonly string[];
  readonly syscalls?: readonly OciRule[];
}

export interface OciRule {
  /** Names that the architecture does not have are ignored. */
  readonly names: readonly string[];
  readonly action: OciAction;
  /** Linux error number of an ERRNO action; 1 (EPERM) if absent. */
  readonly errnoRet?: number;
  /** All must hold; at most one per argument. Empty or absent: the rule always holds. */
  readonly args?: readonly OciArg[];
  /** The rule counts only if all of this holds. */
  readonly includes?: OciWhere;
  /** The rule does not count if any of this holds. */
  readonly excludes?: OciWhere;
  readonly comment?: string;
}

/** One 64-bit unsigned comparison. MASKED_EQ: argument & value == valueTwo. */
export interface OciArg {
  /** 0 to 5. */
  readonly index: number;
  readonly value: number | bigint;
  /** Only for MASKED_EQ; 0 if absent. */
  readonly valueTwo?: number | bigint;
  readonly op: OciOp;
}

export interface OciWhere {
  /** CAP_* names. */
  readonly caps?: readonly string[];
  /** Go's names: amd64, arm64. */
  readonly arches?: readonly string[];
  /** "5.8": this kernel or a newer one. */
  readonly minKernel?: string;
}

export const OCI_ACTIONS = [
  'SCMP_ACT_ALLOW',
  'SCMP_ACT_ERRNO',
  'SCMP_ACT_KILL',
  'SCMP_ACT_KILL_PROCESS',
  'SCMP_ACT_KILL_THREAD',
  'SCMP_ACT_LOG',
  'SCMP_ACT_TRAP',
] as const;
export type OciAction = (typeof OCI_ACTIONS)[number];

export const OCI_OPS = [
  'SCMP_CMP_NE',
  'SCMP_CMP_LT',
  'SCMP_CMP_LE',
  'SCMP_CMP_EQ',
  'SCMP_CMP_GE',
  'SCMP_CMP_GT',
  'SCMP_CMP_MASKED_EQ',
] as const;
export type OciOp = (typeof OCI_OPS)[number];

const NAMES_SHOWN = 3;

/** "syscalls[3] (socket, socketpair, … 2 more)". */
export function ruleLabel(rule: OciRule, index: number): string {
  const shown = rule.names.slice(0, NAMES_SHOWN).join(', ');
  const more = rule.names.length - NAMES_SHOWN;
  return `syscalls[${index}] (${shown}${more > 0 ? `, … ${more} more` : ''})`;
}

/** A SCHEMA_INVALID error. `where` is a rule's label or the key of the profile. */
export function profileFault(where: string, what: string, remedy: string): ContextdError {
  return new ContextdError('SCHEMA_INVALID', `seccomp profile, ${where}: ${what}`, { remedy, details: { where } });
}

/** SECCOMP_RET_* of linux/seccomp.h; the low 16 bits carry data. */
export const RET_ALLOW = 0x7fff0000;
export const RET_LOG = 0x7ffc0000;
export const RET_ERRNO = 0x00050000;
export const RET_TRAP = 0x00030000;
export const RET_KILL_THREAD = 0x00000000;
export const RET_KILL_PROCESS = 0x80000000;

/** Linux numbers, on every system. */
export const EPERM = 1;
export const ENOSYS = 38;

/** The kernel cuts larger numbers to this. */
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

/** The value that the filter returns for an action. `where` names the rule in the error. */
export function returnValue(action: OciAction, errno: number | undefined, where: string): number {
  if (action !== 'SCMP_ACT_ERRNO') {
    if (errno === undefined) return RETURN_VALUES[action];
    throw profileFault(where, `errnoRet ${errno} beside ${action}`, 'Give errnoRet only with SCMP_ACT_ERRNO.');
  }
  const value = errno ?? EPERM;
  if (Number.isInteger(value) && value >= 0 && value <= MAX_ERRNO) return RET_ERRNO + value;
  throw profileFault(where, `errnoRet ${value} is not an error number`, `Give a whole number from 0 to ${MAX_ERRNO}.`);
}

/** True if the kernel carries out the call. */
export function isAllowed(returned: number): boolean {
  return returned === RET_ALLOW || returned === RET_LOG;
}
