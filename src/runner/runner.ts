import type { Clock } from '../core/clock.ts';
import { ContextdError } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import type { Logger } from '../core/log.ts';
import type { SecretSpan, ToolOutput } from '../protocol/tool-output.ts';
import type { Sandbox, SandboxPolicy } from '../sandbox/sandbox.ts';
import { RUNNER_DEFAULTS, type RunnerConfig } from './runner-config.ts';
import { ToolSlot } from './tool-slot.ts';

/** One call of a tool, verified and authorized. */
export interface ToolCall {
  requestId: string;
  /** Also the workspace. */
  projectRoot: string;
  sessionKey: string;
  tool: string;
  bundleSha256: string;
  bundleDir: string;
  input: JsonObject;
  /** Hexadecimal. */
  etagKey: string;
  /** Milliseconds the execution may take; starting the tool's process is not part of it. */
  timeoutMs: number;
  /** Bytes kept of each stream, at most 64 MiB. */
  outputMaxBytes: number;
  grants: readonly string[];
  signal: AbortSignal;
}

export interface RunResult {
  output: ToolOutput;
  /** Per leaf of {data, streams}, in the order of `collectLeaves`. */
  firstPass: readonly (readonly SecretSpan[])[];
  durationMs: number;
  /** Protected paths, relative to the workspace, that commands made and that were renamed. */
  quarantined: readonly string[];
}

export interface Runner {
  start(): Promise<void>;
  /** Kills every tool process and waits; calls under way fail with INTERRUPTED. Idempotent. */
  stop(): Promise<void>;
  /**
   * Runs one call in the process of its project and bundle. Throws TIMEOUT, CANCELLED, TOOL_CRASHED, VERSION_MISMATCH,
   * TOOL_NOT_FOUND, what the sandbox throws and what the tool threw; a tool that began and failed is a result.
   */
  run(call: ToolCall): Promise<RunResult>;
}

export interface RunnerDeps {
  sandbox: Sandbox;
  policyFor(projectRoot: string): SandboxPolicy;
  logger: Logger;
  clock: Clock;
  /** What differs from the defaults. */
  config?: Partial<RunnerConfig>;
}

/** Tool processes, one for each project and bundle; sessions share them, because a process keeps nothing of a call. */
export function createRunner(deps: RunnerDeps): Runner {
  const config = { ...RUNNER_DEFAULTS, ...deps.config };
  const slots = new Map<string, ToolSlot>();
  let isStopped = false;
  const slotOf = (call: ToolCall): ToolSlot => {
    const key = `${call.projectRoot}\0${call.bundleSha256}`;
    const slot = slots.get(key) ?? new ToolSlot(call.projectRoot, call.bundleDir, { ...deps, config });
    slots.set(key, slot);
    return slot;
  };
  return {
    async start() {
      isStopped = false;
    },
    async stop() {
      isStopped = true;
      await Promise.all([...slots.values()].map((slot) => slot.stop()));
      slots.clear();
    },
    async run(call) {
      if (isStopped) throw new ContextdError('INTERRUPTED', `contextd stopped before ${call.tool} began`);
      return slotOf(call).run(call);
    },
  };
}
