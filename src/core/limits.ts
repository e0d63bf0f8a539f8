/** Limits that several rooms share. Limits that a person may change are in src/config/schema.ts. */

/** Maximum bytes of one gRPC message, in either direction. Larger input is PAYLOAD_TOO_LARGE, with both numbers. */
export const MESSAGE_MAX_BYTES = 32 * 1024 * 1024;
/** Maximum bytes of a tool's arguments as JSON text. Leaves room for the rest of the message. */
export const INPUT_MAX_BYTES = 31 * 1024 * 1024;
/** Bytes that wait for an MCP client that does not read its stream. Beyond them nothing is added and the stream ends. */
export const UNREAD_MAX_BYTES = 8 * 1024 * 1024;
/** Default deadline of a call, in milliseconds (NFR-2.2). A tool may have another (decision 0030). */
export const TIMEOUT_DEFAULT_MS = 30_000;
/** Longest deadline a call may ask for unless a person or the tool sets another limit, in milliseconds (NFR-2.2). */
export const TIMEOUT_LONGEST_MS = 300_000;
/** Longest deadline a person may allow, in milliseconds: one day. */
export const TIMEOUT_MAX_MS = 86_400_000;
/** Kinds of answers with their own default budget. */
export const BUDGET_CLASSES = ['answer', 'search', 'checkpoint', 'warm_start'] as const;
export type BudgetClass = (typeof BUDGET_CLASSES)[number];
/** Default budget of each kind of answer, in tokens (CE-1.3, CE-1.4, CE-1.5, CE-4.1). */
export const BUDGET_DEFAULT_TOKENS = { answer: 2_000, search: 500, checkpoint: 3_000, warm_start: 800 } as const;
/**
 * Budget of a client's shell, in tokens: of an output that is shown whole, about as much as Claude Code itself shows of a command,
 * and of one that is cut, as much as it shows of a longer output.
 */
export const BUDGET_SHELL_TOKENS = { whole: 7_000, cut: 850 } as const;
/** Smallest budget a call can ask for, in tokens: the bare envelope, two markers and a cursor. */
export const BUDGET_MIN_TOKENS = 256;

/** Default limits of one sandbox: memory in mebibytes, and number of processes and threads. */
export const SANDBOX_MEMORY_DEFAULT_MB = 2048;
export const SANDBOX_PIDS_DEFAULT = 512;
