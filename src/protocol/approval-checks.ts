import { APPROVAL_ANSWERS } from '../core/approval-answers.ts';
import { ContextdError } from '../core/errors.ts';
import type {
  ApprovalAnswer__Output as ApprovalAnswer,
  ApprovalRequest__Output as ApprovalRequest,
  NewApprovalRule__Output as NewApprovalRule,
} from './generated/management.ts';
import { withOptionalRoot } from './management-checks.ts';

// What is checked of requests about approvals: their shape and size.

const ID_MAX_CHARS = 80;
const PATTERN_MAX_CHARS = 1_000;
const TEXT_MAX_CHARS = 300;
const YEAR_MS = 366 * 24 * 60 * 60 * 1000;
/** What the names of tools consist of, and `*`. */
const TOOL_GLOB = /^[A-Za-z0-9_:./@#*-]{1,240}$/;

export function approvalOf(request: ApprovalRequest): ApprovalRequest {
  checkLength('an id', request.id, ID_MAX_CHARS);
  return withOptionalRoot(request);
}

export function approvalAnswerOf(request: ApprovalAnswer): ApprovalAnswer {
  const { id, answer, for_ms: forMs, by } = request;
  checkLength('an id', id, ID_MAX_CHARS);
  checkLength('a name', by, TEXT_MAX_CHARS);
  if (!APPROVAL_ANSWERS.some((known) => known === answer))
    throw invalid(`${JSON.stringify(answer.slice(0, 80))} is not an answer`, `Use ${APPROVAL_ANSWERS.join(', ')}.`);
  if (answer === 'for' ? !(forMs > 0 && forMs <= YEAR_MS) : forMs !== 0)
    throw invalid(`${forMs} milliseconds do not fit the answer ${answer}`, 'A time is more than 0 and at most a year.');
  return withOptionalRoot(request);
}

export function approvalRuleOf(request: NewApprovalRule): NewApprovalRule {
  const { tool, when, reason, by } = request;
  if (!TOOL_GLOB.test(tool))
    throw invalid(
      `${JSON.stringify(tool.slice(0, 80))} is not the name of a tool`,
      'Write one such as safe_bash; * stands for any characters.',
    );
  checkLength('a pattern', when, PATTERN_MAX_CHARS);
  checkLength('a reason', reason, TEXT_MAX_CHARS);
  checkLength('a name', by, TEXT_MAX_CHARS);
  return withOptionalRoot(request);
}

function checkLength(what: string, text: string, limit: number): void {
  if (text.length > limit)
    throw new ContextdError('ARGS_INVALID', `${what} has more than ${limit} characters`, {
      remedy: 'Write less.',
      details: { limit },
    });
}

function invalid(message: string, remedy: string): ContextdError {
  return new ContextdError('ARGS_INVALID', message, { remedy });
}
