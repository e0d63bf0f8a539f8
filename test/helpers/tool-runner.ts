import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_EFFECTS } from '#src/call/effects.js';
import type { RunFacts } from '#src/call/outcome.js';
import type { SessionRef } from '#src/call/session.js';
import type { PluginProgram } from '#src/call/tool-program.js';
import { systemClock } from '#src/core/clock.js';
import { ContextdError } from '#src/core/errors.js';
import type { JsonObject } from '#src/core/json.js';
import { type Logger, silentLogger } from '#src/core/log.js';
import type { ToolProfile } from '#src/core/profile.js';
import { createRunner } from '#src/runner/create-runner.js';
import type { RunnerDeps, RunOutput, ToolBackend, ToolCall, ToolRun } from '#src/runner/runner.js';
import type { SandboxPolicy } from '#src/sandbox/contract/policy.js';
import type { Sandbox, SandboxProcess } from '#src/sandbox/contract/sandbox.js';
import type { Bench } from '../fixtures/sandbox-harness.ts';
import { effectsOf } from './core-effects.ts';
import { ToolBundles } from './tool-bundle.ts';

const CORE_BUNDLE = join(import.meta.dirname, '..', '..', 'dist', 'core-bundle');
const SDK = join(import.meta.dirname, '..', '..', 'dist', 'sdk');

export const PROFILE: ToolProfile = {
  runtime: 'node',
  entry: 'main.js',
  minIsolation: 'reduced',
  seccomp: [],
  limits: {},
};

/** The output of a call that did not fail, with its facts. */
export type RunResult = RunOutput & RunFacts;

/** What a call has instead of the usual. */
export type CallChange = Partial<ToolCall<PluginProgram> & Omit<PluginProgram, 'kind'>>;

/** Calls tools. `core`, `program` and `fixture` reject with the failure of the call. */
export interface ToolRunner {
  readonly runner: ToolBackend;
  /** Every started process, in order. */
  readonly processes: readonly SandboxProcess[];
  /** The policies of the started processes, in order. */
  readonly policies: readonly SandboxPolicy[];
  /** Calls a core tool. */
  core(tool: string, input: JsonObject, change?: CallChange): Promise<RunResult>;
  /** Calls a tool of any bundle, as a third party's tool. */
  program(tool: string, change: CallChange & Pick<PluginProgram, 'bundleDir'>): Promise<RunResult>;
  /** Calls a tool of a fixture. */
  fixture(name: string, tool: string, change?: CallChange): Promise<RunResult>;
  /** Calls a tool of a fixture, and also returns the facts of a call that failed. */
  ended(name: string, tool: string, change?: CallChange): Promise<ToolRun>;
  close(): Promise<void>;
}

/** A session of a project, on its base. */
export function sessionOf(project: string, session = 'session'): SessionRef {
  return { project, session, branch: null };
}

/** A runner over the bench's sandbox. */
export function openToolRunner(bench: Bench, own: Partial<RunnerDeps> & { logger?: Logger } = {}): ToolRunner {
  const bundles = new ToolBundles();
  const processes: SandboxProcess[] = [];
  const policies: SandboxPolicy[] = [];
  const privateSocketsDir = join(bench.base, 'home', 'run', 'd');
  mkdirSync(privateSocketsDir, { recursive: true, mode: 0o700 });
  const runner = createRunner({
    sandbox: watched(bench.sandbox, processes, policies),
    policyFor: () => bench.policy(),
    commandPolicyFor: own.policyFor ?? (() => bench.policy()),
    sdkDir: SDK,
    privateSocketsDir,
    scrub: async (_session, texts) => texts.map((text) => text.replaceAll('swordfish', '[SECRET_1]')),
    services: {},
    logger: silentLogger,
    clock: systemClock,
    ...own,
  });
  const run = (tool: string, bundleDir: string, { profile = PROFILE, ...change }: CallChange): Promise<ToolRun> =>
    runner.run({
      requestId: 'req_1',
      session: sessionOf(bench.workspace),
      cwd: bench.workspace,
      tool,
      origin: 'installed',
      view: null,
      program: { kind: 'plugin', bundleDir, profile },
      effects: DEFAULT_EFFECTS,
      grants: [],
      input: {},
      etagKey: '11'.repeat(32),
      timeoutMs: 30_000,
      outputMaxBytes: 64 * 1024 * 1024,
      outputKillBytes: 512 * 1024 * 1024,
      signal: new AbortController().signal,
      ...change,
    });
  const call = async (tool: string, bundleDir: string, change: CallChange): Promise<RunResult> => {
    const { outcome, facts } = await run(tool, bundleDir, change);
    if (outcome instanceof ContextdError) throw outcome;
    return { ...outcome, ...facts };
  };
  return {
    runner,
    processes,
    policies,
    core: (tool, input, change = {}) =>
      call(tool, CORE_BUNDLE, {
        origin: 'core',
        effects: effectsOf(tool),
        grants: tool === 'safe_bash' ? ['exec'] : [],
        input,
        ...change,
      }),
    program: (tool, change) => call(tool, change.bundleDir, change),
    fixture: async (name, tool, change = {}) => call(tool, await bundles.dirOf(name), change),
    ended: async (name, tool, change = {}) => run(tool, await bundles.dirOf(name), change),
    async close() {
      await runner.stop();
      bundles.remove();
    },
  };
}

/** The same sandbox; records what it starts. */
function watched(sandbox: Sandbox, processes: SandboxProcess[], policies: SandboxPolicy[]): Sandbox {
  return {
    launch: () => sandbox.launch(),
    start: () => sandbox.start(),
    stop: () => sandbox.stop(),
    probe: () => sandbox.probe(),
    isolationFor: (workspace) => sandbox.isolationFor(workspace),
    run: (policy, command) => sandbox.run(policy, command),
    begin: (policy, command, onFound) => sandbox.begin(policy, command, onFound),
    watch: (policy) => sandbox.watch(policy),
    quarantine: (policy, action) => sandbox.quarantine(policy, action),
    status: () => sandbox.status(),
    storage: (action) => sandbox.storage(action),
    snapshot: (workspace, request) => sandbox.snapshot(workspace, request),
    restore: (policy, items) => sandbox.restore(policy, items),
    merge: (policy, branch, request) => sandbox.merge(policy, branch, request),
    createLayer: (policy) => sandbox.createLayer(policy),
    layerAbility: (workspace) => sandbox.layerAbility(workspace),
    removeLayer: (project, branch) => sandbox.removeLayer(project, branch),
    keepLayers: (live) => sandbox.keepLayers(live),
    tellEgress: (command) => sandbox.tellEgress(command),
    async open(policy, program) {
      const opened = await sandbox.open(policy, program);
      processes.push(opened);
      policies.push(policy);
      return opened;
    },
  };
}
