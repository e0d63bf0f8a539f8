import { execFile } from 'node:child_process';
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { isErrno } from '../../core/errors.ts';
import { isRealDirectory } from '../../fs/directory-identity.ts';
import { findCommonGitDir } from '../../guard/git/git-dir.ts';
import { SOCKET_DIR } from '../contract/places.ts';
import type { SandboxLimits, SandboxPolicy } from '../contract/policy.ts';
import type { SandboxProgram } from '../contract/sandbox.ts';
import { argvOf } from '../jail/program-argv.ts';
import { binDirsOf } from '../machine/host.ts';
import { LIMIT_SCRIPT, scriptLimits } from '../machine/limits.ts';
import { buildEnvironment } from '../machine/mount-plan.ts';
import { readablePaths, writablePaths } from '../machine/tool-paths.ts';
import { whyNotMounted } from '../run/repository-above.ts';
import type { ProfileInput } from './profile.ts';

/** What differs between a command and a tool process. */
export interface Job {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly programs: readonly string[];
  readonly socketDir: string | null;
}

export function profileInput(policy: SandboxPolicy, job: Job, dirs: RunDirs): ProfileInput {
  const repository = repositoryFor(policy);
  const roPaths = [
    ...policy.roPaths.map((path) => realpathSync(path)),
    ...readablePaths(policy),
    ...(policy.toolchains?.mounts ?? []),
    ...(repository === null ? [] : [repository]),
  ];
  return {
    workspace: policy.workspace.path,
    isReadOnly: policy.isWorkspaceReadOnly === true,
    commonGitDir: findCommonGitDir(policy.workspace.path) ?? (repository === null ? null : join(repository, '.git')),
    allowedPaths: [...(policy.allowedPaths ?? []).filter(isRealDirectory), ...writablePaths(policy)],
    roPaths,
    hiddenFiles: policy.toolchains?.hidden ?? [],
    links: policy.roPaths.filter((path) => !roPaths.includes(path)),
    deny: policy.isWorkspaceHidden === true ? ['**'] : policy.deny,
    privateDirs: [...dirs.writable, ...(job.socketDir === null ? [] : [job.socketDir])],
    sockets: policy.seccomp.unix || job.socketDir !== null,
    programs: job.programs,
  };
}

/** The profile hides what globs match in the workspace only, so with globs the repository around it stays invisible. */
function repositoryFor({ workspace, repository, deny }: SandboxPolicy): string | null {
  if (repository === undefined || deny.length > 0) return null;
  return whyNotMounted(workspace.path, repository) === null ? repository : null;
}

/** Takes nothing from the daemon. If a value is the socket directory's path on Linux, it becomes the real path. */
export function environmentOf(policy: SandboxPolicy, job: Job, dirs: RunDirs): Record<string, string> {
  const own = Object.entries(job.env).map(([name, value]) => [
    name,
    value === SOCKET_DIR && job.socketDir !== null ? job.socketDir : value,
  ]);
  const { toolchains } = policy;
  return buildEnvironment([...binDirsOf(policy.roPaths), ...(toolchains?.path ?? [])], {
    ...toolchains?.variables,
    HOME: dirs.home,
    TMPDIR: dirs.tmp,
    ...Object.fromEntries(own),
  });
}

export function programJob(policy: SandboxPolicy, program: SandboxProgram, socketDir: string): Job {
  const bundle = realpathSync(program.bundleDir);
  const node = realpathSync(process.execPath);
  const sdk = program.sdkDir === undefined ? '' : realpathSync(program.sdkDir);
  const isScript = program.runtime !== 'plugin';
  const [first = '', ...rest] = argvOf(program, { node, bundle, sdk });
  return {
    // Nothing is mounted here, so scripts find the SDK by its hook.
    argv: [
      first,
      ...(sdk === '' || !isScript ? [] : ['--import', pathToFileURL(join(sdk, 'register.js')).href]),
      ...rest,
    ],
    cwd: policy.workspace.path,
    env: program.env,
    // A package manager installs Node's libraries beside its `bin`.
    programs: [bundle, ...(sdk === '' ? [] : [sdk]), ...(isScript ? [node, join(dirname(dirname(node)), 'lib')] : [])],
    socketDir,
  };
}

