/** Limits that more than one room must agree on. Those a person may change live in src/config/schema.ts. */

/** One gRPC message, either way, bytes. Larger input is PAYLOAD_TOO_LARGE with both numbers. */
export const MESSAGE_MAX_BYTES = 32 * 1024 * 1024;
/** Tool arguments as JSON text, bytes: leaves room for the rest of the message. */
export const INPUT_MAX_BYTES = 31 * 1024 * 1024;
/** Deadline of a call when it names none, milliseconds (NFR-2.2). */
export const TIMEOUT_DEFAULT_MS = 30_000;
/** The longest deadline a call may ask for, milliseconds (NFR-2.2). */
export const TIMEOUT_MAX_MS = 300_000;
/** Tokens of one answer when the call asks for none (CE-1.4). */
export const BUDGET_DEFAULT_TOKENS = 2_000;
/** The smallest budget an answer can be asked for, tokens: the bare envelope, two markers and a cursor. */
export const BUDGET_MIN_TOKENS = 256;
