import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ContextdError } from '../../core/errors.ts';
import type { CommandSpec } from '../contract/command.ts';
import { type IsolationLayer, type IsolationReport, NO_LOOPBACK } from '../contract/sandbox.ts';
import { makePrivateDir, seatbeltArguments } from './launch.ts';
import { buildProfile } from './profile.ts';
import { followGroup, ProcessGroup } from './run.ts';

const PROBE_TIMEOUT_MS = 10_000;
const PROBE_LIMITS = { memoryBytes: 0, pids: 64, fileBytes: 1024 * 1024, openFiles: 256, cpus: 0 };

/** Writes where it may, then where it must not: beside the workspace, and to a protected name. */
const PROBE_SCRIPT =
  'echo ok >inside || exit 3; for f; do if (: >"$f") 2>/dev/null; then exit 4; fi; done; echo confined';

/** Runs a real sandbox and tries to get out of it. */
export async function examine(sandboxExec: string, tempRoot: string, version: string): Promise<IsolationReport> {
  if (!existsSync(sandboxExec))
    return seatbeltUnavailable(version, `${sandboxExec} does not exist`, 'Run contextd in a Linux virtual machine.');
  try {
    const fault = await tryOut(sandboxExec, tempRoot);
    return fault === null
      ? seatbeltReport(version, process.getuid?.() === 0)
      : seatbeltUnavailable(version, fault, 'Run contextd in a Linux virtual machine, and report this.');
  } catch (thrown) {
    const error = ContextdError.from(thrown);
    return seatbeltUnavailable(version, error.message, error.remedy ?? 'Run contextd in a Linux virtual machine.');
  }
}

/** Null if the sandbox confined it. */
async function tryOut(sandboxExec: string, tempRoot: string): Promise<string | null> {
  const outer = makePrivateDir(tempRoot);
  try {
    const workspace = join(outer.root, 'workspace');
    mkdirSync(workspace);
    const profile = buildProfile({
      workspace,
      isReadOnly: false,
      commonGitDir: null,
      allowedPaths: [],
      roPaths: [],
      hiddenFiles: [],
      links: [],
      deny: [],
      privateDirs: [outer.tmp],
      sockets: true,
      programs: [],
    });
    const forbidden = [join(outer.root, 'contextd-canary'), join(workspace, '.envrc')];
    const argv = ['/bin/sh', '-c', PROBE_SCRIPT, 'contextd-probe', ...forbidden];
    const commandLine = seatbeltArguments({ sandboxExec, profile, limits: PROBE_LIMITS, userProcesses: 0, argv });
    const group = new ProcessGroup(commandLine, { cwd: workspace, env: { PATH: '/usr/bin:/bin', TMPDIR: outer.tmp } });
    const { exitCode, stdout, stderr } = await followGroup(group, probeCommand(argv, workspace));
    if (exitCode === 0 && stdout.head.toString().trim() === 'confined') return null;
    if (exitCode === 4) return 'sandbox-exec ran a command without confining it';
    return `a command in the sandbox failed (${exitCode}): ${stderr.head.toString().trim().slice(0, 300)}`;
  } finally {
    outer.remove();
  }
}

function probeCommand(argv: readonly string[], cwd: string): CommandSpec {
  const signal = new AbortController().signal;
  return {
    argv,
    cwd,
    env: {},
    stdin: null,
    timeoutMs: PROBE_TIMEOUT_MS,
    outputMaxBytes: 16_384,
    outputKillBytes: 1_048_576,
    signal,
  };
}

const LINUX = 'For full isolation run contextd in a Linux virtual machine.';

/** What macOS can and cannot do; the same on every Mac. `version` is the kernel's. */
function seatbeltReport(version: string, isRoot: boolean): IsolationReport {
  const layers = [
    layer('file system', 'the sandbox profile'),
    layer('network', 'the sandbox profile'),
    layer('inter-process communication', 'the sandbox profile'),
    layer('pid namespace', null, 'processes of others are visible, but cannot be signalled'),
    layer('whole-tree kill', null, 'the process group; a process that leaves its group outlives the command'),
    layer('seccomp filter', null, 'nothing: system calls are not filtered'),
    layer('memory limit', null, 'nothing'),
    layer('pids limit', null, 'a limit on all processes of the user together'),
    layer('cpu limit', null, 'the time limit only'),
    layer('total limit', null, 'nothing'),
    isRoot
      ? layer('unprivileged user', null, 'nothing: contextd runs as root')
      : layer('unprivileged user', 'the user contextd runs as'),
  ];
  return {
    level: 'reduced',
    missing: layers.filter(({ enforced }) => !enforced).map(({ name }) => name),
    remedy: LINUX,
    backend: 'seatbelt',
    version,
    layers,
    loopback: { isShared: false, why: 'macOS has no network namespaces, so commands have no loopback', remedy: LINUX },
  };
}

function layer(name: string, enforcedBy: string | null, instead = ''): IsolationLayer {
  return enforcedBy === null
    ? { name, enforced: false, by: instead, remedy: LINUX }
    : { name, enforced: true, by: enforcedBy, remedy: null };
}

function seatbeltUnavailable(version: string, reason: string, remedy: string): IsolationReport {
  return {
    level: 'unavailable',
    missing: [reason],
    remedy,
    backend: 'seatbelt',
    version,
    layers: [],
    loopback: NO_LOOPBACK,
  };
}
