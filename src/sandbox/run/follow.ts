import { randomBytes } from 'node:crypto';
import { chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Activity, CommandSpec } from '../contract/command.ts';
import { BUNDLE_DIR, NODE_BINARY, SDK_DIR, SOCKET_DIR } from '../contract/places.ts';
import type { SandboxLimits, SandboxPolicy } from '../contract/policy.ts';
import type { SandboxProgram } from '../contract/sandbox.ts';
import { type OutputSink, StreamCapture } from '../contract/stream-capture.ts';
import type { GitView } from '../git/git-views.ts';
import { type Interruption, isTooMuch, judgeEnd, type Verdict, watchForInterruption } from '../jail/command-end.ts';
import { argvOf } from '../jail/program-argv.ts';
import { serveTerminal } from '../jail/pseudo-terminal.ts';
import { watchTree } from '../jail/watchdog.ts';
import type { Identity } from '../machine/identity.ts';
import { ownerOf } from '../machine/identity.ts';
import { temporaryOf } from '../machine/mount-plan.ts';
import type { Job } from './plan-launch.ts';
import type { StartedSandbox } from './starter.ts';
import type { Steering } from './steering.ts';

/** Bytes at the end of each stream that are searched for refusals of the sandbox. */
const LAST_WORDS_BYTES = 64 * 1024;

export interface OutputSinks {
  readonly stdout: OutputSink;
  readonly stderr: OutputSink;
}

/** How a command ended, and the end of each stream. */
export interface CommandEnd extends Verdict {
  /** Activity when it was killed for its time limit or for lack of input; null otherwise, or if unknown. */
  readonly activity: Activity | null;
  readonly lastWords: { readonly stdout: Buffer; readonly stderr: Buffer };
}

/**
 * Follows a command until it ends and forwards its output to the sinks. Closes the readers. If `terminal` is given, the
 * command's stdin is typed into it.
 */
export async function followCommand(
  started: StartedSandbox,
  command: CommandSpec,
  limits: SandboxLimits,
  sinks: OutputSinks,
  terminal: Steering | null,
): Promise<CommandEnd> {
  const { jail, stdout, stderr } = started;
  const watch = new AbortController();
  const lastWords = { stdout: new StreamCapture(LAST_WORDS_BYTES), stderr: new StreamCapture(LAST_WORDS_BYTES) };
  try {
    let activity: Activity | null = null;
    const kill = (why: Interruption): void => {
      if (SAYS_WHAT_IT_DID.has(why)) activity ??= lookAt(started);
      jail.kill();
    };
    const { interrupt, first } = watchForInterruption(command, kill, watch.signal);
    const checkSize = (): void => {
      if (isTooMuch(stdout.totalBytes + stderr.totalBytes, command)) interrupt('output_limit');
    };
    if (started.group === null) watchSums(started, limits, interrupt, watch.signal);
    started.storage?.use(() => interrupt('storage_limit'), watch.signal);
    if (started.git !== null) watchCopies(started.git, () => interrupt('storage_limit'), watch.signal);
    stdout.readInto(tee(sinks.stdout, lastWords.stdout, checkSize));
    stderr.readInto(tee(sinks.stderr, lastWords.stderr, checkSize));
    if (terminal !== null) {
      serveTerminal({
        input: command.stdin,
        look: () => lookAt(started),
        printedBytes: () => stdout.totalBytes,
        type: (data, isEnd) => terminal.input(data, isEnd),
        giveUp: () => interrupt('input'),
        signal: watch.signal,
      });
    }
    const exit = await jail.ended;
    const interruptedBy = first();
    watch.abort();
    await Promise.all([stdout.readRest(), stderr.readRest()]);
    const said = { stdout: endOf(lastWords.stdout), stderr: endOf(lastWords.stderr) };
    const events = started.group?.events() ?? null;
    const verdict = judgeEnd({ exit, interruptedBy, events, stderr: said.stderr.toString(), cwd: command.cwd });
    return { ...verdict, activity, lastWords: said };
  } finally {
    watch.abort();
    stdout.close();
    stderr.close();
  }
}

/** Includes `cancelled`: the deadline of a call cancels its command, and may fire before the time limit. */
const SAYS_WHAT_IT_DID: ReadonlySet<Interruption> = new Set(['timeout', 'cancelled', 'input']);

