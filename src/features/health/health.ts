import { randomInt } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AuditLog } from '../../audit/log.ts';
import type { HealthCheck } from '../../call/management.ts';
import type { Catalog } from '../../catalog/catalog.ts';
import type { Config } from '../../config/schema.ts';
import type { Clock } from '../../core/clock.ts';
import { ContextdError } from '../../core/errors.ts';
import { baseView } from '../../sandbox/contract/policy.ts';
import type { IsolationLayer, IsolationReport, LoopbackReport, Sandbox } from '../../sandbox/contract/sandbox.ts';
import { type Identity, identityFor } from '../../sandbox/machine/identity.ts';
import type { AuditorState } from '../../scrub/gitleaks/auditor.ts';
import { howToInstall } from '../../scrub/gitleaks/pinned.ts';
import type { Scrubber } from '../../scrub/scrubber.ts';
import type { Seeds } from '../../scrub/vault/seeds.ts';
import type { WorkspaceRulesReader } from '../../scrub/workspace-rules.ts';
import type { ProjectStore } from '../../stores/projects.ts';
import type { Database } from '../../stores/sqlite.ts';
import type { TokenCounter } from '../../tokens/counter.ts';
import type { Dense } from '../memory/dense/dense.ts';
import { checkEmbedding } from '../memory/embedding.ts';
import type { Sharing } from '../memory/sharing.ts';
import type { MemoryStore } from '../memory/store.ts';
import { policyFor } from '../outside/policy.ts';
import type { ClientRules } from '../rules/client-rules.ts';
import { isCatchAll } from '../rules/rule.ts';
import type { StandingAuditor, StandingAuditorState } from '../secrets/standing-auditor.ts';
import { checkCaches } from '../storage/management.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { checkBranchFiles } from './branch-health.ts';
import { checkNetwork } from './network-health.ts';
import { checkInstalled, checkTools } from './tool-health.ts';

export interface HealthDeps {
  catalog: Catalog;
  config: Config;
  sandbox: Sandbox;
  scrubber: Scrubber;
  counter: TokenCounter;
  database: Pick<Database, 'check'>;
  memoryDatabase: Pick<Database, 'check'>;
  sessionDatabase: Pick<Database, 'check'>;
  memoryStore: Pick<MemoryStore, 'count'>;
  auditLog: AuditLog;
  auditor: Pick<StandingAuditor, 'state'>;
  /** Null: scrub.seeds is off. */
  seeds: Pick<Seeds, 'skipped'> | null;
  sharing: Pick<Sharing, 'check'>;
  /** Null: no collector is configured. */
  telemetry: Pick<Telemetry, 'check'> | null;
  /** Null: no embedding model is configured. */
  dense: Dense | null;
  clock: Pick<Clock, 'monotonic'>;
  projects: Pick<ProjectStore, 'list'>;
  workspaceRules: Pick<WorkspaceRulesReader, 'review'>;
  clientRules: Pick<ClientRules, 'review'>;
  /** Where contextd is installed. Remedies name it. */
  installRoot: string;
}

type Finding = Omit<HealthCheck, 'name'>;

type NamedCheck = [string, (deps: HealthDeps) => Promise<Finding>];

/**
 * Runs the checks of `ctxd doctor` inside the daemon, each on the live part. Reports the isolation of `projectRoot`; for
 * "" the isolation that the machine can give.
 */