/**
 * Runs inside the sandbox: reports on descriptor 3 that it was reached, sets the limits that the system offers for a
 * process, and becomes the command. Restores the usual umask, because the daemon's own is private.
 */
const PRELUDE = `
umask 022
ulimit -c 0
${LIMIT_SCRIPT}
if [ "$1" -gt 0 ]; then ulimit -u "$1" 2>/dev/null; fi
shift
echo >&3
exec 3>&-
exec "$@"
`;

interface SeatbeltLaunch {
  readonly sandboxExec: string;
  readonly profile: string;
  readonly limits: SandboxLimits;
  /** How many processes this user has now, 0 if unknown: the system counts all processes of a user together. */
  readonly userProcesses: number;
  readonly argv: readonly string[];
}

/** The command line. /bin/sh comes before the caller's arguments, so that none of them is taken as an option. */
export function seatbeltArguments(launch: SeatbeltLaunch): string[] {
  const { limits, userProcesses } = launch;
  return [
    launch.sandboxExec,
    '-p',
    launch.profile,
    '/bin/sh',
    '-c',
    PRELUDE,
    'contextd-sandbox',
    ...scriptLimits(limits),
    String(userProcesses === 0 ? 0 : userProcesses + limits.pids),
    ...launch.argv,
  ];
}

const PREFIX = 'contextd-run-';

/** Where a run keeps its files. */
export interface RunDirs {
  readonly tmp: string;
  readonly home: string;
  /** These and everything else outside the workspace that it may write. */
  readonly writable: readonly string[];
  /** Call when the run has ended. Idempotent. */
  remove(): void;
}

/** Temporary files and home of one run, accessible to its owner only. */
export interface PrivateDir extends RunDirs {
  readonly root: string;
}

/**
 * Made below `parent`, which is a real path. The name contains the daemon's pid, so that a later daemon recognizes it
 * as left over.
 */
export function makePrivateDir(parent: string): PrivateDir {
  const root = mkdtempSync(join(parent, `${PREFIX}${process.pid}-`));
  const [tmp, home] = [join(root, 'tmp'), join(root, 'home')];
  mkdirSync(tmp, { mode: 0o700 });
  mkdirSync(home, { mode: 0o700 });
  return {
    root,
    tmp,
    home,
    writable: [root],
    remove: () => rmSync(root, { recursive: true, force: true, maxRetries: 3 }),
  };
}

/** Removes what a killed daemon of this user left. */
export function removeLeftDirs(parent: string): void {
  for (const name of readdirSync(parent)) {
    const pid = Number(/^contextd-run-(\d+)-/.exec(name)?.[1]);
    if (!Number.isInteger(pid) || isAlive(pid)) continue;
    const path = join(parent, name);
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats?.isDirectory() && stats.uid === process.getuid?.()) rmSync(path, { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (cause) {
    return !isErrno(cause, 'ESRCH');
  }
}

/** Milliseconds for which a count is used. */
const FRESH_MS = 10_000;

/** How many processes this user has; 0 if unknown. One count serves all runs of ten seconds. */
export function countProcesses(): () => Promise<number> {
  let count: Promise<number> = Promise.resolve(0);
  let takenAt = Number.NEGATIVE_INFINITY;
  return () => {
    const now = performance.now();
    if (now - takenAt > FRESH_MS) {
      takenAt = now;
      count = take();
    }
    return count;
  };
}

async function take(): Promise<number> {
  try {
    const uid = String(process.getuid?.() ?? 0);
    const { stdout } = await promisify(execFile)('/bin/ps', ['-U', uid, '-o', 'pid='], { env: {}, timeout: 2_000 });
    return stdout.trim().split('\n').length;
  } catch {
    return 0;
  }
}
