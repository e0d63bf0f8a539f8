import { createHash } from 'node:crypto';
import type { Catalog } from '../../catalog/catalog.ts';
import { toolMatcher } from '../../catalog/tool-glob.ts';
import { APPROVAL_ANSWERS } from '../../core/approval-answers.ts';
import type { Clock } from '../../core/clock.ts';
import { ContextdError } from '../../core/errors.ts';
import { newShortId } from '../../core/ids.ts';
import type {
  ApprovalAnswer__Output as ApprovalAnswer,
  ApprovalRuleInfo__Output as ApprovalRuleInfo,
  KeptApproval__Output as KeptApproval,
  WaitingApproval__Output as WaitingApproval,
} from '../../protocol/generated/management.ts';
import type { RpcHandlers } from '../../protocol/management-contract.ts';
import type { Scrubber } from '../../scrub/scrubber.ts';
import type { ApprovalRule, ApprovalRules } from '../../stores/approval-rules.ts';
import { approvalOfSubject, type Consent, type Consents } from '../../stores/consents.ts';
import type { Answer, CallApprovals, Decided } from './call-approvals.ts';
import { hiddenIn } from './hidden-values.ts';
import type { Question } from './open-question.ts';
import { compileRule } from './rule-matcher.ts';

export interface CallApprovalManagementDeps {
  approvals: Pick<CallApprovals, 'list' | 'watched' | 'decide' | 'decideRule' | 'ruleRemoved'>;
  approvalRules: ApprovalRules;
  /** Rules of clients that ask, by project. */
  clientRules: { rulesOf(projectRoot: string): Promise<readonly ApprovalRule[]> };
  consents: Pick<Consents, 'list' | 'scopes' | 'change' | 'withdraw'>;
  catalog: Pick<Catalog, 'list'>;
  /** The ids of the tools of MCP servers; of a project, or '' for all of them. */
  upstreams: { toolIds(project: string): readonly string[] };
  scrubber: Pick<Scrubber, 'maskText' | 'tokensIn' | 'reveal'>;
  clock: Clock;
}

type ApprovalHandlers = Pick<
  RpcHandlers,
  | 'listApprovals'
  | 'answerApproval'
  | 'listApprovalAnswers'
  | 'removeApprovalAnswer'
  | 'addApprovalRule'
  | 'listApprovalRules'
  | 'removeApprovalRule'
>;

/** Characters of one text, and of all texts, in a list of several questions. */
const LISTED_MAX_CHARS = 65_536;
const LIST_MAX_CHARS = 4 * 1024 * 1024;

/** What a person decides about calls that wait, and the rules by which calls wait. */
export function createCallApprovalManagement(deps: CallApprovalManagementDeps): ApprovalHandlers {
  const { approvals, approvalRules, consents, clock } = deps;
  const info = (rule: ApprovalRule): ApprovalRuleInfo => ruleInfo(rule, toolNames(rule, deps));
  return {
    async listApprovals({ root, id }) {
      approvals.watched();
      const open = approvals.list(root).filter((question) => id === '' || question.id === id);
      return { items: await waitingItems(open, id !== '', deps) };
    },
    async answerApproval(request, record) {
      const decided = await answered(request, deps);
      const { rule, project, session, calls, expiresMs } = decided;
      record.note({ project, session, input: { rule: rule.id, calls } });
      return { rule: info(rule), project, calls, expires_ms: expiresMs ?? 0 };
    },
    listApprovalAnswers: async ({ root, id }) => ({
      answers: (await keptAnswers(root, deps)).map(({ kept }) => kept).filter((kept) => id === '' || kept.id === id),
    }),
    async removeApprovalAnswer({ root, id }, record) {
      const found = (await keptAnswers(root, deps)).find(({ kept }) => kept.id === id);
      if (found === undefined) throw notFound(`no answer is kept as ${id}`, 'See `ctxd approve list`.');
      const { kept, consent } = found;
      record.note({ project: kept.project, input: { rule: kept.rule?.id ?? '' } });
      await consents.withdraw(consent.scope, consent.subject);
      return { answers: [kept] };
    },
    async addApprovalRule({ root, tool, when, reason, by }, record) {
      checkPattern({ tool, when });
      const rule = await approvalRules.add({
        id: `rule_${newShortId()}`,
        scope: root,
        tool,
        when,
        reason,
        givenBy: by,
      });
      record.note({ input: { rule: rule.id } });
      return { rules: [info(rule)] };
    },
    listApprovalRules: async ({ root, id }) => ({
      rules: approvalRules
        .list()
        .filter((rule) => (root === '' || rule.scope === '' || rule.scope === root) && (id === '' || rule.id === id))
        .map(info),
    }),
    async removeApprovalRule({ root, id }, record) {
      const rule = ruleNamed(id, deps);
      if (root !== '' && rule.scope !== root) throw unknownRule(id);
      record.note({ project: rule.scope });
      await approvalRules.remove(id);
      approvals.ruleRemoved(id);
      for (const scope of consents.scopes()) await withdrawAnswers(scope, id, consents);
      return { rules: [info(rule)] };
    },
  };

  /** The answers that still hold, with their rules. */
  async function keptAnswers(
    root: string,
    from: CallApprovalManagementDeps,
  ): Promise<{ kept: KeptApproval; consent: Consent }[]> {
    const scopes = root === '' ? from.consents.scopes() : [root];
    const all = scopes.flatMap((scope) => from.consents.list(scope));
    const ofClients = await Promise.all(answeredIn(scopes, from).map((root) => from.clientRules.rulesOf(root)));
    const rules = [...approvalRules.list(), ...ofClients.flat()];
    const valid = all.filter(({ expiresMs }) => expiresMs === null || expiresMs > clock.now());
    return valid
      .flatMap((consent) => {
        const answer = approvalOfSubject(consent.subject);
        const rule = rules.find(({ id }) => id === answer?.rule);
        if (answer === null || rule === undefined) return [];
        return [{ kept: keptInfo(consent, answer.verdict, info(rule)), consent }];
      })
      .sort((a, b) => a.kept.given_ms - b.kept.given_ms);
  }
}

