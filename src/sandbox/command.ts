import type { Jail } from './bubblewrap.ts';
import { StreamCapture } from './capture.ts';
import type { GroupFiles } from './cgroup/files.ts';
import { watchForInterruption } from './interruptions.ts';
import type { OutputReader, OutputSink } from './output-reader.ts';
import type { Mount } from './policy.ts';
import type { CommandSpec, SandboxLimits } from './sandbox.ts';
import { judgeEnd, type Verdict } from './verdict.ts';
import { watchTree } from './watchdog.ts';

/** Bytes of each stream looked through for what the sandbox refused. */
const LAST_WORDS_BYTES = 64 * 1024;

/** A sandbox with a command in it, or one that waits for its command. */
export interface StartedSandbox {
  readonly jail: Jail;
  readonly stdout: OutputReader;
  readonly stderr: OutputReader;
  readonly group: GroupFiles | null;
  /** Its whole tree. */
  readonly mounts: readonly Mount[];
  /** Takes away what bubblewrap made in the workspace for lack of a place to mount on; once it is built. */
  tidy(): void;
}

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

/** Whether a command that said so much is to be killed. */
export function isTooMuch(bytes: number, { outputKillBytes }: Pick<CommandSpec, 'outputKillBytes'>): boolean {
  return outputKillBytes > 0 && bytes > outputKillBytes;
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
