import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { SessionRef } from '#src/call/session.js';
import { systemClock } from '#src/core/clock.js';
import type { JsonObject } from '#src/core/json.js';
import { type Logger, silentLogger } from '#src/core/log.js';
import type { ToolProfile } from '#src/core/profile.js';
import { createRunner } from '#src/runner/create-runner.js';
import type { Runner, RunnerDeps, RunResult, ToolCall } from '#src/runner/runner.js';
import type { Sandbox, SandboxProcess } from '#src/sandbox/sandbox.js';
import type { SandboxPolicy } from '#src/sandbox/sandbox-policy.js';
import type { Bench } from '../fixtures/sandbox-harness.ts';
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

export interface ToolRunner {
  readonly runner: Runner;
  /** Every started process, in order. */
  readonly processes: readonly SandboxProcess[];
  /** The policies of the started processes, in order. */
  readonly policies: readonly SandboxPolicy[];
  /** Calls a core tool. */
  core(tool: string, input: JsonObject, change?: Partial<ToolCall>): Promise<RunResult>;
  /** Calls a tool of any bundle, as a third party's tool. */
  program(tool: string, change: Partial<ToolCall> & Pick<ToolCall, 'bundleDir'>): Promise<RunResult>;
  /** Calls a tool of a fixture. */
  fixture(name: string, tool: string, change?: Partial<ToolCall>): Promise<RunResult>;
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
  const call = (tool: string, bundleDir: string, change: Partial<ToolCall>): Promise<RunResult> =>
    runner.run({
      requestId: 'req_1',
      session: sessionOf(bench.workspace),
      cwd: bench.workspace,
      tool,
      origin: 'installed',
      view: null,
      bundleSha256: bundleDir,
      bundleDir,
      profile: PROFILE,
      grants: [],
      input: {},
      etagKey: '11'.repeat(32),
      timeoutMs: 30_000,
      outputMaxBytes: 64 * 1024 * 1024,
      outputKillBytes: 512 * 1024 * 1024,
      signal: new AbortController().signal,
      ...change,
    });
  return {
    runner,
    processes,
    policies,
    core: (tool, input, change = {}) =>
      call(tool, CORE_BUNDLE, { origin: 'core', grants: tool === 'safe_bash' ? ['exec'] : [], input, ...change }),
    program: (tool, change) => call(tool, change.bundleDir, change),
    fixture: async (name, tool, change = {}) => call(tool, await bundles.dirOf(name), change),
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