/** The projects in which a person answered a rule. */
function answeredIn(scopes: readonly string[], { consents }: Pick<CallApprovalManagementDeps, 'consents'>): string[] {
  const isAnswered = ({ subject }: Consent): boolean => approvalOfSubject(subject) !== null;
  return scopes.filter((scope) => scope !== '' && consents.list(scope).some(isAnswered));
}

/** Answers a question, or a rule before a call asks. */
async function answered(request: ApprovalAnswer, deps: CallApprovalManagementDeps): Promise<Decided> {
  const { root, id, answer: word, for_ms: forMs, by, calls } = request;
  const known = APPROVAL_ANSWERS.find((one) => one === word);
  if (known === undefined) throw new Error('the shape of the request was checked');
  const answer: Answer = { answer: known, forMs, by, calls: Math.max(1, calls) };
  if (!id.startsWith('rule_')) return deps.approvals.decide(id, root, answer);
  const ofClients = root === '' ? [] : await deps.clientRules.rulesOf(root);
  const rule = ofClients.find((one) => one.id === id) ?? ruleNamed(id, deps);
  if (root === '' || (rule.scope !== '' && rule.scope !== root)) throw unknownRule(id);
  if (known === 'once')
    throw new ContextdError('ARGS_INVALID', `${id} is a rule, and once is an answer to a call that waits`, {
      remedy: 'Answer with a time such as 1h, with always or with never.',
    });
  return deps.approvals.decideRule(rule, root, answer);
}

function ruleNamed(id: string, { approvalRules }: CallApprovalManagementDeps): ApprovalRule {
  const rule = approvalRules.list().find((one) => one.id === id);
  if (rule === undefined) throw unknownRule(id);
  return rule;
}

async function withdrawAnswers(
  scope: string,
  id: string,
  consents: CallApprovalManagementDeps['consents'],
): Promise<void> {
  const subjects = consents.list(scope).map(({ subject }) => subject);
  const withdraw = subjects.filter((subject) => approvalOfSubject(subject)?.rule === id);
  if (withdraw.length > 0) await consents.change(scope, { withdraw });
}

function checkPattern(rule: Pick<ApprovalRule, 'tool' | 'when'>): void {
  try {
    compileRule(rule);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new ContextdError('ARGS_INVALID', `--when is not a pattern of RE2: ${why}`, { remedy: 'Correct it.', cause });
  }
}

/** Long texts are left out of a list: a person who decides asks for the one item, which has all of its text. */
async function waitingItems(
  questions: readonly Question[],
  isWhole: boolean,
  { scrubber }: CallApprovalManagementDeps,
): Promise<WaitingApproval[]> {
  let room = LIST_MAX_CHARS;
  const items: WaitingApproval[] = [];
  for (const question of questions) {
    const { id, rule, session, tool, cwd, askedMs, calls } = question;
    const text = await question.text;
    const isShown = isWhole || (text !== null && text.length <= Math.min(room, LISTED_MAX_CHARS));
    if (isShown) room -= text?.length ?? 0;
    items.push({
      id,
      rule: { ...ruleInfo(rule, []) },
      project: session.project,
      session: scrubber.maskText(session.session),
      branch: session.branch ?? '',
      tool,
      cwd: scrubber.maskText(cwd),
      text: isShown ? (text ?? '') : '',
      text_chars: text?.length ?? 0,
      text_withheld: text === null,
      asked_ms: askedMs,
      calls,
      hidden: hiddenIn(session, text ?? '', scrubber),
    });
  }
  return items;
}

/** The tools that a rule can be about. */
function toolNames(
  { scope }: Pick<ApprovalRule, 'scope'>,
  { catalog, upstreams }: Pick<CallApprovalManagementDeps, 'catalog' | 'upstreams'>,
): string[] {
  return [...catalog.list().map(({ manifest }) => manifest.name), ...upstreams.toolIds(scope)];
}

function ruleInfo({ id, scope, tool, when, reason, givenMs, givenBy }: ApprovalRule, names: readonly string[]) {
  const tools = [...new Set(names)].filter(toolMatcher(tool));
  return { id, root: scope, tool, when, reason, given_ms: givenMs, by: givenBy, tools };
}

function keptInfo(consent: Consent, verdict: string, rule: ApprovalRuleInfo): KeptApproval {
  const { scope, subject, givenMs, expiresMs } = consent;
  const hash = createHash('sha256')
    .update(JSON.stringify([scope, subject]))
    .digest('hex');
  return {
    id: `ans_${hash.slice(0, 8)}`,
    rule,
    project: scope,
    verdict,
    given_ms: givenMs,
    expires_ms: expiresMs ?? 0,
  };
}

function unknownRule(id: string): ContextdError {
  return notFound(`there is no rule ${id} here`, 'See `ctxd approve rule list`.');
}

function notFound(message: string, remedy: string): ContextdError {
  return new ContextdError('NOT_FOUND', message, { remedy });
}
