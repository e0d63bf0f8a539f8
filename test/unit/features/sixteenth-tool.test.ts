import { describe, expect, it } from 'vitest';
import type { AuditRecord } from '#src/audit/record.js';
import { SESSION_EFFECT_NAMES, type SessionEffect, type ToolEffects } from '#src/call/effects.js';
import type { FileChanges } from '#src/call/outcome.js';
import type { UpstreamProgram } from '#src/call/tool-program.js';
import { systemClock } from '#src/core/clock.js';
import { ContextdError } from '#src/core/errors.js';
import { silentLogger } from '#src/core/log.js';
import { holdFiles } from '#src/features/branches/branch-runner.js';
import { blockersIn } from '#src/features/events/blockers.js';
import { callEvent } from '#src/features/events/call-event.js';
import { readRecordedCalls } from '#src/features/memory/recorded-calls.js';
import type { CallId } from '#src/features/undo/call-changes.js';
import type { Undo } from '#src/features/undo/undo.js';
import { watchFiles } from '#src/features/undo/watched-runner.js';
import { runByKind } from '#src/runner/backends.js';
import { createRunner } from '#src/runner/create-runner.js';
import { createHostBackend } from '#src/runner/host-backend.js';
import type { ToolBackend, ToolCall } from '#src/runner/runner.js';
import type { SandboxPolicy } from '#src/sandbox/contract/policy.js';
import type { RecordedCall } from '#src/stores/recorded-call.js';

/** A tool that no code and no list names. */
const NAME = 'sixteenth';
const SESSION = { project: '/p', session: 's', branch: 'br_1' };
const POLICY: SandboxPolicy = {
  workspace: { path: '/p', layer: null },
  network: 'none',
  roPaths: [],
  deny: [],
  storage: null,
  minIsolation: 'reduced',
  seccomp: { inet: true, unix: true, debugger: false },
  limits: { memoryBytes: 1, pids: 1, fileBytes: 1, openFiles: 1, cpus: 0 },
};
const CHANGES: FileChanges = { ref: 'undo_1', files: ['M a'], more: 0, notCovered: [] };

/** What was asked of the sandbox, of undo and of branches during one call, in its order. */
async function askedBy(effects: ToolEffects, origin: ToolCall['origin'] = 'core'): Promise<string[]> {
  const asked: string[] = [];
  const sandbox = {
    run: () => Promise.reject(new ContextdError('SANDBOX_UNAVAILABLE', 'no sandbox')),
    open: (policy: SandboxPolicy) => {
      asked.push(policy.isWorkspaceReadOnly === true ? 'open read-only' : 'open');
      return Promise.reject(new ContextdError('SANDBOX_UNAVAILABLE', 'no sandbox'));
    },
    watch: async () => {
      asked.push('watch');
      return { finish: async () => ({ quarantined: [], complete: true }) };
    },
  };
  const policyFor = ({ branch }: { branch: string | null }): SandboxPolicy => {
    asked.push(branch === null ? 'on the base' : 'on the branch');
    return POLICY;
  };
  const plugin = createRunner({
    sandbox,
    policyFor,
    commandPolicyFor: () => POLICY,
    sdkDir: '/',
    privateSocketsDir: '/',
    scrub: async (_session, texts) => texts,
    services: {},
    logger: silentLogger,
    clock: systemClock,
  });
  const undo = {
    before: async (_project: string, call: CallId) => {
      asked.push('snapshot');
      return { isShared: false, call, input: '', named: [], changed: [] };
    },
    after: async () => {
      asked.push('snapshot');
      return CHANGES;
    },
    changesOf: async () => {
      asked.push('recorded changes');
      return CHANGES;
    },
  } satisfies Pick<Undo, 'before' | 'after' | 'changesOf'>;
  const branches = {
    hold: () => {
      asked.push('hold');
      return () => {};
    },
    takeChanges: () => {
      asked.push('merged changes');
      return CHANGES;
    },
  };
  const noBackend: ToolBackend<UpstreamProgram> = {
    async start() {},
    async stop() {},
    run: () => Promise.reject(new Error('no tool of a server is called')),
  };
  const watched = watchFiles(
    runByKind({ plugin, host: createHostBackend({}, systemClock), upstream: noBackend }),
    undo,
    () => ({ layer: null }),
    1024 ** 3,
  );
  const backend: ToolBackend = holdFiles(watched, branches);
  await backend.run({
    requestId: 'req_1',
    session: SESSION,
    cwd: '/p',
    tool: NAME,
    origin,
    program: {
      kind: 'plugin',
      bundleDir: '/',
      profile: { runtime: 'node', entry: 'main.js', minIsolation: 'reduced', seccomp: [], limits: {} },
    },
    effects,
    grants: [],
    input: {},
    view: null,
    etagKey: '',
    timeoutMs: 1_000,
    outputMaxBytes: 1,
    outputKillBytes: 0,
    signal: new AbortController().signal,
  });
  return [...new Set(asked)].filter((one) => one !== 'on the branch');
}

