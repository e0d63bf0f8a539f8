import type { ApprovalRecord, CommandRuleRecord } from '../call/outcome.ts';
import type { Config } from '../config/schema.ts';
import type { Clock } from '../core/clock.ts';
import { ContextdError } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import type { IsolationReport, Sandbox } from '../sandbox/contract/sandbox.ts';
import type { ApprovalRule } from '../stores/approval-rules.ts';
import { type Consents, grantSubject } from '../stores/consents.ts';
import { type Approvals, checkApproval, notApproved, type WaitEnd } from './approval.ts';
import type { Execution, VerifiedCall } from './call.ts';
import type { CallRates } from './call-rates.ts';
import { checkSecrets, type SecretsDeps } from './check-secrets.ts';
import { type CommandRules, checkCommandRules } from './command-rules.ts';
import { type Allowed, type Denied, denial, type Need, type Question, type Verdict } from './decision.ts';
import { type Slots, slotOwnerOf } from './slots.ts';

export interface AuthorizeDeps extends Pick<SecretsDeps, 'outside' | 'scrubber'> {
  consents: Pick<Consents, 'has'>;
  approvals: Approvals;
  commandRules: CommandRules;
  /** SHA-256 (hex) of everything that a person has decided and that holds for the call. */
  policyHash(call: VerifiedCall): string;
  sandbox: Sandbox;
  config: Pick<Config, 'sandbox' | 'server' | 'secrets' | 'approvals'>;
  slots: Slots;
  rates: Pick<CallRates, 'judge' | 'take'>;
  clock: Pick<Clock, 'monotonic'>;
}

interface Check {
  name: string;
  judge(call: VerifiedCall, deps: AuthorizeDeps, isolation: IsolationReport): Verdict | Promise<Verdict>;
}

/** What `authorize` returns for a call that may run. */
export interface Permit {
  isolation: IsolationReport;
  report: JsonObject;
}

/** What is recorded of the rules that ask a person about a call. */
export interface Asking {
  /** Called before each wait. Throws if the wait cannot be recorded; the call then ends. */
  begin(rule: string): Promise<void>;
  /** Called for each rule that asked, also if an earlier answer allowed the call. */
  note(asked: ApprovalRecord): void;
  /** Called with the hash of the policy each time the call is judged. */
  underPolicy(hash: string): void;
  /** Called with the rules of clients that cover commands of the call, each time it is judged. */
  ruled(rules: readonly CommandRuleRecord[]): void;
}

/**
 * Every check must allow the call; an empty list would allow nothing. Only the first refusal is reported. The checks that ask
 * a person are last: nobody is asked about a call that is refused anyway.
 */
const CHECKS: readonly Check[] = [
  { name: 'grants', judge: checkGrants },
  { name: 'isolation', judge: checkIsolation },
  { name: 'secrets', judge: checkSecrets },
  { name: 'quota', judge: checkQuota },
  { name: 'rate_limit', judge: (call, { rates }) => rates.judge(call) },
  { name: 'command_rules', judge: checkCommandRules },
  { name: 'approval', judge: checkApproval },
];

/**
 * Step 3: default deny. Throws the first refusal; the permit holds the report that a dry run answers with. A call that a
 * rule asks about waits for a person, and every check judges it again afterwards.
 */
export async function authorize(call: VerifiedCall, deps: AuthorizeDeps, asking: Asking): Promise<Permit> {
  const isolation = await deps.sandbox.isolationFor(call.request.projectRoot);
  const untilMs = deps.clock.monotonic() + deps.config.approvals.wait_ms;
  const answered = new Set<string>();
  for (;;) {
    asking.underPolicy(deps.policyHash(call));
    const { lines, open, isOnlyForWatchers } = await judge(call, deps, isolation, answered, asking);
    // Judged again, because other calls may have passed meanwhile.
    const rate = open === null && !call.options.dryRun ? deps.rates.take(call) : null;
    if (rate?.verdict === 'deny') throw denial(rate, { checks: lines });
    if (open === null || call.options.dryRun) return { isolation, report: reportOf(call, isolation, lines, open) };
    await askPerson(call, { rule: open, isOnlyForWatchers, untilMs }, deps, asking);
    answered.add(open.id);
  }
}

/** Judges the call by every check. `open` is a rule that still asks a person, null if all checks allow the call. */
async function judge(
  call: VerifiedCall,
  deps: AuthorizeDeps,
  isolation: IsolationReport,
  answered: ReadonlySet<string>,
  asking: Asking,
): Promise<{ lines: JsonObject[]; open: ApprovalRule | null; isOnlyForWatchers: boolean }> {
  const lines: JsonObject[] = [];
  for (const check of CHECKS) {
    const verdict = await check.judge(call, deps, isolation);
    if (verdict.ruled !== undefined) asking.ruled(verdict.ruled);
    const missing = missingOf(verdict, call, deps, answered);
    const open = openRule(missing);
    const decision = verdict.verdict === 'ask' ? settled(verdict, missing) : verdict;
    const asks = open === null ? {} : { asks: true };
    lines.push({ check: check.name, allowed: decision.verdict === 'allow', reason: decision.reason, ...asks });
    const isOnlyForWatchers = verdict.verdict === 'ask' && verdict.isOnlyForWatchers === true;
    if (open !== null) return { lines, open, isOnlyForWatchers };
    if (decision.verdict === 'deny') throw denial(decision, { checks: lines });
    if (verdict.verdict === 'ask') for (const rule of keptAnswers(verdict, answered)) asking.note(rule);
  }
  if (lines.length === 0) throw new ContextdError('PERMISSION_DENIED', 'no check allowed the call');
  return { lines, open: null, isOnlyForWatchers: false };
}

