/** Limits that more than one room must agree on. Those a person may change live in src/config/schema.ts. */

/** One gRPC message, either way, bytes. Larger input is PAYLOAD_TOO_LARGE with both numbers. */
export const MESSAGE_MAX_BYTES = 32 * 1024 * 1024;
/** Tool arguments as JSON text, bytes: leaves room for the rest of the message. */
export const INPUT_MAX_BYTES = 31 * 1024 * 1024;
/** Deadline of a call when it names none, milliseconds (NFR-2.2). */
export const TIMEOUT_DEFAULT_MS = 30_000;
/** The longest deadline a call may ask for, milliseconds (NFR-2.2). */
export const TIMEOUT_MAX_MS = 300_000;
/** Kinds of answers that have a default budget of their own. */
export const BUDGET_CLASSES = ['answer', 'search', 'checkpoint', 'warm_start'] as const;
export type BudgetClass = (typeof BUDGET_CLASSES)[number];
/** Tokens that an answer of each kind stays under when the call asks for none (CE-1.3, CE-1.4, CE-1.5, CE-4.1). */
export const BUDGET_DEFAULT_TOKENS = { answer: 2_000, search: 500, checkpoint: 3_000, warm_start: 800 } as const;
/** The smallest budget an answer can be asked for, tokens: the bare envelope, two markers and a cursor. */
export const BUDGET_MIN_TOKENS = 256;
