import type { ErrorCode } from '../core/errors.ts';
import type { NewConsent } from '../stores/consents.ts';

/** What one check decides. Only `allow` lets the call go on. */
export type Verdict = Allowed | Denied | Question;

export interface Allowed {
  verdict: 'allow';
  reason: string;
}

export interface Denied {
  verdict: 'deny';
  reason: string;
  code: ErrorCode;
  remedy: string;
  limit?: number;
}

/** A person must have consented to each of `needs` in the project of the call; otherwise the call is refused. */
interface Question {
  verdict: 'ask';
  needs: readonly Need[];
  /** The reason if a person consented to all of them. */
  allowed: string;
  /** The reason if a person did not consent to those named. */
  refused(missing: readonly string[]): string;
  /** How a person can consent. */
  remedy: string;
}

interface Need extends NewConsent {
  /** What the reason calls it. */
  name: string;
}