function recordOf(effect: SessionEffect, input: AuditRecord['input']): AuditRecord {
  return {
    time: new Date(0).toISOString(),
    request_id: `req_${effect}`,
    session: 's',
    project: '/p',
    door: 'grpc',
    tool: NAME,
    effect,
    input,
    output_sha256: '',
    output_bytes: 0,
    duration_ms: 1,
    secrets_found: 0,
    secret_rules: [],
    exit_code: 1,
    error_code: null,
  };
}

function eventOf(effect: SessionEffect, errorCode: string | null = null) {
  const record = { ...recordOf(effect, { path: 'a.txt' }), error_code: errorCode };
  const call: RecordedCall = {
    session: SESSION,
    record,
    hasRun: true,
    data: { path: 'b.txt' },
    texts: [],
    wasEnded: false,
    artifact: null,
    shows: null,
  };
  return callEvent(call);
}

describe('a 16th tool behaves by the effects that it states', () => {
  it('is watched, kept for undo and held as its effects on files demand', async () => {
    expect(await askedBy({ files: 'write', session: 'work' })).toEqual(['hold', 'snapshot', 'watch', 'open']);
    for (const files of ['none', 'read'] as const) {
      expect(await askedBy({ files, session: 'work' })).toEqual(['hold', 'open']);
      expect(await askedBy({ files, session: 'work' }, 'installed')).toEqual(['hold', 'open read-only']);
    }
    expect(await askedBy({ files: 'write', session: 'work' }, 'installed')).toEqual([
      'hold',
      'snapshot',
      'watch',
      'open',
    ]);
  });

  it('reports what the host changed for it, if that ends a branch or puts files back', async () => {
    const returning = await askedBy({ files: 'write', session: 'return' });
    expect(returning).toEqual(['on the base', 'watch', 'open', 'merged changes']);
    const restoring = await askedBy({ files: 'write', session: 'restore' });
    expect(restoring).toEqual(['hold', 'watch', 'open', 'recorded changes']);
  });

  it('is recorded as what its calls are in the session', () => {
    const kinds = SESSION_EFFECT_NAMES.map((effect) => [effect, eventOf(effect).kind]);
    expect(kinds.filter(([, kind]) => kind !== 'call')).toEqual([['memory', 'memory']]);
    const written = SESSION_EFFECT_NAMES.filter((effect) => {
      const { facts } = eventOf(effect);
      return 'filesWritten' in facts && facts.filesWritten.includes('b.txt');
    });
    expect(written).toEqual(['edit']);
  });

  it('stands in the way of a session that starts only if it did work', () => {
    const failing = SESSION_EFFECT_NAMES.filter((effect) => {
      const event = { ...eventOf(effect, 'TOOL_CRASHED'), seq: 1, parent: null, tokens: 1 };
      return blockersIn([event as Parameters<typeof blockersIn>[0][number]]).length > 0;
    });
    expect(failing).toEqual(['work', 'command', 'edit', 'look']);
  });

  it('teaches lessons only by work, and says by its effect what it did', async () => {
    const records = SESSION_EFFECT_NAMES.map((effect) => recordOf(effect, { command: 'make', path: 'a.txt' }));
    const { effect: _, ...ofEarlierVersion } = recordOf('work', {});
    const calls = await readRecordedCalls('/p', [], {
      auditLog: { find: async () => [...records, { ...ofEarlierVersion, request_id: 'req_old' }] },
      artifacts: { ofCall: async () => null } as never,
      scrubber: {
        scrub: async (_session: unknown, value: unknown) => ({ value, secrets: [], spans: [] }),
        secrets: () => [],
        forget: () => {},
      } as never,
      clock: systemClock,
    });
    expect(calls.map(({ requestId, kind, subject }) => [requestId, kind, subject])).toEqual([
      ['req_work', 'other', NAME],
      ['req_command', 'command', 'make'],
      ['req_edit', 'edit', 'a.txt'],
    ]);
  });
});
