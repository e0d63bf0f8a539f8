/** How a person answers a rule that asks: for this call, for a time, for good, or with a refusal for good. */
export const APPROVAL_ANSWERS = ['once', 'for', 'always', 'never'] as const;
export type ApprovalAnswer = (typeof APPROVAL_ANSWERS)[number];
