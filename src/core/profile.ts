/** What a tool may ask of the host (design §5). A grant that tool.json does not name is refused. */
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

/** How a tool departs from the default seccomp filter: without network sockets, without unix sockets, with ptrace. */
export const SECCOMP_RULES = ['no-inet', 'no-unix', 'debugger'] as const;
export type SeccompRule = (typeof SECCOMP_RULES)[number];

/** Bounds of a tool's own. They narrow what the configuration allows and never widen it; absent: as configured. */
export interface ToolLimits {
  memoryMb?: number;
  /** Processes and threads at once. */
  pids?: number;
  /** Processors, fractions allowed. */
  cpus?: number;
  /** The longest a call may take. */
  timeoutMs?: number;
}

/** How a tool is run: the part of tool.json that is no grant. */
export interface ToolProfile {
  /** Path inside the bundle: a script for Node when it ends in `.js` or `.mjs`, else a program. */
  entry: string;
  /** Below this the call is refused with SANDBOX_UNAVAILABLE. */
  minIsolation: 'full' | 'reduced';
  /** Hold for the commands the tool runs and for its own process, which keeps unix sockets: its connection is one. */
  seccomp: readonly SeccompRule[];
  limits: ToolLimits;
}