export async function checkHealth(projectRoot: string, deps: HealthDeps): Promise<HealthCheck[]> {
  const checks: NamedCheck[] = [
    ['sandbox runs a command', checkCommand],
    ['network', checkNetwork],
    ['files of branches', (all) => checkBranchFiles(projectRoot, all)],
    ['scrubber masks a canary', checkCanary],
    ['token counter', checkCounter],
    ['databases', checkDatabases],
    ['memories', checkMemories],
    ['audit log', checkAudit],
    ['core tools', (all) => checkTools(projectRoot, all)],
    ['installed tools', (all) => checkInstalled(projectRoot, all)],
    ['known secrets', checkSeeds],
    ['rules of projects', checkWorkspaceRules],
    ['rules of clients', checkClientRules],
    ['caches', checkCaches],
    ...(deps.dense === null ? [] : [['embedding', embeddingCheck(deps.dense)] satisfies NamedCheck]),
    ...(deps.config.memory.qdrant.url === null ? [] : [['qdrant', checkSharing] satisfies NamedCheck]),
    ...(deps.telemetry === null ? [] : [['telemetry', telemetryCheck(deps.telemetry)] satisfies NamedCheck]),
    ['gitleaks', async ({ auditor, installRoot }) => checkAuditor(auditor.state(), installRoot)],
  ];
  const results: HealthCheck[] = [...(await checkIsolation(projectRoot, deps))];
  for (const [name, check] of checks) results.push({ name, ...(await attempt(check, deps)) });
  return results;
}

function embeddingCheck(dense: Dense): NamedCheck[1] {
  return ({ clock }) => checkEmbedding(dense, clock);
}

function telemetryCheck(telemetry: Pick<Telemetry, 'check'>): NamedCheck[1] {
  return async () => telemetry.check();
}

async function checkSharing({ sharing }: HealthDeps): Promise<Finding> {
  return sharing.check();
}

async function attempt(check: (deps: HealthDeps) => Promise<Finding>, deps: HealthDeps): Promise<Finding> {
  try {
    return await check(deps);
  } catch (thrown) {
    return failureOf(thrown);
  }
}

function failureOf(thrown: unknown): Finding {
  const error = ContextdError.from(thrown);
  return { status: 'fail', detail: error.message, remedy: error.remedy ?? 'See `ctxd server logs`.' };
}

/**
 * One line for the isolation as a whole and one for each layer, so that a person sees what is enforced and how to get the
 * rest. The isolation of a project depends on who owns it.
 */
export async function checkIsolation(
  projectRoot: string,
  { sandbox, config }: Pick<HealthDeps, 'sandbox' | 'config'>,
): Promise<HealthCheck[]> {
  try {
    const report = projectRoot === '' ? await sandbox.probe() : await sandbox.isolationFor(projectRoot);
    const of = projectRoot === '' ? 'on this machine' : `in ${projectRoot}, ${whoRuns(projectRoot)}`;
    return [
      summarizeIsolation(report, of, config.sandbox.min_isolation),
      ...report.layers.map(layerCheck),
      ...loopbackCheck(report.loopback),
    ];
  } catch (thrown) {
    return [{ name: 'isolation', ...failureOf(thrown) }];
  }
}

const WHO: Readonly<Record<Identity['kind'], string>> = {
  self: 'where commands run as this user',
  owner: 'where commands run as its owner',
  root: 'where commands run as root without capabilities (`id -u` inside prints 1000), because root owns it',
};

function whoRuns(projectRoot: string): string {
  const identity = identityFor(projectRoot, process.getuid?.() ?? 0);
  return identity.kind === 'owner' ? `${WHO.owner} (uid ${identity.uid})` : WHO[identity.kind];
}

function summarizeIsolation(report: IsolationReport, of: string, minIsolation: 'full' | 'reduced'): HealthCheck {
  const name = 'isolation';
  const what = `${report.backend} ${report.version ?? ''}`.trimEnd();
  if (report.level === 'full') return { name, status: 'ok', detail: `${what}: full ${of}`, remedy: '' };
  const detail = `${what}: ${report.level} ${of}; missing: ${report.missing.join(', ')}`;
  if (report.level === 'unavailable')
    return { name, status: 'fail', detail: `${detail}; every call is refused`, remedy: report.remedy ?? '' };
  if (minIsolation === 'reduced') return { name, status: 'warn', detail, remedy: 'See the layers below.' };
  return {
    name,
    status: 'fail',
    detail: `${detail}; sandbox.min_isolation is full, so every call is refused`,
    remedy: 'See the layers below, or: ctxd config set sandbox.min_isolation reduced.',
  };
}

function layerCheck({ name, enforced, by, remedy }: IsolationLayer): HealthCheck {
  if (enforced) return { name: `isolation: ${name}`, status: 'ok', detail: by, remedy: '' };
  return { name: `isolation: ${name}`, status: 'warn', detail: `missing; instead: ${by}`, remedy: remedy ?? '' };
}

