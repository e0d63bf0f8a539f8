import { readOptionalString, readString, readStringMap } from '../../src/sdk/input.ts';
import type {
  ExecResult,
  JsonObject,
  OutputGap,
  Tool,
  ToolContext,
  ToolFailure,
  ToolOutput,
  ToolStream,
} from '../../src/sdk/tool.ts';
import { resolvePath } from '../../src/sdk/workspace-path.ts';

/** FR-4.1: runs one shell command in a sandbox of its own. A command that fails is still a success of the tool. */
export const safeBash: Tool = {
  name: 'safe_bash',
  async execute(context, input) {
    const command = readCommand(context, input);
    if (input.background === true) return startJob(context, command);
    return toOutput(await context.host.exec(command), command.command, context.timeoutMs);
  },
};

/** Directories that a person allowed beside the project are known to the sandbox only. */
const GO_THERE = 'Go to a directory that `ctxd allow path DIRECTORY` allowed in the command itself: `cd DIR && …`.';

function readCommand(context: ToolContext, input: JsonObject) {
  return {
    command: readString(input, 'command'),
    cwd: resolvePath(context, readOptionalString(input, 'cwd') ?? '.', GO_THERE).absolute,
    env: { ...readStringMap(input, 'env'), ...readStringMap(input, 'secrets') },
    stdin: readOptionalString(input, 'stdin') ?? null,
    ...(input.share === false ? { ownLoopback: true } : {}),
    ...(input.tty === true ? { tty: true } : {}),
  };
}

/** The job runs on after the answer. The tool `jobs` shows and steers it. */
async function startJob({ host }: ToolContext, command: ReturnType<typeof readCommand>): Promise<ToolOutput> {
  const { stdin, ownLoopback, ...rest } = command;
  const request = {
    ...rest,
    ...(stdin === null ? {} : { stdin }),
    ...(ownLoopback === true ? { own_loopback: true } : {}),
  };
  return { data: await host.ask('JobStart', request) };
}

function toOutput(result: ExecResult, command: string, limitMs: number): ToolOutput {
  const failure = failureOf(result, limitMs);
  const warnings = [
    ...(result.encoding_replaced
      ? ['bytes of the output that its encoding does not have were replaced by U+FFFD']
      : []),
    ...(failure === null && endsInBackground(command) ? [LEFT_RUNNING] : []),
  ];
  return {
    data: {
      exit_code: result.exit_code,
      ...(result.ended_by === 'exit' ? {} : { ended_by: result.ended_by }),
      ...(result.ended_by === 'signal' ? { signal: result.signal } : {}),
      ...encodingOf(result),
    },
    streams: [
      streamOf('stdout', result.stdout, result.stdout_gap),
      streamOf('stderr', result.stderr, result.stderr_gap),
    ],
    ...(failure === null ? {} : { failure }),
    ...(result.dropped_bytes === 0 ? {} : { droppedBytes: result.dropped_bytes }),
    ...(warnings.length === 0 ? {} : { warnings }),
  };
}

const LEFT_RUNNING =
  'what `&` left running ended with the command: without the `&`, `safe_bash --background` runs it as a job';

/** True if nothing can wait for the last process of the script. A comment may end in any character. */
function endsInBackground(command: string): boolean {
  const last = command.trimEnd().split('\n').at(-1) ?? '';
  return /(?:^|[^&|<>\\])&$/.test(last) && !/(?:^|\s)#/.test(last);
}

/** Names the encodings of streams that are not UTF-8. */
function encodingOf({ stdout_encoding: stdout, stderr_encoding: stderr }: ExecResult): JsonObject {
  if (stdout === '' && stderr === '') return {};
  return { encoding: { ...(stdout === '' ? {} : { stdout }), ...(stderr === '' ? {} : { stderr }) } };
}

function streamOf(field: string, text: string, gap: OutputGap | null): ToolStream {
  return gap === null ? { field, text } : { field, text, gap };
}

function failureOf({ ended_by, duration_ms, doing, doing_text }: ExecResult, limitMs: number): ToolFailure | null {
  switch (ended_by) {
    case 'exit':
    case 'signal':
      return null;
    case 'timeout':
      return {
        code: 'TIMEOUT',
        message: `the command did not finish within ${limitMs} ms and was killed${doing_text && `: ${doing_text}`}`,
        remedy: WAY_OUT[doing] ?? WAY_OUT.other,
        details: { timeout_ms: limitMs, duration_ms, ...(doing === '' ? {} : { doing }) },
      };
    case 'input':
      return {
        code: 'TIMEOUT',
        message: `the command was ended after ${duration_ms} ms, because nobody can answer it: ${doing_text}`,
        remedy: WAY_OUT.input,
        details: { duration_ms, doing },
      };
    case 'cancelled':
      return { code: 'CANCELLED', message: `the command was cancelled after ${duration_ms} ms` };
    case 'oom':
      return limit('memory', 'the command used all the memory of its sandbox', 'sandbox.memory_mb');
    case 'pids':
      return limit('pids', 'the command started more processes than its sandbox allows', 'sandbox.pids');
    case 'output_limit':
      return {
        code: 'RESOURCE_LIMIT',
        message: 'the command printed more than is allowed and was killed',
        remedy: 'Redirect its output to a file, or filter it. A person can raise output.kill_bytes.',
        details: { limit: 'output' },
      };
    case 'storage_limit':
      return {
        code: 'RESOURCE_LIMIT',
        message:
          'the command wrote more to /tmp, HOME, the caches or beside .git/config than is allowed and was killed',
        remedy:
          'Remove what is not needed from /tmp, or write into the project. A person can raise sandbox.session_max_mb or run `ctxd cache clear`.',
        details: { limit: 'storage' },
      };
    case 'seccomp':
      return {
        code: 'PERMISSION_DENIED',
        message: 'the command made a system call that the sandbox forbids and was killed',
        remedy: 'Do it without this system call. A person can do it outside contextd.',
        details: { limit: 'seccomp' },
      };
  }
}

const IN_BACKGROUND = '`--background` (in JSON `"background":true`), followed with safe_jobs';
const LONGER = 'a larger --timeout-ms (timeout.max_ms limits it)';

/** How a call that took too long can work, by what its command did at the end. */
const WAY_OUT: Readonly<Record<string, string>> & { readonly input: string; readonly other: string } = {
  input:
    'Give its input with --stdin, or use an option that asks nothing, such as --yes. For a dialogue: `--background --tty` (in JSON `"background":true,"tty":true`), and safe_jobs sends input.',
  listening: `A server runs until it is stopped: use ${IN_BACKGROUND}.`,
  watching: `What watches files runs until it is stopped: use ${IN_BACKGROUND}, or its option to run once.`,
  network:
    'It waited for a server. Start it first if it is one of this project (`--background`, in JSON `"background":true`); otherwise try again later, or do it without.',
  lock: 'Another command holds the lock: look for it with safe_jobs list, stop it, and call again.',
  busy: `It was still working: use ${IN_BACKGROUND}, or ${LONGER}, or do less in one command.`,
  other: `Its output may say what it waits for. If it only needs time: use ${IN_BACKGROUND}, or ${LONGER}.`,
};

function limit(name: string, message: string, setting: string): ToolFailure {
  return {
    code: 'RESOURCE_LIMIT',
    message,
    remedy: `Do less in one command. A person can raise ${setting}.`,
    details: { limit: name },
  };
}