/** A process that a command made unreadable must not keep the command from being killed. */
function lookAt({ jail }: StartedSandbox): Activity | null {
  try {
    return jail.activity();
  } catch {
    return null;
  }
}

/** Poll interval (ms) for the size of the copies of git configurations. */
const COPIES_LOOK_MS = 300;

/** Kills a command that fills the directory of its git configuration copies, which is on the host's disk. */
function watchCopies(git: GitView, onExceeded: () => void, until: AbortSignal): void {
  if (git.links.length === 0) return;
  const timer = setInterval(() => {
    if (git.isTooLarge()) onExceeded();
  }, COPIES_LOOK_MS).unref();
  until.addEventListener('abort', () => clearInterval(timer), { once: true });
}

/** Without a cgroup, watches the totals that the cgroup would limit: the kernel then limits only single processes. */
export function watchSums(
  { jail, mounts }: Pick<StartedSandbox, 'jail' | 'mounts'>,
  { memoryBytes, pids }: SandboxLimits,
  onExceeded: (what: 'oom' | 'pids') => void,
  signal: AbortSignal,
): void {
  const rootPid = jail.child.pid;
  if (rootPid === undefined) return;
  watchTree({ rootPid, memoryBytes, pids, temporary: temporaryOf(mounts), onExceeded, signal });
}

function tee(sink: OutputSink, kept: StreamCapture, onGrowth: () => void): OutputSink {
  return {
    write(chunk) {
      kept.add(chunk);
      onGrowth();
      return sink.write(chunk);
    },
    onceDrained: (listener) => sink.onceDrained(listener),
  };
}

function endOf(capture: StreamCapture): Buffer {
  const { head, tail } = capture.result();
  return tail.length === 0 ? head : tail;
}

/** A long-lived program in a sandbox. */
export interface JailedProcess {
  readonly socketDir: string;
  /** Settles when every process is dead, its output has been read and its resources are released. Never rejects. */
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  kill(): void;
}

/** The job that starts a tool process; its directories are mounted from the host. */
export function processJob(
  policy: SandboxPolicy,
  program: SandboxProgram,
  { bundleDir, socketDir, stdin }: { bundleDir: string; socketDir: string; stdin: Job['stdin'] },
): Job {
  const { sdkDir } = program;
  return {
    argv: argvOf(program, { node: NODE_BINARY, bundle: BUNDLE_DIR, sdk: SDK_DIR }),
    cwd: policy.workspace.path,
    env: program.env,
    programMounts: [
      { kind: 'ro-bind', source: bundleDir, dest: BUNDLE_DIR },
      { kind: 'ro-bind', source: process.execPath, dest: NODE_BINARY },
      ...(sdkDir === undefined ? [] : [{ kind: 'ro-bind', source: sdkDir, dest: SDK_DIR } as const]),
      { kind: 'bind', source: socketDir, dest: SOCKET_DIR },
    ],
    wallMs: 0,
    stdin,
    takesScript: false,
    git: null,
  };
}

/** Makes a directory that only the sandbox's user can enter. Its name is short because socket paths are limited. */
export function makeSocketDir(parent: string, identity: Identity): string {
  const dir = join(parent, randomBytes(4).toString('hex'));
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const owner = ownerOf(identity);
  if (owner !== null) chownSync(dir, owner.uid, owner.gid);
  return dir;
}

/**
 * Follows a started program and kills it if it exceeds limits that no cgroup enforces. `onEnd` releases its resources;
 * `exited` waits for it.
 */
export function followProcess(
  started: StartedSandbox,
  limits: SandboxLimits,
  sinks: OutputSinks,
  socketDir: string,
  onEnd: () => Promise<void>,
): JailedProcess {
  const { jail, stdout, stderr, group } = started;
  stdout.readInto(sinks.stdout);
  stderr.readInto(sinks.stderr);
  const watch = new AbortController();
  if (group === null) watchSums(started, limits, () => jail.kill(), watch.signal);
  started.storage?.use(() => jail.kill(), watch.signal);
  const exited = jail.ended
    .then(({ code, signal }) => ({ code: signal === null ? code : null, signal }))
    .catch(() => ({ code: null, signal: null }))
    .finally(async () => {
      watch.abort();
      await Promise.all([stdout.readRest(), stderr.readRest()]);
      stdout.close();
      stderr.close();
      await jail.gone;
      await onEnd().catch(() => {});
    });
  return { socketDir, exited, kill: () => jail.kill() };
}
