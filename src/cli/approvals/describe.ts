import type {
  ApprovalRuleInfo__Output as ApprovalRuleInfo,
  WaitingApproval__Output as WaitingApproval,
} from '../../protocol/generated/management.ts';
import { countOf } from '../render.ts';
import { quotedLines } from './quoted-text.ts';

/** What a person has to know of a question. All text of the agent is quoted. */
export function describeQuestion(item: WaitingApproval, nowMs: number, columns?: number): string[] {
  const {
    id,
    rule,
    tool,
    project,
    session,
    branch,
    cwd,
    text,
    text_chars: chars,
    calls,
    asked_ms: askedMs,
    hidden,
  } = item;
  const seconds = Math.max(0, Math.round((nowMs - askedMs) / 1000));
  const where = branch === '' ? session : `${session}, branch ${branch}`;
  return [
    `${id}  ${tool}, waiting ${seconds} s${calls > 1 ? `, ${calls} identical calls` : ''}`,
    ...field('project', project, columns),
    ...field('session', where, columns),
    ...(cwd === '' || cwd === project ? [] : field('directory', cwd, columns)),
    ...field('rule', describeRule(rule), columns),
    `  input  ${countOf(chars, 'character')}:`,
    ...(item.text_withheld
      ? ['  ~ withheld, because it could not be searched for secrets']
      : quotedLines(text, columns)),
    ...hidden.map((sentence) => `  ~ ${sentence}`),
  ];
}

/** A value that fits in its line stays there. Otherwise it is quoted, so that no part of it begins a line. */
function field(name: string, value: string, columns?: number): string[] {
  const [first = '', ...more] = quotedLines(value, columns);
  return more.length === 0 ? [`  ${name}  ${first.replace(/^ {2}\| ?/, '')}`] : [`  ${name}:`, first, ...more];
}

export function describeRule(rule: ApprovalRuleInfo | null): string {
  if (rule === null) return '';
  const { id, tool, when, reason } = rule;
  return `${id}: ${tool}${when === '' ? '' : ` when ${when}`}${reason === '' ? '' : ` (${reason})`}`;
}
