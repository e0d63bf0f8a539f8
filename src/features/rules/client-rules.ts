import { createHash } from 'node:crypto';
import type { CommandRuleRecord } from '../../call/outcome.ts';
import type { VerifiedCall } from '../../dispatch/call.ts';
import type { CommandRules, RulesJudgement } from '../../dispatch/command-rules.ts';
import type { ApprovalRule } from '../../stores/approval-rules.ts';
import type { Input } from './inputs.ts';
import type { JudgeThread } from './judge-thread.ts';
import { type Judgement, NO_RULE, type RuledCommand } from './judgement.ts';
import { type CommandRule, isCatchAll, type RuleClient, type RuleList } from './rule.ts';
import type { ProjectRules, RuleFiles } from './rule-files.ts';

export interface ClientRulesDeps {
  files: Pick<RuleFiles, 'read'>;
  thread: Pick<JudgeThread, 'judge'>;
}

const NOTHING: RulesJudgement = { denied: null, asks: [], records: [] };

/** The door of a client whose shell contextd is: the client has compared the words with its rules. */
const SHELL_DOOR = 'shell';

/** The rules of clients for commands, as contextd applies them (docs/rules.md). */
export class ClientRules implements CommandRules {
  readonly #deps: ClientRulesDeps;

  constructor(deps: ClientRulesDeps) {
    this.#deps = deps;
  }

  async judge(call: VerifiedCall, text: string): Promise<RulesJudgement> {
    const { lists, faults } = await this.#deps.files.read(call.request.projectRoot);
    const broken = faults.map(({ file }) => ruleOfFault(file));
    if (lists.length === 0 && broken.length === 0) return NOTHING;
    const door: string = call.request.principal.door;
    const judged = { text, input: inputOf(call), isSeen: door === SHELL_DOOR };
    const judgement =
      lists.length === 0 ? NO_RULE : ((await this.#deps.thread.judge(judged, lists)) ?? unreadable(lists));
    return asJudged(judgement, broken);
  }

  /** The rules by which calls of a project may be asked about, in the form of those that a person made with `ctxd approve`. */
  async rulesOf(projectRoot: string): Promise<ApprovalRule[]> {
    const { lists, faults } = await this.#deps.files.read(projectRoot);
    const asking = lists.flatMap(({ client, rules }) =>
      rules.filter(({ action }) => action === 'ask').map((rule) => ruleOfFile(client, rule)),
    );
    const unseen = lists.length === 0 ? [] : [ruleOfUnseen(firstRule(lists))];
    const all = [...asking, ...unseen, ...faults.map(({ file }) => ruleOfFault(file))];
    return [...new Map(all.map((rule) => [rule.id, rule])).values()];
  }

  /** The files that were read, and those that could not be. */
  review(projectRoot: string): Promise<ProjectRules> {
    return this.#deps.files.read(projectRoot);
  }
}

/** What a shell in the call's command reads. That of a job may come later, from `safe_jobs`. */
function inputOf({ input: { stdin, background } }: VerifiedCall): Input {
  if (background === true) return { kind: 'unknown' };
  return typeof stdin === 'string' ? { kind: 'text', text: stdin } : { kind: 'nothing' };
}

/** Every rule may cover a command that cannot be read. */
function unreadable(lists: readonly RuleList[]): Judgement {
  const { client, rule, file } = firstRule(lists);
  return { ...NO_RULE, unseen: { client, rule, file, command: '' } };
}

function firstRule(lists: readonly RuleList[]): Pick<RuledCommand, 'client' | 'rule' | 'file'> {
  const isNarrowing = ({ action, pattern }: CommandRule): boolean => action !== 'allow' && !isCatchAll(pattern);
  const all = lists.flatMap(({ client, rules }) => rules.filter(isNarrowing).map((rule) => ({ client, ...rule })));
  const first = all.find(({ action }) => action === 'deny') ?? all[0];
  if (first === undefined) throw new Error('a list without a rule that narrows was kept');
  return first;
}

function asJudged({ denied, asked, unseen }: Judgement, broken: readonly ApprovalRule[]): RulesJudgement {
  const record = (verdict: CommandRuleRecord['verdict'], { rule, file }: RuledCommand): CommandRuleRecord => ({
    verdict,
    rule,
    file,
  });
  if (denied !== null) return { denied, asks: [], records: [record('denied', denied)] };
  return {
    denied: null,
    asks: [
      ...broken,
      ...asked.map((one) => ruleOfFile(one.client, one)),
      ...(unseen === null ? [] : [ruleOfUnseen(unseen)]),
    ],
    records: [...asked.map((one) => record('asked', one)), ...(unseen === null ? [] : [record('unseen', unseen)])],
  };
}

type Written = Pick<CommandRule, 'rule' | 'file'>;

function ruleOfFile(client: RuleClient, { rule, file }: Written): ApprovalRule {
  return asRule(['ask', client, file, rule], rule, `a rule of ${file}`, file);
}

function ruleOfUnseen({ rule, file }: Written): ApprovalRule {
  const reason = `it may be what the rule ${rule} of ${file} is about`;
  return asRule(['unseen'], 'the words of a command do not say what runs', reason, file);
}

function ruleOfFault(file: string): ApprovalRule {
  return asRule(['fault', file], 'rules cannot be read', `${file}: see \`ctxd doctor\``, file);
}

/** The same rule always has the same id, so that an answer to it is found again. */
function asRule(identity: readonly string[], when: string, reason: string, givenBy: string): ApprovalRule {
  const id = createHash('sha256').update(JSON.stringify(identity)).digest('hex').slice(0, 10);
  return { id: `rule_${id}`, scope: '', tool: '*', when, reason, givenMs: 0, givenBy };
}
