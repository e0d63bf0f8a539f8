/** What a tool may ask of the host (docs/plugins.md). The host refuses what tool.json does not name. */
export const GRANTS = [
  'exec',
  'scrub',
  'log',
  'memory_search',
  'memory_store',
  'checkpoint_save',
  'checkpoint_restore',
] as const;
export type Grant = (typeof GRANTS)[number];

/** Changes to the default seccomp filter: no network sockets, no unix sockets, ptrace allowed. */
export const SECCOMP_RULES = ['no-inet', 'no-unix', 'debugger'] as const;
export type SeccompRule = (typeof SECCOMP_RULES)[number];

/** Limits of a tool. Above the usual ones they are grants; otherwise they narrow what is configured. Absent: as configured. */
export interface ToolLimits {
  memoryMb?: number;
  /** Processes and threads at once. */
  pids?: number;
  /** Processors, fractions allowed. */
  cpus?: number;
  /** Milliseconds that a call may take. Above the usual limit: that it may ask for. */
  timeoutMs?: number;
  /** Milliseconds that a call has if it asks for none, if that is more than configured. */
  defaultTimeoutMs?: number;
}

/**
 * What runs the entry of a tool. `node`: contextd's Node, with the SDK. `plugin`: nothing, it is a program that speaks
 * go-plugin. `exec`: it is a program that is started for each call, gets the arguments as JSON on stdin and prints its answer.
 */
export const RUNTIMES = ['node', 'plugin', 'exec'] as const;
export type Runtime = (typeof RUNTIMES)[number];

/** The runtime of a manifest that names none. */
export function runtimeOf(entry: string): Runtime {
  return /\.[mc]?[jt]s$/.test(entry) ? 'node' : 'plugin';
}

/** How a tool is run: tool.json without the grants. */
export interface ToolProfile {
  runtime: Runtime;
  /** Path inside the bundle. */
  entry: string;
  /** Below this the call is refused with SANDBOX_UNAVAILABLE. */
  minIsolation: 'full' | 'reduced';
  /** For the tool's commands and its own process. The process keeps unix sockets, because its connection is one. */
  seccomp: readonly SeccompRule[];
  limits: ToolLimits;
}
