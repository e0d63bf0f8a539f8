import { checkInput } from './check-input.ts';
import type { ExecSpec, LogLevel, Tool, ToolContext, ToolHost, ToolOutput } from './tool.ts';

/** The output of a tool, and what it asked the scripted host for. */
export interface HarnessRun {
  output: ToolOutput;
  execs: readonly ExecSpec[];
  logs: readonly { level: LogLevel; message: string }[];
}

export interface HarnessOptions extends Partial<Omit<ToolContext, 'host'>> {
  /** Absolute real path; the test creates and removes it. */
  workspace: string;
  /** Answers `exec`. Default: a test whose tool runs a command fails. */
  exec?: ToolHost['exec'];
  /** Answers `ask`. Default: a test whose tool asks for a service fails. */
  ask?: ToolHost['ask'];
}

const TIMEOUT_MS = 30_000;
const OUTPUT_MAX_BYTES = 64 * 1024 * 1024;

/**
 * Runs a tool in the test's own process on a directory, with a host scripted by the test. Throws ARGS_INVALID if the tool
 * has a schema that the input does not fit.
 */
export async function runTool<Input extends object>(
  tool: Tool<Input>,
  input: Input,
  options: HarnessOptions,
): Promise<HarnessRun> {
  const execs: ExecSpec[] = [];
  const logs: { level: LogLevel; message: string }[] = [];
  const answer = options.exec ?? (() => Promise.reject(new Error('the test gave no answer for exec')));
  const host: ToolHost = {
    exec(spec) {
      execs.push(spec);
      return answer(spec);
    },
    // Replaces nothing: only a real host knows the secrets.
    scrub: async (texts) => [...texts],
    ask: options.ask ?? (() => Promise.reject(new Error('the test gave no answer for ask'))),
  };
  const log: ToolContext['log'] = (level, message) => void logs.push({ level, message });
  if (tool.schema !== undefined) checkInput(tool.name, tool.schema, input);
  const output = await tool.execute({ ...defaults(options), log, ...options, host }, input);
  return { output, execs, logs };
}

function defaults({ workspace }: Pick<ToolContext, 'workspace'>): Omit<ToolContext, 'host' | 'workspace' | 'log'> {
  return {
    cwd: workspace,
    requestId: `req_${'0'.repeat(26)}`,
    protectedPaths: [],
    etagKey: '00'.repeat(32),
    deadlineMs: Date.now() + TIMEOUT_MS,
    timeoutMs: TIMEOUT_MS,
    outputMaxBytes: OUTPUT_MAX_BYTES,
    view: null,
    signal: new AbortController().signal,
  };
}
