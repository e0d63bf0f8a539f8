import { userInfo } from 'node:os';
import { readWrittenAnswer } from '../../core/approval-answers.ts';
import { ContextdError } from '../../core/errors.ts';
import type {
  AnsweredApproval__Output as AnsweredApproval,
  ApprovalAnswer__Output as ApprovalAnswer,
} from '../../protocol/generated/management.ts';
import { countOf } from '../render.ts';

/** The answer that a person typed: a word, or a time such as 1h. `calls`: how many calls the person was shown. Throws ARGS_INVALID for anything else. */
export function readAnswer(id: string, typed: string, { root = '', calls = 1 } = {}): ApprovalAnswer {
  const read = readWrittenAnswer(typed);
  if (read !== null) return { id, root, by: userInfo().username, answer: read.answer, for_ms: read.forMs, calls };
  throw new ContextdError('ARGS_INVALID', `${JSON.stringify(typed)} is not an answer`, {
    remedy: 'Answer once, always, never, or a time such as 30m, 1h or 7d.',
  });
}

/** What the answer did. */
export function describeAnswer(
  { rule, project, calls, expires_ms: expiresMs }: AnsweredApproval,
  answer: string,
): string {
  const settled = `${countOf(calls, 'waiting call')} ${answer === 'never' ? 'refused' : 'allowed'}.`;
  if (answer === 'once') return calls === 0 ? 'The call does not wait any more: the next one asks again.' : settled;
  const until = expiresMs === 0 ? '' : ` until ${new Date(expiresMs).toISOString()}`;
  const word = answer === 'never' ? 'Refused' : 'Allowed';
  return `${calls === 0 ? '' : `${settled} `}${word}${until} in ${project}: what ${rule?.id ?? ''} asks about. Undo: \`ctxd approve remove ID\`, with the id from \`ctxd approve list\``;
}
