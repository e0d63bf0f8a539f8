import { SYSCALLS_ARM64 } from './syscalls-arm64.ts';
import { SYSCALLS_X64 } from './syscalls-x64.ts';

/** Architectures a filter can be compiled for, by Node's names. */
export type SeccompArch = 'x64' | 'arm64';

interface ArchFacts {
  readonly syscalls: Readonly<Record<string, number>>;
  /** AUDIT_ARCH_* of linux/audit.h: what the kernel puts into seccomp_data.arch. */
  readonly audit: number;
  /** Names of OCI profiles. */
  readonly oci: string;
  readonly goarch: string;
}

export const ARCHITECTURES: Readonly<Record<SeccompArch, ArchFacts>> = {
  x64: { syscalls: SYSCALLS_X64, audit: 0xc000003e, oci: 'SCMP_ARCH_X86_64', goarch: 'amd64' },
  arm64: { syscalls: SYSCALLS_ARM64, audit: 0xc00000b7, oci: 'SCMP_ARCH_AARCH64', goarch: 'arm64' },
};

export function isSeccompArch(arch: string): arch is SeccompArch {
  return Object.hasOwn(ARCHITECTURES, arch);
}

/** Undefined if the architecture has no such call. */
export function numberOf(arch: SeccompArch, name: string): number | undefined {
  const { syscalls } = ARCHITECTURES[arch];
  return Object.hasOwn(syscalls, name) ? syscalls[name] : undefined;
}

export function isKnownName(name: string): boolean {
  return Object.values(ARCHITECTURES).some(({ syscalls }) => Object.hasOwn(syscalls, name));
}
