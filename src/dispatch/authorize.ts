import type { Config } from '../config/schema.ts';
import { ContextdError, type ErrorCode } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import type { IsolationReport, Sandbox } from '../sandbox/sandbox.ts';
import type { ProjectStore } from '../stores/projects.ts';
import type { VerifiedCall } from './call.ts';
import { checkSecrets } from './check-secrets.ts';
import type { Slots } from './slots.ts';

export interface AuthorizeDeps {
  projects: ProjectStore;
  sandbox: Sandbox;
  config: Pick<Config, 'sandbox' | 'server' | 'secrets'>;
  slots: Slots;
}

/** What one check says: allowed, or refused with the code and the way to mend it. */
export type Verdict =
  | { allowed: true; reason: string }
  | { allowed: false; reason: string; code: ErrorCode; remedy: string; limit?: number };

interface Check {
  name: string;
  judge(call: VerifiedCall, deps: AuthorizeDeps, isolation: IsolationReport): Promise<Verdict> | Verdict;
}

/** The permit a call runs under. */
export interface Permit {
  isolation: IsolationReport;
  report: JsonObject;
}

/** Every check must allow; an empty list would allow nothing. The order is from the cheapest to explain to the last resort. */
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
    const verdict = await check.judge(call, deps, isolation);
    lines.push({ check: check.name, allowed: verdict.allowed, reason: verdict.reason });
    if (!verdict.allowed) {
      throw new ContextdError(verdict.code, verdict.reason, {
        remedy: verdict.remedy,
        details: { checks: lines, ...(verdict.limit === undefined ? {} : { limit: verdict.limit }) },
        ...(verdict.code === 'RATE_LIMITED' ? { retryAfterMs: 100 } : {}),
      });
    }
  }
  if (lines.length === 0) throw new ContextdError('PERMISSION_DENIED', 'no check allowed the call');
  return {
    isolation,
    report: { dry_run: true, tool: call.tool.manifest.name, allowed: true, isolation: isolation.level, checks: lines },
  };
}

async function checkGrants(call: VerifiedCall, deps: AuthorizeDeps): Promise<Verdict> {
  const { name, grants } = call.tool.manifest;
  const project = await deps.projects.find(call.request.projectRoot);
  const accepted = project?.tools.find((tool) => tool.name === name)?.grants ?? [];
  const missing = grants.filter((grant) => !accepted.includes(grant));
  if (missing.length === 0)
    return { allowed: true, reason: `${name} has the grants it asks for: ${grants.join(', ') || 'none'}` };
  return {
    allowed: false,
    code: 'PERMISSION_DENIED',
    reason: `${name} asks for ${missing.join(', ')}, which this project has not granted`,
    remedy: 'Run `ctxd init` in the project root to accept the tool with its grants.',
  };
}

function checkIsolation(call: VerifiedCall, deps: AuthorizeDeps, isolation: IsolationReport): Verdict {
  const wanted = deps.config.sandbox.min_isolation === 'full' ? 'full' : call.tool.manifest.profile.minIsolation;
  if (isolation.level === 'full' || (isolation.level === 'reduced' && wanted === 'reduced')) {
    return { allowed: true, reason: `isolation is ${isolation.level}, ${wanted} is asked for` };
  }
  return {
    allowed: false,
    code: 'SANDBOX_UNAVAILABLE',
    reason: `isolation here is ${isolation.level} (missing: ${isolation.missing.join(', ')}), ${call.tool.manifest.name} needs ${wanted}`,
    remedy: isolation.remedy ?? 'Run `ctxd doctor` for what this machine lacks.',
  };
}

/** Waiting calls for each one that runs, past which a further one is refused: its caller had better come later. */
const WAITING_PER_SLOT = 16;

function checkQuota(_call: VerifiedCall, deps: AuthorizeDeps): Verdict {
  const limit = deps.config.server.max_concurrent_calls * WAITING_PER_SLOT;
  const waiting = deps.slots.waiting();
  if (waiting < limit) return { allowed: true, reason: `${waiting} of at most ${limit} calls are waiting` };
  return {
    allowed: false,
    code: 'RATE_LIMITED',
    limit,
    reason: `${waiting} calls are waiting already`,
    remedy: 'Call again shortly, or raise server.max_concurrent_calls.',
  };
}
