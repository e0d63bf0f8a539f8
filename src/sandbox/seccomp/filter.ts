import type { SeccompToggles } from '../sandbox.ts';
import { compileProfile } from './compile.ts';
import { type Bound, defaultProfile } from './default-profile.ts';
import { isSeccompArch } from './syscalls.ts';

/**
 * The filter of contextd's own profile, in the form that `bwrap --seccomp FD` reads. Compiled at every call: a
 * caller that needs it often keeps it. Null when there is no table of system calls for the architecture.
 */
export function defaultFilter(
  toggles: SeccompToggles,
  arch: string = process.arch,
  bound: Bound = 'cgroup',
): Buffer | null {
  return isSeccompArch(arch) ? compileProfile(defaultProfile(toggles, bound), arch) : null;
}
