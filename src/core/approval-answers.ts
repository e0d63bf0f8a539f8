import { DURATION_PATTERN, durationMs } from './duration.ts';

/** How a person answers a rule that asks: for this call, for a time, for good, or with a refusal for good. */
export const APPROVAL_ANSWERS = ['once', 'for', 'always', 'never'] as const;
export type ApprovalAnswer = (typeof APPROVAL_ANSWERS)[number];

const WORDS: readonly ApprovalAnswer[] = ['once', 'always', 'never'];

/** What a person writes as an answer: `once`, `always`, `never`, or a time such as `1h`. */
export const WRITTEN_ANSWER_PATTERN = new RegExp(`^(?:${WORDS.join('|')})$|${DURATION_PATTERN.source}`);

/** Null for a text that does not fit WRITTEN_ANSWER_PATTERN. `forMs`: milliseconds, 0 unless the answer is `for`. */
export function readWrittenAnswer(text: string): { answer: ApprovalAnswer; forMs: number } | null {
  const word = WORDS.find((one) => one === text);
  if (word !== undefined) return { answer: word, forMs: 0 };
  const forMs = durationMs(text);
  return forMs === null ? null : { answer: 'for', forMs };
}
