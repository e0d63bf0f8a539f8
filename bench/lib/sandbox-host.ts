import { chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readEnvironment } from '../../src/config/env.ts';
import { findInstallRoot } from '../../src/config/install-root.ts';
import { acceptConfig } from '../../src/config/load.ts';
import { ensureDirectories, resolvePaths } from '../../src/config/paths.ts';
import type { Config } from '../../src/config/schema.ts';
import { systemClock } from '../../src/core/clock.ts';
import { silentLogger } from '../../src/core/log.ts';
import { type EgressCommand, scopeKey } from '../../src/egress/messages.ts';
import { policyFor } from '../../src/features/outside/policy.ts';
import { createSandbox } from '../../src/sandbox/client/create-sandbox.ts';
import type { CommandSpec } from '../../src/sandbox/contract/command.ts';
import { baseView, type SandboxNetwork, type SandboxPolicy } from '../../src/sandbox/contract/policy.ts';
import type { Sandbox } from '../../src/sandbox/contract/sandbox.ts';

/** A sandbox engine with its own home directory, set up as the daemon does it. */
export interface SandboxHost {
  sandbox: Sandbox;
  /** Runs `true` in bash in a fresh sandbox, by default with a loopback of its own. Throws if it fails. */
  runTrue(workspace: string, stdin?: Buffer, network?: SandboxNetwork): Promise<void>;
  /** Runs a program in a fresh sandbox with the network of its project. Throws if it fails. */
  runWithNetwork(workspace: string, argv: readonly string[]): Promise<void>;
  /** Lets the commands of a workspace reach a name, at whatever address. */
  allow(workspace: string, pattern: string): void;
  /** Waits until the pool of ready sandboxes for this workspace is full, or has stopped growing. */
  refilled(workspace: string): Promise<void>;
  stop(): Promise<void>;
}

/** Milliseconds. */
const TIMEOUT_MS = 30_000;
const NETWORK_TIMEOUT_MS = 300_000;
const REFILL_LIMIT_MS = 500;
const REFILL_LOOK_MS = 5;
/** Milliseconds that cleaning up after a run takes when no sandboxes are kept ready. */
const REST_MS = 20;

export async function openSandbox(settings: Partial<Config['sandbox']>): Promise<SandboxHost> {
  const home = mkdtempSync(join(tmpdir(), 'ctxs-'));
  const paths = resolvePaths({ ...readEnvironment(), contextdHome: home }, findInstallRoot());
  await ensureDirectories(paths);
  const config = acceptConfig('the benchmark', { sandbox: settings }).sandbox;
  const policies: EgressCommand[] = [];
  const sandbox: Sandbox = createSandbox({
    paths,
    config,
    logger: silentLogger,
    clock: systemClock,
    onEgress: ({ ev }) => {
      if (ev === 'ready') for (const command of policies) sandbox.tellEgress(command);
    },
  });
  const run = async (policy: SandboxPolicy, argv: readonly string[], more: Partial<CommandSpec>): Promise<void> => {
    const { exitCode, endedBy, stderr } = await sandbox.run(policy, {
      argv: [...argv],
      cwd: policy.workspace.path,
      env: {},
      stdin: null,
      timeoutMs: TIMEOUT_MS,
      outputMaxBytes: 1024 * 1024,
      outputKillBytes: 0,
      signal: new AbortController().signal,
      ...more,
    });
    if (exitCode !== 0) throw new Error(`the sandbox ended by ${endedBy}, code ${exitCode}: ${stderr.head}`);
  };
  await sandbox.start();
  const readyFor = async (workspace: string): Promise<number> =>
    Math.min(...(await sandbox.status()).ready.filter((one) => one.workspace === workspace).map(({ count }) => count));
  return {
    sandbox,
    async runTrue(workspace, stdin, network = 'none') {
      const policy = { ...policyFor(baseView(workspace), config), network };
      await run(policy, ['bash', '-c', 'true'], { stdin: stdin ?? null });
    },
    async runWithNetwork(workspace, argv) {
      const policy = { ...policyFor(baseView(workspace), config), network: 'project' as const };
      await run(policy, argv, { timeoutMs: NETWORK_TIMEOUT_MS });
    },
    allow(workspace, pattern) {
      const rule = { pattern, verdict: 'allow', privateAddresses: [], anyPrivate: true, expiresMs: null } as const;
      const scope = scopeKey({ project: workspace, tool: null });
      const command = { op: 'policy', scope, policy: { rules: [rule], uploadMaxBytes: null } } as const;
      policies.push(command);
      sandbox.tellEgress(command);
    },
    async refilled(workspace) {
      await delay(REST_MS);
      const end = performance.now() + REFILL_LIMIT_MS;
      while ((await readyFor(workspace)) < config.preforked && performance.now() < end) await delay(REFILL_LOOK_MS);
    },
    async stop() {
      await sandbox.stop();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** Makes a project with the protected files of a repository. `owner`: a uid; default: the current user. */
export function makeProject(owner?: number): string {
  const project = mkdtempSync(join(tmpdir(), 'bench-'));
  for (const dir of ['.git', '.git/hooks', '.claude']) mkdirSync(join(project, dir));
  writeFileSync(join(project, '.git/config'), '[core]\n');
  if (owner === undefined) return project;
  for (const path of ['.git/config', '.git/hooks', '.git', '.claude', '.'])
    chownSync(join(project, path), owner, owner);
  return project;
}
