import type { Clock } from '../../core/clock.ts';
import { TIMEOUT_MAX_MS } from '../../core/limits.ts';
import { isRealDirectory } from '../../fs/directory-identity.ts';
import type { TreeProtection } from '../../guard/client/guard-set.ts';
import type { Mount } from '../../guard/contract/mount.ts';
import type { CommandSpec } from '../contract/command.ts';
import type { Networks } from '../egress/networks.ts';
import { onTerminal, TERMINAL_ENV } from '../jail/pseudo-terminal.ts';
import { type CheckedPolicy, isOfSession, type LinuxSandboxDeps } from './checked-policy.ts';
import { type Collected, collectReport, NO_REPORT } from './pipe-report.ts';
import {
  isReporting,
  ReadyPool,
  type ReadySandbox,
  reportingArgv,
  scriptFor,
  scriptSocket,
  WAITING_SHELL,
} from './ready-pool.ts';
import { discard, prepareGit, type StartedSandbox, type Starter } from './starter.ts';
import { openStdin, type Steering } from './steering.ts';

/** Maximum number of prestarted sandboxes over all policies. */
export const READY_MAX = 32;

/** A sandbox that runs a command of a call or a job. */
export interface StartedCommand extends StartedSandbox {
  readonly report: Collected;
  readonly wasReady: boolean;
}

/** Starts commands in a prestarted sandbox if possible, otherwise in a new one. */
export class CommandStarter {
  readonly #starter: Starter;
  readonly #network: Networks;
  readonly #clock: Clock;
  readonly #pool: ReadyPool;
  #readyUsed = 0;

  constructor({ config, clock, logger }: LinuxSandboxDeps, starter: Starter, network: Networks) {
    this.#starter = starter;
    this.#network = network;
    this.#clock = clock;
    this.#pool = new ReadyPool({
      perPolicy: config.preforked,
      max: READY_MAX,
      idleMs: config.idle_ms,
      clock,
      logger,
      discard,
    });
  }

  /** Number of commands that ran in a prestarted sandbox. */
  get readyUsed(): number {
    return this.#readyUsed;
  }

  /** Number of prestarted sandboxes by policy. */
  readyCounts(): Map<string, number> {
    return this.#pool.counts();
  }

  /** Kills the sandboxes prestarted for a session. */
  forgetSession(project: string, session: string): Promise<void> {
    return this.#pool.forget((key) => isOfSession(key, project, session));
  }

  /**
   * Called after a command; prestarts the next sandbox. Not for branches: a waiting sandbox would keep the layer
   * mounted and show an outdated base.
   */
  ended(checked: CheckedPolicy): void {
    if (checked.policy.workspace.layer === null) this.#pool.used(checked.key, () => this.#makeReady(checked));
  }

  /** Kills all prestarted sandboxes. Idempotent. */
  stop(): Promise<void> {
    return this.#pool.stop();
  }

  /** Takes a prestarted sandbox if a suitable one is ready; otherwise starts a new one. */
  async start(
    checked: CheckedPolicy,
    protection: TreeProtection,
    command: CommandSpec,
    steering: Steering | null,
    program: readonly Mount[] | undefined,
  ): Promise<StartedCommand> {
    await this.#network.settled(checked.loopback?.key ?? null);
    const script =
      steering === null && program === undefined && checked.policy.workspace.layer === null
        ? scriptFor(command, checked.policy.workspace.path)
        : null;
    const isSuitable =
      script !== null && (command.cwd === checked.policy.workspace.path || isRealDirectory(command.cwd));
    const ready = isSuitable ? this.#pool.take(checked.key, this.#fingerprintOf(checked, protection)) : null;
    if (ready !== null && script !== null) {
      this.#readyUsed += 1;
      ready.git?.seed();
      const report = isReporting(script) ? collectReport(ready) : NO_REPORT;
      ready.give(script);
      return { ...ready, report, wasReady: true };
    }
    const git = await prepareGit(checked, protection);
    git?.seed();
    const isTerminal = command.terminal === true;
    const reporting = isTerminal || steering !== null || program !== undefined ? null : reportingArgv(command);
    const started = await this.#starter.start(checked, protection, {
      argv: isTerminal ? onTerminal(command.argv) : (reporting ?? command.argv),
      cwd: command.cwd,
      env: isTerminal ? { ...TERMINAL_ENV, ...command.env } : command.env,
      programMounts: program ?? [],
      wallMs: command.timeoutMs,
      stdin: await openStdin(checked, command, steering),
      isTerminal,
      takesScript: reporting !== null,
      git,
    });
    steering?.attach(started.jail);
    const report = reporting === null ? NO_REPORT : collectReport(started);
    return { ...started, report, wasReady: false };
  }

  #fingerprintOf(checked: CheckedPolicy, protection: TreeProtection): string {
    const { loopback } = checked;
    const name = loopback === null ? '' : this.#network.loopbacks.nameOf(loopback.key);
    return fingerprintOf(checked, protection, { loopback: name, authority: this.#network.bridge.certificateOf(name) });
  }

  async #makeReady(checked: CheckedPolicy): Promise<ReadySandbox> {
    const protection = await checked.guard.protection();
    const started = await this.#starter.start(checked, protection, {
      argv: WAITING_SHELL,
      cwd: checked.policy.workspace.path,
      env: {},
      programMounts: [],
      wallMs: TIMEOUT_MAX_MS,
      stdin: 'ignore',
      takesScript: true,
      git: await prepareGit(checked, protection),
    });
    const script = await scriptSocket(started).catch((cause: unknown) => {
      discard(started);
      throw cause;
    });
    started.tidy();
    return {
      ...started,
      fingerprint: fingerprintOf(checked, protection, started),
      startedAt: this.#clock.monotonic(),
      give: (text) => void script.end(text),
    };
  }
}

/** A prestarted sandbox suits a command only if the directory, its protected paths and its network are unchanged. */
function fingerprintOf(
  checked: CheckedPolicy,
  protection: TreeProtection,
  { loopback, authority }: Pick<StartedSandbox, 'loopback' | 'authority'>,
): string {
  return `${checked.state} ${loopback} ${authority ?? ''} ${JSON.stringify(checked.person)} ${protection.fingerprint}`;
}
