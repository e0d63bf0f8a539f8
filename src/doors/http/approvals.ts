import { readWrittenAnswer } from '../../core/approval-answers.ts';
import { ContextdError } from '../../core/errors.ts';
import type {
  ApprovalRuleInfo__Output as ApprovalRuleInfo,
  WaitingApproval__Output as WaitingApproval,
} from '../../protocol/generated/management.ts';
import { checkRequests } from '../management-requests.ts';
import { json, type PlainAnswer } from './answers.ts';
import { projectOf } from './project-of.ts';
import type { RouteDeps, RouteRequest } from './route.ts';

/** The calls that wait for a person, of the project of the token. The machine's tokens may name one, or get all. */
export async function listApprovals({ grant, query }: RouteRequest, { management }: RouteDeps): Promise<PlainAnswer> {
  const root = projectOf(query.project ?? '', grant);
  const { items } = await checkRequests(management).listApprovals({ root, id: query.id ?? '' });
  return json({ approvals: items.map(waitingItem) });
}

/** Answers a question or a rule, as `ctxd approve` does, in the name of the token. */
export async function answerApproval(request: RouteRequest, { management }: RouteDeps): Promise<PlainAnswer> {
  const { grant, params, body } = request;
  const root = projectOf(typeof body.project === 'string' ? body.project : '', grant);
  const { id = '' } = params;
  if (root === '' && id.startsWith('rule_')) throw needsProject(id);
  const written = typeof body.answer === 'string' ? readWrittenAnswer(body.answer) : null;
  if (written === null) throw new Error('the schema of the route was checked');
  const { rule, project, calls, expires_ms } = await checkRequests(management).answerApproval({
    root,
    id,
    answer: written.answer,
    for_ms: written.forMs,
    by: `token ${grant.name}`,
    calls: typeof body.calls === 'number' ? body.calls : 1,
  });
  return json({ rule: ruleOf(rule), project, calls, expires_at: expires_ms === 0 ? null : timeOf(expires_ms) });
}

/** A question has its project; an answer to a rule is kept for one. */
function needsProject(id: string): ContextdError {
  return new ContextdError('ARGS_INVALID', `${id} is a rule, which is answered in a project, and the body names none`, {
    remedy: 'Add "project":"/path/of/the/project" to the body.',
  });
}

function waitingItem(item: WaitingApproval) {
  const { id, rule, project, session, branch, tool, cwd, text, text_chars, text_withheld, asked_ms, calls, hidden } =
    item;
  const isWhole = text.length === text_chars && !text_withheld;
  return {
    ...{ id, rule: ruleOf(rule), project, session, branch, tool, cwd, calls, asked_at: timeOf(asked_ms) },
    ...{ text: isWhole ? text : null, text_chars, text_withheld, hidden },
  };
}

function ruleOf(rule: ApprovalRuleInfo | null) {
  const { id = '', tool = '', when = '', reason = '' } = rule ?? {};
  return { id, tool, when, reason };
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