/** Nothing if no command runs here. */
function loopbackCheck({ isShared, why, remedy }: LoopbackReport): HealthCheck[] {
  const name = 'loopback';
  if (isShared) return [{ name, status: 'ok', detail: 'the commands of a project share one', remedy: '' }];
  if (why === null) return [];
  const detail = `a server of one call is not reachable from another call: ${why}`;
  return [{ name, status: 'warn', detail, remedy: remedy ?? '' }];
}

async function checkCommand({ sandbox, config }: HealthDeps): Promise<Finding> {
  const workspace = await mkdtemp(join(tmpdir(), 'contextd-health-'));
  try {
    const word = `alive-${randomInt(1e9)}`;
    const result = await sandbox.run(policyFor(baseView(workspace), config.sandbox), {
      argv: ['/bin/sh', '-c', `echo ${word}; cat /proc/net/dev | wc -l`],
      cwd: workspace,
      env: {},
      stdin: null,
      timeoutMs: 10_000,
      outputMaxBytes: 65_536,
      outputKillBytes: 1_048_576,
      signal: new AbortController().signal,
    });
    const [first, interfaces] = result.stdout.head.toString().split('\n');
    if (first !== word)
      return {
        status: 'fail',
        detail: `the command exited with ${result.exitCode} and did not answer`,
        remedy: 'See `ctxd server logs`.',
      };
    // Two header lines and the loopback. Any further line is a network.
    if (interfaces?.trim() !== '3')
      return { status: 'fail', detail: 'the sandbox sees a network', remedy: 'Report this as a security fault.' };
    return { status: 'ok', detail: `answered in ${Math.round(result.durationMs)} ms, sees no network`, remedy: '' };
  } finally {
    await rm(workspace, { recursive: true, force: true });
  }
}

async function checkCanary({ scrubber }: HealthDeps): Promise<Finding> {
  const canary = `AKIA${Array.from({ length: 16 }, () => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.charAt(randomInt(32))).join('')}`;
  const session = { project: 'health', session: String(randomInt(1e12)), branch: null };
  try {
    const { value } = await scrubber.scrub(session, { text: `aws_access_key_id = ${canary}` });
    if (!value.text.includes(canary)) return { status: 'ok', detail: 'a generated access key was masked', remedy: '' };
    return {
      status: 'fail',
      detail: 'a generated access key was not masked',
      remedy: 'Reinstall contextd: its rules are damaged.',
    };
  } finally {
    scrubber.forget(session);
  }
}

async function checkCounter({ counter }: HealthDeps): Promise<Finding> {
  // The count of js-tiktoken for cl100k_base.
  const counted = counter.count('hello world <|endoftext|>');
  if (counted === 8) return { status: 'ok', detail: 'cl100k_base', remedy: '' };
  return { status: 'fail', detail: `counted ${counted} tokens instead of 8`, remedy: 'Run ./install.sh again.' };
}

async function checkDatabases({ database, memoryDatabase, sessionDatabase }: HealthDeps): Promise<Finding> {
  for (const one of [database, memoryDatabase, sessionDatabase]) await one.check();
  return { status: 'ok', detail: 'every page can be read', remedy: '' };
}

async function checkMemories({ memoryStore }: HealthDeps): Promise<Finding> {
  const count = await memoryStore.count();
  return { status: 'ok', detail: `${count} in all projects`, remedy: '' };
}

async function checkAudit({ auditLog }: HealthDeps): Promise<Finding> {
  const records = await auditLog.tail(1);
  return {
    status: 'ok',
    detail: records.length === 0 ? 'no record yet' : `last record ${records[0]?.time}`,
    remedy: '',
  };
}

