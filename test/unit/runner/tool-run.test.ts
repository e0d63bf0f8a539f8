import { describe, expect, it } from 'vitest';
import type { FileChanges } from '#src/call/outcome.js';
import { systemClock } from '#src/core/clock.js';
import { ContextdError } from '#src/core/errors.js';
import { silentLogger } from '#src/core/log.js';
import { holdFiles } from '#src/features/branches/branch-runner.js';
import type { QuarantineReport } from '#src/guard/contract/quarantine.js';
import { NO_RUN_FACTS } from '#src/runner/call-facts.js';
import { createRunner } from '#src/runner/create-runner.js';
import type { ToolBackend, ToolCall, ToolRun } from '#src/runner/runner.js';
import { withLaterFacts } from '#src/runner/tool-run.js';
import type { SandboxPolicy } from '#src/sandbox/contract/policy.js';

const REFUSED = new ContextdError('SANDBOX_UNAVAILABLE', 'no sandbox');
const UNFINISHED = new ContextdError('INTERRUPTED', 'the search was interrupted');
const SET_ASIDE = { path: '.envrc', id: '0badcafe', reason: 'a shell would run it' };
const MERGED: FileChanges = { ref: 'undo_1', files: ['M a'], more: 0, notCovered: [] };

const CALL: ToolCall = {
  requestId: 'req_1',
  session: { project: '/', session: 's', branch: null },
  cwd: '/',
  tool: 'return',
  origin: 'core',
  program: {
    kind: 'plugin',
    bundleDir: '/',
    profile: { runtime: 'node', entry: 'main.js', minIsolation: 'reduced', seccomp: [], limits: {} },
  },
  effects: { files: 'write', session: 'return' },
  grants: [],
  input: {},
  view: null,
  etagKey: '',
  timeoutMs: 1,
  outputMaxBytes: 1,
  outputKillBytes: 0,
  signal: new AbortController().signal,
};

const POLICY: SandboxPolicy = {
  workspace: { path: '/', layer: null },
  network: 'none',
  roPaths: [],
  deny: [],
  storage: null,
  minIsolation: 'reduced',
  seccomp: { inet: true, unix: true, debugger: false },
  limits: { memoryBytes: 1, pids: 1, fileBytes: 1, openFiles: 1, cpus: 0 },
};

/** A runner whose sandbox opens no process. */
function refusing(finish: () => Promise<QuarantineReport>): ToolBackend {
  const refuse = () => Promise.reject(REFUSED);
  return createRunner({
    sandbox: { run: refuse, open: refuse, watch: async () => ({ finish }) },
    policyFor: () => POLICY,
    commandPolicyFor: () => POLICY,
    sdkDir: '/',
    privateSocketsDir: '/',
    scrub: async (_session, texts) => texts,
    services: {},
    logger: silentLogger,
    clock: systemClock,
  });
}

function ending(ran: ToolRun): ToolBackend {
  return { start: async () => {}, stop: async () => {}, run: async () => ran };
}

describe('a call that fails', () => {
  it('keeps what was set aside meanwhile, even if no process took it', async () => {
    const runner = refusing(async () => ({ quarantined: [SET_ASIDE], complete: false }));
    expect(await runner.run(CALL)).toEqual({
      outcome: REFUSED,
      facts: { ...NO_RUN_FACTS, quarantined: [SET_ASIDE], searchComplete: false },
    });
  });

  it('has no facts if it never began', async () => {
    const runner = refusing(() => Promise.reject(new Error('not asked')));
    await runner.stop();
    const { outcome, facts } = await runner.run(CALL);
    expect(outcome).toMatchObject({ code: 'INTERRUPTED', message: 'contextd stopped before return began' });
    expect(facts).toBe(NO_RUN_FACTS);
  });

  it('fails with the reason why the search for what it left behind failed', async () => {
    const runner = refusing(() => Promise.reject(UNFINISHED));
    expect(await runner.run(CALL)).toEqual({ outcome: UNFINISHED, facts: NO_RUN_FACTS });
  });

  it('still reports the files that it merged, with its other facts', async () => {
    const facts = { ...NO_RUN_FACTS, quarantined: [SET_ASIDE] };
    const runner = holdFiles(ending({ outcome: REFUSED, facts }), { hold: () => () => {}, takeChanges: () => MERGED });
    expect(await runner.run(CALL)).toEqual({ outcome: REFUSED, facts: { ...facts, fileChanges: MERGED } });
  });
});

describe('withLaterFacts', () => {
  const ran: ToolRun = { outcome: REFUSED, facts: { ...NO_RUN_FACTS, warnings: ['w'] } };

  it('keeps the facts that are known if the later ones cannot be found', async () => {
    const failing = await withLaterFacts(ran, () => Promise.reject(UNFINISHED));
    expect(failing).toEqual({ outcome: UNFINISHED, facts: ran.facts });
  });
});