/** The needs of a question that neither a recorded consent nor an answer to this call covers. */
function missingOf(
  verdict: Verdict,
  call: VerifiedCall,
  { consents }: AuthorizeDeps,
  answered: ReadonlySet<string>,
): readonly Need[] {
  if (verdict.verdict !== 'ask') return [];
  const isMissing = ({ name, subject, hash }: Need): boolean =>
    !answered.has(name) && !consents.has(call.request.projectRoot, subject, hash);
  return verdict.needs.filter(isMissing);
}

/** The first rule to ask a person about; null if nothing is missing, or if something is that no person is asked for. */
function openRule(missing: readonly Need[]): ApprovalRule | null {
  return missing.every(({ rule }) => rule !== undefined) ? (missing[0]?.rule ?? null) : null;
}

function settled({ allowed, refused, remedy }: Question, missing: readonly Need[]): Allowed | Denied {
  if (missing.length === 0) return { verdict: 'allow', reason: allowed };
  return { verdict: 'deny', code: 'PERMISSION_DENIED', reason: refused(missing.map(({ name }) => name)), remedy };
}

/** The rules that an earlier answer allowed. */
function keptAnswers({ needs }: Question, answered: ReadonlySet<string>): ApprovalRecord[] {
  const kept = needs.filter(({ name, rule }) => rule !== undefined && !answered.has(name));
  return kept.map(({ name }) => ({ rule: name, answer: 'kept', waited_ms: 0 }));
}

/** Returns if a person allows the call. Otherwise throws why it cannot run; `never` is judged by the checks. */
async function askPerson(
  call: VerifiedCall,
  { rule, isOnlyForWatchers, untilMs }: { rule: ApprovalRule; isOnlyForWatchers: boolean; untilMs: number },
  { approvals, clock, config }: AuthorizeDeps,
  asking: Asking,
): Promise<void> {
  const startedMs = clock.monotonic();
  const isUnwatched = isOnlyForWatchers && !approvals.isWatched();
  const waits = untilMs > startedMs && !isUnwatched;
  if (waits) await asking.begin(rule.id);
  let end: WaitEnd = { kind: isUnwatched ? 'unwatched' : 'nobody answered' };
  try {
    if (waits) end = await approvals.ask(call, rule, untilMs - startedMs);
  } finally {
    const answer = end.kind === 'answered' ? { answer: end.answer, by: end.by } : { answer: 'none' as const };
    asking.note({ rule: rule.id, ...answer, waited_ms: Math.round(clock.monotonic() - startedMs) });
  }
  if (end.kind !== 'answered') throw notApproved(end.kind, rule, config.approvals.wait_ms);
}

function reportOf(
  call: VerifiedCall,
  { level }: IsolationReport,
  checks: JsonObject[],
  open: ApprovalRule | null,
): JsonObject {
  const allowed = open === null;
  const asks = allowed ? {} : { asks: true };
  const report = { dry_run: true, tool: call.tool.manifest.name, allowed, ...asks, isolation: level, checks };
  return call.execution === undefined ? report : { ...report, ...executionReport(call, call.execution, checks) };
}

/** What the dry run of an execution reports besides (gateway surface §4.5). The arguments were checked before. */
function executionReport(
  { tool: { manifest, program } }: VerifiedCall,
  { toolId }: Execution,
  checks: JsonObject[],
): JsonObject {
  const declared = program.kind === 'upstream' ? program : { upstreamName: manifest.name, annotations: {} };
  return {
    tool_id: toolId,
    upstream_name: declared.upstreamName,
    args_valid: true,
    annotations: { ...declared.annotations, verified: false },
    checks: [
      { name: 'schema_validation', status: 'pass' },
      ...checks.map(({ check = '', allowed, ...more }) => ({
        name: check,
        status: allowed ? 'pass' : 'open',
        ...more,
      })),
    ],
  };
}

function checkGrants({ tool }: VerifiedCall): Verdict {
  const { name, grants } = tool.manifest;
  return {
    verdict: 'ask',
    needs: grants.map((grant) => ({ name: grant, subject: grantSubject(name, grant), hash: tool.sha256 })),
    allowed: `${name} has the grants it asks for: ${grants.join(', ') || 'none'}`,
    refused: (missing) => `${name} asks for ${missing.join(', ')}, which this project has not granted`,
    remedy: `Run \`ctxd ${tool.origin === 'core' ? 'init' : 'tool install'}\` in the project root to accept the tool with its grants.`,
  };
}

function checkIsolation(call: VerifiedCall, deps: AuthorizeDeps, isolation: IsolationReport): Verdict {
  const wanted = deps.config.sandbox.min_isolation === 'full' ? 'full' : call.tool.program.profile.minIsolation;
  if (isolation.level === 'full' || (isolation.level === 'reduced' && wanted === 'reduced')) {
    return { verdict: 'allow', reason: `isolation is ${isolation.level}, and ${wanted} is required` };
  }
  return {
    verdict: 'deny',
    code: 'SANDBOX_UNAVAILABLE',
    reason: `isolation here is ${isolation.level} (missing: ${isolation.missing.join(', ')}), ${call.tool.manifest.name} needs ${wanted}`,
    remedy: isolation.remedy ?? 'Run `ctxd doctor` for what this machine lacks.',
  };
}

function checkQuota(call: VerifiedCall, { slots }: AuthorizeDeps): Verdict {
  return slots.full(slotOwnerOf(call)) ?? { verdict: 'allow', reason: `${slots.waiting()} calls are waiting` };
}
