/** A seccomp profile in the JSON form of the OCI runtime specification, as far as one can be enforced by a filter alone. */
export interface OciProfile {
  readonly defaultAction: OciAction;
  /** Linux error number of an ERRNO default; 1 (EPERM) without it. */
  readonly defaultErrnoRet?: number;
  /** SCMP_ARCH_* names the profile was written for; absent: any. Calls of other architectures always kill. */
  readonly architectures?: readonly string[];
  readonly syscalls?: readonly OciRule[];
}

export interface OciRule {
  /** Names that the architecture does not have are passed over. */
  readonly names: readonly string[];
  readonly action: OciAction;
  /** Linux error number of an ERRNO action; 1 (EPERM) without it. */
  readonly errnoRet?: number;
  /** All must hold; at most one per argument. Empty or absent: the rule always holds. */
  readonly args?: readonly OciArg[];
  /** The rule counts only where all of this holds. */
  readonly includes?: OciWhere;
  /** The rule does not count where any of this holds. */
  readonly excludes?: OciWhere;
  readonly comment?: string;
}

/** One 64-bit unsigned comparison. MASKED_EQ: argument & value == valueTwo. */
export interface OciArg {
  /** 0 to 5. */
  readonly index: number;
  readonly value: number | bigint;
  /** Of MASKED_EQ only; 0 without it. */
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
