import { randomBytes } from 'node:crypto';
import { chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Jail } from './bubblewrap.ts';
import type { Identity } from './identity.ts';
import { type OutputSink, StreamCapture } from './output.ts';
import { BUNDLE_DIR, NODE_BINARY, SOCKET_DIR } from './policy.ts';
import type { CommandSpec, SandboxLimits, SandboxPolicy, SandboxProgram } from './sandbox.ts';
import { type Job, ownerOf, type StartedSandbox } from './starter.ts';
import { isTooMuch, judgeEnd, type Verdict, watchForInterruption } from './verdict.ts';
import { watchTree } from './watchdog.ts';

/** Bytes of each stream looked through for what the sandbox refused. */
const LAST_WORDS_BYTES = 64 * 1024;

export interface OutputSinks {
  readonly stdout: OutputSink;
  readonly stderr: OutputSink;
}

/** How a command ended, and the ends of what it said. */
export interface CommandEnd extends Verdict {
  readonly lastWords: { readonly stdout: Buffer; readonly stderr: Buffer };
}

/** Follows a command to its end, passes its output on and says how it ended. Closes the readers. */
export async function followCommand(
  started: StartedSandbox,
  command: Omit<CommandSpec, 'stdin'>,
  limits: SandboxLimits,
  sinks: OutputSinks,
): Promise<CommandEnd> {
  const { jail, stdout, stderr } = started;
  const watch = new AbortController();
  const lastWords = { stdout: new StreamCapture(LAST_WORDS_BYTES), stderr: new StreamCapture(LAST_WORDS_BYTES) };
  try {
    const { interrupt, first } = watchForInterruption(command, () => jail.kill(), watch.signal);
    const checkSize = (): void => {
      if (isTooMuch(stdout.totalBytes + stderr.totalBytes, command)) interrupt('output_limit');
    };
    if (started.group === null) watchSums(jail, limits, interrupt, watch.signal);
    stdout.readInto(tee(sinks.stdout, lastWords.stdout, checkSize));
    stderr.readInto(tee(sinks.stderr, lastWords.stderr, checkSize));
    const exit = await jail.ended;
    const interruptedBy = first();
    watch.abort();
    await Promise.all([stdout.readRest(), stderr.readRest()]);
    const said = { stdout: endOf(lastWords.stdout), stderr: endOf(lastWords.stderr) };
    const events = started.group?.events() ?? null;
    const verdict = judgeEnd({ exit, interruptedBy, events, stderr: said.stderr.toString(), cwd: command.cwd });
    return { ...verdict, lastWords: said };
  } finally {
    watch.abort();
    stdout.close();
    stderr.close();
  }
}

/** What a cgroup would bound; without one, only each process is bounded by the kernel. */
export function watchSums(
  jail: Jail,
  { memoryBytes, pids }: SandboxLimits,
  onExceeded: (what: 'oom' | 'pids') => void,
  signal: AbortSignal,
): void {
  if (jail.child.pid !== undefined) watchTree({ rootPid: jail.child.pid, memoryBytes, pids, onExceeded, signal });
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
  /** Settles, never rejects, when nothing of it is alive, its output was read and what it used is put away. */
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  kill(): void;
}

/** What a tool process is started with; the directories are mounted from where they are on the host. */
export function processJob(policy: SandboxPolicy, program: SandboxProgram, bundleDir: string, socketDir: string): Job {
  const entry = join(BUNDLE_DIR, program.entry);
  const argv = /\.m?js$/.test(program.entry) ? [NODE_BINARY, entry] : [entry];
  return {
    argv: [...argv, ...program.args],
    cwd: policy.workspace.path,
    env: program.env,
    programMounts: [
      { kind: 'ro-bind', source: bundleDir, dest: BUNDLE_DIR },
      { kind: 'ro-bind', source: process.execPath, dest: NODE_BINARY },
      { kind: 'bind', source: socketDir, dest: SOCKET_DIR },
    ],
    wallMs: 0,
    stdin: 'ignore',
    takesScript: false,
  };
}

/** Entered by the sandbox's user alone; its path is short, because a socket's path must be. */
export function makeSocketDir(parent: string, identity: Identity): string {
  const dir = join(parent, randomBytes(4).toString('hex'));
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const owner = ownerOf(identity);
  if (owner !== null) chownSync(dir, owner.uid, owner.gid);
  return dir;
}

/**
 * Follows a program that was started, and kills it when it exceeds limits that no cgroup holds. `onEnd` puts away what it
 * used; `exited` waits for it.
 */
export function followProcess(
  { jail, stdout, stderr, group }: StartedSandbox,
  limits: SandboxLimits,
  sinks: OutputSinks,
  socketDir: string,
  onEnd: () => Promise<void>,
): JailedProcess {
  stdout.readInto(sinks.stdout);
  stderr.readInto(sinks.stderr);
  const watch = new AbortController();
  if (group === null) watchSums(jail, limits, () => jail.kill(), watch.signal);
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
