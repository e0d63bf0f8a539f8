import type { CommandRuleRecord } from '../call/outcome.ts';
import type { Config } from '../config/schema.ts';
import type { ApprovalRule } from '../stores/approval-rules.ts';
import type { Consents } from '../stores/consents.ts';
import { askFor } from './approval.ts';
import type { VerifiedCall } from './call.ts';
import type { Allowed, Verdict } from './decision.ts';

/** The rules for commands that a person wrote for a client, applied to the commands inside a call's command. */
export interface CommandRules {
  /** `text` is what the call gives to a shell. */
  judge(call: VerifiedCall, text: string): Promise<RulesJudgement>;
}

export interface RulesJudgement {
  /** A rule that denies a command inside. */
  readonly denied: { readonly rule: string; readonly file: string; readonly command: string } | null;
  /** What a person is asked, at most once for each rule. */
  readonly asks: readonly ApprovalRule[];
  /** For the audit log. */
  readonly records: readonly CommandRuleRecord[];
}

const NO_COMMAND: Allowed = { verdict: 'allow', reason: 'no rule of a client is about this call' };

/** Denies what a rule of a client denies, and asks a person about what one asks about. */
export async function checkCommandRules(
  call: VerifiedCall,
  deps: {
    commandRules: CommandRules;
    consents: Pick<Consents, 'has'>;
    config: Pick<Config, 'approvals'>;
  },
): Promise<Verdict> {
  const { command } = call.input;
  const isCommand = call.tool.manifest.effects.session === 'command' && typeof command === 'string';
  if (!isCommand || !deps.config.approvals.client_rules) return NO_COMMAND;
  const { denied, asks, records } = await judgeAll(call, command, deps.commandRules);
  // A client shows nothing of a question in its shell, and may give up before an answer comes.
  const isOnlyForWatchers = call.request.principal.door === 'shell';
  if (denied === null) {
    const verdict = askFor(asks, call, deps);
    return { ...verdict, ruled: records, ...(verdict.verdict === 'ask' ? { isOnlyForWatchers } : {}) };
  }
  const { rule, file } = denied;
  return {
    verdict: 'deny',
    code: 'PERMISSION_DENIED',
    reason: `the command runs \`${denied.command}\`, which the rule ${rule} of ${file} denies`,
    remedy: 'Do not run it in other words. A person can change the rule in that file.',
    details: { rule, file, command: denied.command },
    ruled: records,
  };
}

/**
 * Judges the command, and the text of a client's shell of which it is the first part: nothing of a text runs before a rule has denied or
 * asked about a later part.
 */
async function judgeAll(call: VerifiedCall, command: string, rules: CommandRules): Promise<RulesJudgement> {
  const judged = await rules.judge(call, command);
  const { wholeText } = call.request;
  if (wholeText === undefined || judged.denied !== null) return judged;
  const { denied, asks, records } = await rules.judge(call, wholeText);
  if (denied !== null) return { denied, asks: [], records };
  return {
    denied: null,
    asks: [...new Map([...judged.asks, ...asks].map((rule) => [rule.id, rule])).values()],
    records: [...new Map([...judged.records, ...records].map((one) => [JSON.stringify(one), one])).values()],
  };
}
