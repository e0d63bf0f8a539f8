import type { Clock } from '../core/clock.ts';
import { ContextdError } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import type { Logger } from '../core/log.ts';
import type { ToolProfile } from '../core/profile.ts';
import { createCertificate } from '../protocol/plugin/certificate.ts';
import { loadPluginProtocol } from '../protocol/plugin/load-plugin-protocol.ts';
import type { ScannedOutput } from '../protocol/tool-output.ts';
import type { Sandbox, SandboxPolicy } from '../sandbox/sandbox.ts';
import type { RunFacts } from './call-facts.ts';
import type { HostServices } from './host-methods.ts';
import { profileKey } from './profile.ts';
import type { CommandListener } from './progress/progress-feed.ts';
import { RUNNER_DEFAULTS, type RunnerConfig } from './runner-config.ts';
import { type SlotDeps, ToolSlot } from './tool-slot.ts';

/** One call of a tool, verified and authorized. */
export interface ToolCall {
  requestId: string;
  /** Also the workspace. */
  projectRoot: string;
  sessionKey: string;
  tool: string;
  /** A core tool's process serves all sessions of the project; an installed one gets a process for each. */
  origin: 'core' | 'installed';
  bundleSha256: string;
  bundleDir: string;
  /** How tool.json wants the tool run. */
  profile: ToolProfile;
  grants: readonly string[];
  input: JsonObject;
  /** Hexadecimal. */
  etagKey: string;
  /** Milliseconds the execution may take; starting the tool's process is not part of it. */
  timeoutMs: number;
  /** Bytes kept of each stream, at most 64 MiB. */
  outputMaxBytes: number;
  /** Bytes of both streams of one command past which it is killed; 0: never. */
  outputKillBytes: number;
  /** Called for each command of the call: who wants to know what it prints, unscrubbed. Default: nobody. */
  onCommand?(): CommandListener;
  signal: AbortSignal;
  /**
   * Told at most once, before `run` settles, what the host did for the call: the only way to learn it of a call that
   * fails. A core tool's call that never reached its process has no facts to tell.
   */
  onFacts?(facts: RunFacts): void;
}

/** `firstPass`: per leaf of {data, streams}, in the order of `collectLeaves`. */
export interface RunResult extends ScannedOutput, RunFacts {
  durationMs: number;
}

export interface Runner {
  start(): Promise<void>;
  /** Ends every tool process and waits; calls under way fail with INTERRUPTED. Idempotent. */
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
  /** Directory that only the daemon can enter, on the file system of the sandbox's socket directories. */
  privateSocketsDir: string;
  /** The texts with what looks like a secret replaced by the session's tokens. */
  scrub(sessionKey: string, texts: readonly string[]): Promise<readonly string[]>;
  services: HostServices;
  logger: Logger;
  clock: Clock;
  /** What differs from the defaults. */
  config?: Partial<RunnerConfig>;
}

/** Tool processes: started by the first call that needs one, shared as far as `origin` says. */
export function createRunner(deps: RunnerDeps): Runner {
  const slots = new Map<string, ToolSlot>();
  const shared = prepareOnce(deps);
  let isStopped = false;
  const slotOf = (call: ToolCall): ToolSlot => {
    const key = slotKey(call);
    const slot = slots.get(key) ?? new ToolSlot(call, shared(), () => slots.delete(key));
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

/** What every process needs and one of is enough: made with the first. */
function prepareOnce(deps: RunnerDeps): () => SlotDeps {
  const config = { ...RUNNER_DEFAULTS, ...deps.config };
  let made: SlotDeps | undefined;
  return () => {
    made ??= { ...deps, config, protocol: loadPluginProtocol(), certificate: createCertificate(deps.clock.now()) };
    return made;
  };
}

/** Calls with the same key share a process. */
function slotKey({ projectRoot, bundleSha256, bundleDir, origin, sessionKey, profile }: ToolCall): string {
  const session = origin === 'core' ? '' : sessionKey;
  return [projectRoot, bundleSha256, bundleDir, origin, profileKey(profile), session].join('\0');
}
