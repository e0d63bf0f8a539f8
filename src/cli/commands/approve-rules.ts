import { userInfo } from 'node:os';
import type {
  ApprovalRuleInfo__Output as ApprovalRuleInfo,
  KeptApproval__Output as KeptApproval,
} from '../../protocol/generated/management.ts';
import { describeRule } from '../approvals/describe.ts';
import { withClient } from '../client.ts';
import { defineCommand } from '../command.ts';
import { ensureRunning } from '../daemon/launch.ts';
import { projectOption } from '../project-root.ts';
import type { View } from '../render.ts';
import { scopeOf } from './network.ts';

const OF_PROJECT = { syntax: '--project [dir]', help: 'only of a project (default: the current project)' };

const approveList = defineCommand<readonly KeptApproval[]>({
  name: ['approve', 'list'],
  summary: 'List the answers that are kept, by id.',
  options: [OF_PROJECT],
  async run(context, args) {
    const root = await projectOption(context, args);
    return withClient(context.paths, async (client) => (await client.listApprovalAnswers({ root, id: '' })).answers);
  },
  view: (answers) => ({
    kind: 'table',
    columns: ['ID', 'ANSWER', 'RULE', 'PROJECT', 'UNTIL', 'SINCE'],
    rows: answers.map(({ id, verdict, rule, project, expires_ms: until, given_ms: since }) => [
      id,
      verdict,
      describeRule(rule),
      project,
      until === 0 ? '' : new Date(until).toISOString(),
      new Date(since).toISOString(),
    ]),
    empty: 'No answer is kept. What waits: ctxd approve',
  }),
});

const approveRemove = defineCommand<readonly KeptApproval[]>({
  name: ['approve', 'remove'],
  summary: 'Take an answer back: the rule asks again.',
  parameters: [{ syntax: '<id>', help: 'the id from `ctxd approve list`' }],
  async run(context, args) {
    const request = { root: '', id: args.requiredWord(0) };
    return withClient(context.paths, async (client) => (await client.removeApprovalAnswer(request)).answers);
  },
  view: (answers) => ({
    kind: 'lines',
    lines: answers.map(({ rule, project }) => `Taken back. In ${project}, this asks again: ${describeRule(rule)}`),
  }),
});

const approveRuleAdd = defineCommand<readonly ApprovalRuleInfo[]>({
  name: ['approve', 'rule', 'add'],
  summary: 'Let calls of a tool wait for a person. Only a person should run this.',
  parameters: [
    {
      syntax: '<tool>',
      help: "a tool's name, or id as in 'github:create_issue'; * stands for any characters, as in 'memory_*'",
    },
  ],
  options: [
    { syntax: '--when <regex>', help: 'only calls whose input contains this RE2 pattern (default: every call)' },
    { syntax: '--project <dir>', help: 'the project directory (default: the current project)' },
    { syntax: '--machine', help: 'for every project of this machine' },
    { syntax: '--reason <text>', help: 'why; who is asked and the agent read it' },
  ],
  async run(context, args) {
    const request = {
      root: await scopeOf(context, args, null),
      tool: args.requiredWord(0),
      when: args.text('when') ?? '',
      reason: args.text('reason') ?? '',
      by: userInfo().username,
    };
    await ensureRunning(context);
    return withClient(context.paths, async (client) => (await client.addApprovalRule(request)).rules);
  },
  view: (rules) => ({
    kind: 'lines',
    lines: rules.flatMap((rule) => [
      `${describeRule(rule)} in ${scopeName(rule)}.`,
      rule.tools.length === 0 ? 'No tool has this name yet.' : `It covers ${rule.tools.join(', ')}.`,
      `Undo: ctxd approve rule remove ${rule.id}`,
    ]),
  }),
});

const approveRuleList = defineCommand<readonly ApprovalRuleInfo[]>({
  name: ['approve', 'rule', 'list'],
  summary: 'List the rules that ask a person.',
  options: [OF_PROJECT],
  async run(context, args) {
    const root = await projectOption(context, args);
    return withClient(context.paths, async (client) => (await client.listApprovalRules({ root, id: '' })).rules);
  },
  view: viewRules,
});

const approveRuleRemove = defineCommand<readonly ApprovalRuleInfo[]>({
  name: ['approve', 'rule', 'remove'],
  summary: 'Remove a rule with its answers. Calls that wait because of it are refused.',
  parameters: [{ syntax: '<id>', help: 'the id from `ctxd approve rule list`' }],
  async run(context, args) {
    const request = { root: '', id: args.requiredWord(0) };
    return withClient(context.paths, async (client) => (await client.removeApprovalRule(request)).rules);
  },
  view: (rules) => ({ kind: 'lines', lines: rules.map((rule) => `Removed: ${describeRule(rule)}`) }),
});

export const approveRuleCommands = [approveList, approveRemove, approveRuleAdd, approveRuleList, approveRuleRemove];

function viewRules(rules: readonly ApprovalRuleInfo[]): View {
  return {
    kind: 'table',
    columns: ['ID', 'WHERE', 'TOOL', 'WHEN', 'REASON', 'BY', 'SINCE'],
    rows: rules.map((rule) => [
      rule.id,
      scopeName(rule),
      rule.tool,
      rule.when,
      rule.reason,
      rule.by,
      new Date(rule.given_ms).toISOString(),
    ]),
    empty: 'No rule asks: ctxd approve rule add safe_bash',
  };
}

function scopeName({ root }: ApprovalRuleInfo): string {
  return root === '' ? 'every project' : root;
}
