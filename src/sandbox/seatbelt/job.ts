import { realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { binDirsOf } from '../host.ts';
import { buildEnvironment, SOCKET_DIR } from '../policy.ts';
import type { SandboxPolicy, SandboxProgram } from '../sandbox.ts';
import { findCommonGitDir } from '../workspace/git-dir.ts';
import type { PrivateDir } from './private-dirs.ts';
import type { ProfileInput } from './profile.ts';

/** What differs between a command and a tool process. */
export interface Job {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly programs: readonly string[];
  readonly socketDir: string | null;
}

export function profileInput(policy: SandboxPolicy, job: Job, dirs: PrivateDir): ProfileInput {
  const roPaths = policy.roPaths.map((path) => realpathSync(path));
  return {
    workspace: policy.workspace,
    commonGitDir: findCommonGitDir(policy.workspace),
    roPaths,
    links: policy.roPaths.filter((path) => !roPaths.includes(path)),
    deny: policy.deny,
    privateDirs: [dirs.root, ...(job.socketDir === null ? [] : [job.socketDir])],
    sockets: policy.seccomp.unix || job.socketDir !== null,
    programs: job.programs,
  };
}

/** Nothing of the daemon's. Where a value names the socket directory as it is inside on Linux, it gets the real one. */
export function environmentOf(policy: SandboxPolicy, job: Job, dirs: PrivateDir): Record<string, string> {
  const own = Object.entries(job.env).map(([name, value]) => [
    name,
    value === SOCKET_DIR && job.socketDir !== null ? job.socketDir : value,
  ]);
  return buildEnvironment(binDirsOf(policy.roPaths), { HOME: dirs.home, TMPDIR: dirs.tmp, ...Object.fromEntries(own) });
}

export function programJob(policy: SandboxPolicy, program: SandboxProgram, socketDir: string): Job {
  const bundle = realpathSync(program.bundleDir);
  const node = realpathSync(process.execPath);
  const entry = join(bundle, program.entry);
  const isScript = /\.m?js$/.test(program.entry);
  return {
    argv: [...(isScript ? [node] : []), entry, ...program.args],
    cwd: policy.workspace,
    env: program.env,
    // Node's libraries lie beside its `bin` where a package manager installed it.
    programs: [bundle, ...(isScript ? [node, join(dirname(dirname(node)), 'lib')] : [])],
    socketDir,
  };
}
