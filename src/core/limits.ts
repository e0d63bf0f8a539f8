/** Limits that several rooms share. Limits that a person may change are in src/config/schema.ts. */

/** Bytes of one gRPC message in either direction. Larger input is PAYLOAD_TOO_LARGE, with both numbers. */
export const MESSAGE_MAX_BYTES = 32 * 1024 * 1024;
/** Bytes of a tool's arguments as JSON text. Leaves room for the rest of the message. */
export const INPUT_MAX_BYTES = 31 * 1024 * 1024;
/** Milliseconds of a call's deadline if it asks for none (NFR-2.2, decision 0030). */
export const TIMEOUT_DEFAULT_MS = 120_000;
/** Milliseconds of the longest deadline that a call may ask for, unless a person sets another limit. */
export const TIMEOUT_LONGEST_MS = 3_600_000;
/** Milliseconds of the longest deadline that a person may allow: a day. */
export const TIMEOUT_MAX_MS = 86_400_000;
/** Kinds of answers with a default budget of their own. */
export const BUDGET_CLASSES = ['answer', 'search', 'checkpoint', 'warm_start'] as const;
export type BudgetClass = (typeof BUDGET_CLASSES)[number];
/** Tokens of each kind of answer if the call asks for no budget (CE-1.3, CE-1.4, CE-1.5, CE-4.1). */
export const BUDGET_DEFAULT_TOKENS = { answer: 2_000, search: 500, checkpoint: 3_000, warm_start: 800 } as const;
/** Tokens of the smallest budget that a call can ask for: the bare envelope, two markers and a cursor. */
export const BUDGET_MIN_TOKENS = 256;

/** Mebibytes of memory, and processes and threads, of one sandbox unless a person sets others. */
export const SANDBOX_MEMORY_DEFAULT_MB = 2048;
export const SANDBOX_PIDS_DEFAULT = 512;
