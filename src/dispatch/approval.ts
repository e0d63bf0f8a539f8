import type { ApprovalAnswer } from '../core/approval-answers.ts';
import { ContextdError } from '../core/errors.ts';
import { type ApprovalRule, approvalRuleHash } from '../stores/approval-rules.ts';
import { approvalSubject, type Consents } from '../stores/consents.ts';
import type { VerifiedCall } from './call.ts';
import type { Allowed, Verdict } from './decision.ts';

/** The rules of a person that ask before a call runs, and how the person is asked. */
export interface Approvals {
  /** The rules that cover the call, oldest first. */
  rulesFor(call: VerifiedCall): readonly ApprovalRule[];
  /**
   * Waits at most `waitMs` milliseconds for a person's answer. Throws the reason of the call's signal if it aborts, and
   * RATE_LIMITED if too many calls wait already.
   */
  ask(call: VerifiedCall, rule: ApprovalRule, waitMs: number): Promise<WaitEnd>;
  /** Whether a program that shows questions to a person looks for new ones. */
  isWatched(): boolean;
}

/** How the wait for a person ended. */
export type WaitEnd =
  | { kind: 'answered'; answer: ApprovalAnswer; by: string }
  | { kind: 'nobody answered' }
  | { kind: 'unwatched' }
  | { kind: 'rule removed' };

const NO_RULE: Allowed = { verdict: 'allow', reason: 'no rule asks a person about this call' };

/** Asks for each rule that covers the call, unless a person answered it with `never` in this project. */
export function checkApproval(
  call: VerifiedCall,
  { approvals, consents }: { approvals: Approvals; consents: Pick<Consents, 'has'> },
): Verdict {
  return askFor(approvals.rulesFor(call), call, { consents });
}

/** Asks for each of the rules. */
export function askFor(
  rules: readonly ApprovalRule[],
  call: VerifiedCall,
  { consents }: { consents: Pick<Consents, 'has'> },
): Verdict {
  if (rules.length === 0) return NO_RULE;
  const needs = rules.map((rule) => ({
    name: rule.id,
    subject: approvalSubject('allow', rule.id),
    hash: approvalRuleHash(rule),
    rule,
  }));
  const { projectRoot } = call.request;
  const never = needs.find(({ name, hash }) => consents.has(projectRoot, approvalSubject('never', name), hash));
  if (never !== undefined) {
    return {
      verdict: 'deny',
      code: 'PERMISSION_DENIED',
      reason: `a person never allows what ${nameOf(never.rule)} asks about in this project`,
      remedy: 'Do not repeat the call. A person can take the answer back: `ctxd approve list`.',
    };
  }
  return {
    verdict: 'ask',
    needs,
    allowed: `a person allowed what ${needs.map(({ name }) => name).join(', ')} asks about`,
    refused: (missing) => `${missing.join(', ')} asks a person about this call`,
    remedy: howToAllow(rules[0]),
  };
}

/** The rule, with the reason that the person gave for it. */
function nameOf({ id, reason }: ApprovalRule): string {
  return reason === '' ? id : `${id} (${reason})`;
}

function howToAllow(rule: ApprovalRule | undefined): string {
  return `A person can allow it in the project with \`ctxd approve ${rule?.id ?? 'RULE'} 1h\` (or \`always\`), or answer with \`ctxd approve --watch\` when you call again.`;
}

const UNANSWERED = {
  answered: 'the answer did not allow it',
  'nobody answered': 'nobody answered in time',
  unwatched: 'no person watches for questions now',
} as const;

/** The refusal of a call that nobody allowed. */
export function notApproved(end: WaitEnd['kind'], rule: ApprovalRule, waitMs: number): ContextdError {
  const about = `${nameOf(rule)} asks a person about this call`;
  if (end === 'rule removed') {
    return new ContextdError('PERMISSION_DENIED', `${about}, and was removed while the call waited`, {
      remedy: 'Call again: the rule is gone.',
    });
  }
  const why = waitMs === 0 ? 'calls do not wait (approvals.wait_ms is 0)' : UNANSWERED[end];
  return new ContextdError('PERMISSION_DENIED', `${about}, and ${why}`, { remedy: howToAllow(rule) });
}
