import type { JsonObject } from '../core/json.ts';
import type { ExecSpec, LogLevel, Tool, ToolContext, ToolHost, ToolOutput } from './tool.ts';

/** What a scripted host saw. */
export interface HarnessRun {
  output: ToolOutput;
  execs: readonly ExecSpec[];
  logs: readonly { level: LogLevel; message: string }[];
}

export interface HarnessOptions extends Partial<Omit<ToolContext, 'host'>> {
  /** Absolute real path; the test makes and removes it. */
  workspace: string;
  /** Answers to `exec`, by what was asked. Default: a test that runs a command fails. */
  exec?: ToolHost['exec'];
  /** Answers to `ask`. Default: a test that asks for something fails. */
  ask?: ToolHost['ask'];
}

const TIMEOUT_MS = 30_000;
const OUTPUT_MAX_BYTES = 64 * 1024 * 1024;

/** Runs a tool in the test's own process against a directory, with a host that the test scripts. */
export async function runTool(tool: Tool, input: JsonObject, options: HarnessOptions): Promise<HarnessRun> {
  const execs: ExecSpec[] = [];
  const logs: { level: LogLevel; message: string }[] = [];
  const answer = options.exec ?? (() => Promise.reject(new Error('the test gave no answer for exec')));
  const host: ToolHost = {
    exec(spec) {
      execs.push(spec);
      return answer(spec);
    },
    // Replaces nothing: what is a secret is the host's to know.
    scrub: async (texts) => [...texts],
    ask: options.ask ?? (() => Promise.reject(new Error('the test gave no answer for ask'))),
    log: (level, message) => void logs.push({ level, message }),
  };
  const output = await tool.execute({ ...defaults(), ...options, host }, input);
  return { output, execs, logs };
}

function defaults(): Omit<ToolContext, 'host' | 'workspace'> {
  return {
    requestId: `req_${'0'.repeat(26)}`,
    protectedPaths: [],
    etagKey: '00'.repeat(32),
    deadlineMs: Date.now() + TIMEOUT_MS,
    outputMaxBytes: OUTPUT_MAX_BYTES,
    signal: new AbortController().signal,
  };
}
