import type { CommandRuleRecord } from '../call/outcome.ts';
import { ContextdError, type ErrorCode } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import type { ApprovalRule } from '../stores/approval-rules.ts';
import type { NewConsent } from '../stores/consents.ts';

/** The result of one check. Only `allow` lets the call proceed. */
export type Verdict = Allowed | Denied | Question;

interface Judged {
  /** Rules of clients that cover commands of the call, for the audit log. */
  ruled?: readonly CommandRuleRecord[];
}

export interface Allowed extends Judged {
  verdict: 'allow';
  reason: string;
}

export interface Denied extends Judged {
  verdict: 'deny';
  reason: string;
  code: ErrorCode;
  remedy: string;
  limit?: number;
  /** Further facts for a program. */
  details?: JsonObject;
  /** Milliseconds to wait before a retry. */
  retryAfterMs?: number;
}

/** The error of a call that is denied. `facts`: further details. */
export function denial(
  { code, reason, remedy, limit, details, retryAfterMs }: Denied,
  facts: JsonObject,
): ContextdError {
  return new ContextdError(code, reason, {
    remedy,
    details: { ...facts, ...(limit === undefined ? {} : { limit }), ...details },
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

/**
 * Allowed if a person consented to each of `needs` in the call's project. Otherwise the call waits for a person if every
 * missing consent has a rule that asks, and is refused at once if not.
 */
export interface Question extends Judged {
  verdict: 'ask';
  needs: readonly Need[];
  /** The reason if no consent is missing. */
  allowed: string;
  /** The reason if the named consents are missing. */
  refused(missing: readonly string[]): string;
  /** How a person can consent. */
  remedy: string;
  /** True: the call waits only while a program of a person watches for questions. Default: it waits for anyone. */
  isOnlyForWatchers?: boolean;
}

export interface Need extends NewConsent {
  /** Its name in the reason. */
  name: string;
  /** The rule that asks a person while the call waits. Absent: the call cannot wait for this consent. */
  rule?: ApprovalRule;
}
