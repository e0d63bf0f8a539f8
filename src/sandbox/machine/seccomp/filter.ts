import { createHash } from 'node:crypto';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SeccompToggles } from '../../contract/policy.ts';
import { compileProfile } from './compile.ts';
import { type Bound, defaultProfile } from './default-profile.ts';
import { isSeccompArch } from './syscalls.ts';

/**
 * The filter of contextd's own profile, in the form that `bwrap --seccomp FD` reads. Compiled at every call, so callers
 * that need it often keep it. Null if there is no system call table for the architecture.
 */
export function defaultFilter(
  toggles: SeccompToggles,
  arch: string = process.arch,
  bound: Bound = 'cgroup',
): Buffer | null {
  return isSeccompArch(arch) ? compileProfile(defaultProfile(toggles, bound), arch) : null;
}

/**
 * Compiled filters as files, because bubblewrap reads a filter from a descriptor: each is written once and opened for
 * every sandbox.
 */
export class FilterFiles {
  readonly #dir: string;
  readonly #files = new Map<string, string | null>();

  /** Removes what an earlier spawner left in `dir`. */
  constructor(dir: string) {
    this.#dir = dir;
    for (const name of readdirSync(dir)) if (name.startsWith('seccomp-')) rmSync(join(dir, name));
  }

  /** Null on an architecture without a system call table. */
  fileFor(toggles: SeccompToggles, bound: Bound): string | null {
    const key = JSON.stringify([toggles.inet, toggles.unix, toggles.debugger, bound]);
    const known = this.#files.get(key);
    if (known !== undefined) return known;
    const file = this.#write(defaultFilter(toggles, process.arch, bound));
    this.#files.set(key, file);
    return file;
  }

  #write(filter: Buffer | null): string | null {
    if (filter === null) return null;
    const file = join(this.#dir, `seccomp-${createHash('sha256').update(filter).digest('hex').slice(0, 16)}.bpf`);
    writeFileSync(file, filter, { mode: 0o600 });
    return file;
  }
}
