import type { Config } from '../config/schema.ts';
import { ContextdError } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import type { IsolationReport, Sandbox } from '../sandbox/contract/sandbox.ts';
import { type Consents, grantSubject } from '../stores/consents.ts';
import type { VerifiedCall } from './call.ts';
import { checkSecrets, type SecretsDeps } from './check-secrets.ts';
import type { Allowed, Denied, Verdict } from './decision.ts';
import type { Slots } from './slots.ts';

export interface AuthorizeDeps extends Pick<SecretsDeps, 'outside' | 'scrubber'> {
  consents: Pick<Consents, 'has'>;
  sandbox: Sandbox;
  config: Pick<Config, 'sandbox' | 'server' | 'secrets'>;
  slots: Slots;
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

/** Every check must allow the call; an empty list would allow nothing. Only the first refusal is reported. */
const CHECKS: readonly Check[] = [
  { name: 'grants', judge: checkGrants },
  { name: 'isolation', judge: checkIsolation },
  { name: 'secrets', judge: checkSecrets },
  { name: 'quota', judge: checkQuota },
];

/** Step 3: default deny. Throws the first refusal; the permit holds the report that a dry run answers with. */
export async function authorize(call: VerifiedCall, deps: AuthorizeDeps): Promise<Permit> {
  const isolation = await deps.sandbox.isolationFor(call.request.projectRoot);
  const lines: JsonObject[] = [];
  for (const check of CHECKS) {
    const decision = settle(await check.judge(call, deps, isolation), call, deps);
    lines.push({ check: check.name, allowed: decision.verdict === 'allow', reason: decision.reason });
    if (decision.verdict === 'deny') {
      throw new ContextdError(decision.code, decision.reason, {
        remedy: decision.remedy,
        details: { checks: lines, ...(decision.limit === undefined ? {} : { limit: decision.limit }) },
        ...(decision.code === 'RATE_LIMITED' ? { retryAfterMs: 100 } : {}),
      });
    }
  }
  if (lines.length === 0) throw new ContextdError('PERMISSION_DENIED', 'no check allowed the call');
  return {
    isolation,
    report: { dry_run: true, tool: call.tool.manifest.name, allowed: true, isolation: isolation.level, checks: lines },
  };
}

/** Answers a question from recorded consents. Nothing prompts a person while the call waits. */
function settle(verdict: Verdict, call: VerifiedCall, { consents }: AuthorizeDeps): Allowed | Denied {
  if (verdict.verdict !== 'ask') return verdict;
  const missing = verdict.needs.filter(({ subject, hash }) => !consents.has(call.request.projectRoot, subject, hash));
  if (missing.length === 0) return { verdict: 'allow', reason: verdict.allowed };
  const reason = verdict.refused(missing.map(({ name }) => name));
  return { verdict: 'deny', code: 'PERMISSION_DENIED', reason, remedy: verdict.remedy };
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

/** Waiting calls per slot beyond which calls are refused, so that callers retry later. */
const WAITING_PER_SLOT = 16;

function checkQuota(_call: VerifiedCall, deps: AuthorizeDeps): Verdict {
  const limit = deps.config.server.max_concurrent_calls * WAITING_PER_SLOT;
  const waiting = deps.slots.waiting();
  if (waiting < limit) return { verdict: 'allow', reason: `${waiting} of at most ${limit} calls are waiting` };
  return {
    verdict: 'deny',
    code: 'RATE_LIMITED',
    limit,
    reason: `${waiting} calls are waiting already`,
    remedy: 'Call again shortly, or raise server.max_concurrent_calls.',
  };
}