/** Names the credential files whose values cannot be masked from the start. */
export async function checkSeeds({ seeds }: Pick<HealthDeps, 'seeds'>): Promise<Finding> {
  if (seeds === null) return { status: 'ok', detail: 'off (scrub.seeds)', remedy: '' };
  const skipped = seeds.skipped();
  if (skipped.length === 0) return { status: 'ok', detail: 'credential files are masked from the start', remedy: '' };
  return {
    status: 'warn',
    detail: `not read: ${skipped.map(({ file, why }) => `${file} (${why})`).join(', ')}`,
    remedy: 'Their secrets are masked only if a rule finds them. Let the daemon read these files, or remove them.',
  };
}

/** Names every `.gitleaks.toml` that cannot be used. The other rules still apply. */
export async function checkWorkspaceRules({
  projects,
  workspaceRules,
}: Pick<HealthDeps, 'projects' | 'workspaceRules'>): Promise<Finding> {
  const faults: string[] = [];
  for (const { root } of await projects.list()) {
    const { path, fault } = await workspaceRules.review(root);
    if (fault !== null) faults.push(`${path}: ${fault}`);
  }
  if (faults.length === 0) return { status: 'ok', detail: 'every .gitleaks.toml can be used', remedy: '' };
  return { status: 'warn', detail: faults.join('; '), remedy: 'Fix the file. Until then its rules are not used.' };
}

/** Files of clients whose rules for commands cannot be read: every command of the project asks a person meanwhile. */
export async function checkClientRules({
  projects,
  clientRules,
  config,
}: Pick<HealthDeps, 'projects' | 'clientRules' | 'config'>): Promise<Finding> {
  if (!config.approvals.client_rules) return ok('off (approvals.client_rules)');
  const faults = new Set<string>();
  const rules = new Set<string>();
  for (const { root } of await projects.list()) {
    const read = await clientRules.review(root);
    for (const { file, why } of read.faults) faults.add(`${file}: ${why}`);
    for (const { rule, file, action, pattern } of read.lists.flatMap((list) => list.rules))
      if (action !== 'allow' && !isCatchAll(pattern)) rules.add(JSON.stringify([file, rule]));
  }
  if (faults.size === 0) return ok(`${rules.size} rules deny or ask about commands inside commands`);
  return {
    status: 'warn',
    detail: [...faults].join('; '),
    remedy: 'Fix the file. Until then a person is asked about every command.',
  };
}

/** Reports the state of gitleaks. A secret that only gitleaks found is a warning. */
function checkAuditor({ use, program, background, failedBefore }: StandingAuditorState, installRoot: string): Finding {
  if (use === 'off') return ok('off (scrub.gitleaks)');
  if (program === null) return withoutProgram(use, installRoot);
  const what = `gitleaks ${program.version ?? 'of unknown version'}`;
  if (background === null) return ok(`${what} searches every answer before it leaves`);
  if (background.missed > 0) return missed(background);
  const when =
    use === 'small' ? 'searches answers of up to 64 KiB before they leave, longer ones after' : 'searches afterwards';
  const counts = `${background.searched} outputs searched afterwards, ${background.waiting} waiting`;
  const failures = background.failures + failedBefore;
  if (failures + background.skipped === 0) return ok(`${what} ${when}: ${counts}`);
  return {
    status: 'warn',
    detail: `${what} ${when}: ${counts}, ${background.skipped} left out, ${failures} runs failed`,
    remedy: 'See `ctxd server logs` for why it failed.',
  };
}

function missed({ missed: count, missedRules }: AuditorState): Finding {
  return {
    status: 'warn',
    detail: `gitleaks found ${count} secrets that contextd had missed (${missedRules.join(', ')}); they are masked now`,
    remedy: 'See `ctxd stats`. The agent may have seen these secrets, so change them.',
  };
}

function withoutProgram(use: StandingAuditorState['use'], installRoot: string): Finding {
  const remedy = `${howToInstall(installRoot)} Then run \`ctxd server restart\`.`;
  if (use !== 'always') {
    return { status: 'warn', detail: 'not installed: outputs are not searched a second time', remedy };
  }
  const detail = 'scrub.gitleaks is "always" and gitleaks is not installed, so every answer is withheld';
  return { status: 'fail', detail, remedy };
}

function ok(detail: string): Finding {
  return { status: 'ok', detail, remedy: '' };
}
