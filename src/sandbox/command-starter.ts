import type { Clock } from '../core/clock.ts';
import { TIMEOUT_MAX_MS } from '../core/limits.ts';
import { type CheckedPolicy, isOfSession, type LinuxSandboxDeps } from './checked-policy.ts';
import { isRealDirectory } from './directory-identity.ts';
import type { Networks } from './egress/networks.ts';
import type { Mount } from './policy.ts';
import { onTerminal, TERMINAL_ENV } from './pseudo-terminal.ts';
import { ReadyPool, type ReadySandbox, scriptFor, scriptSocket, WAITING_SHELL } from './ready-pool.ts';
import type { CommandSpec } from './sandbox.ts';
import { discard, prepareGit, type StartedSandbox, type Starter } from './starter.ts';
import { openStdin, type Steering } from './steering.ts';
import type { TreeProtection } from './workspace/guard-set.ts';

/** Sandboxes kept ready for all policies together. */
export const READY_MAX = 32;

/** Starts commands: in a sandbox that waits for one, or in a new one. */
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
      ...{ perPolicy: config.preforked, max: READY_MAX, idleMs: config.idle_ms, clock, logger, discard },
    });
  }

  /** How many commands found a sandbox ready. */
  get readyUsed(): number {
    return this.#readyUsed;
  }

  /** How many sandboxes wait, by policy. */
  readyCounts(): Map<string, number> {
    return this.#pool.counts();
  }

  /** Kills what waits for the commands of a session. */
  forgetSession(project: string, session: string): Promise<void> {
    return this.#pool.forget((key) => isOfSession(key, project, session));
  }

  /** After a command. A waiting sandbox would keep a layer mounted and show the base as it was, so branches have none. */
  ended(checked: CheckedPolicy): void {
    if (checked.policy.workspace.layer === null) this.#pool.used(checked.key, () => this.#makeReady(checked));
  }

  /** Kills everything that waits. Idempotent. */
  stop(): Promise<void> {
    return this.#pool.stop();
  }

  /** Takes a pre-forked sandbox if one is ready and suits the command; otherwise starts a new one. */
  async start(
    checked: CheckedPolicy,
    protection: TreeProtection,
    command: CommandSpec,
    steering: Steering | null,
    program: readonly Mount[] | undefined,
  ): Promise<StartedSandbox> {
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
      ready.give(script);
      return ready;
    }
    const git = await prepareGit(checked, protection);
    git?.seed();
    const isTerminal = command.terminal === true;
    const started = await this.#starter.start(checked, protection, {
      argv: isTerminal ? onTerminal(command.argv) : command.argv,
      cwd: command.cwd,
      env: isTerminal ? { ...TERMINAL_ENV, ...command.env } : command.env,
      programMounts: program ?? [],
      wallMs: command.timeoutMs,
      stdin: await openStdin(checked, command, steering),
      isTerminal,
      takesScript: false,
      git,
    });
    steering?.attach(started.jail);
    return started;
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

/** A waiting sandbox suits a command only if the directory, its protected paths and its network are still the same. */
function fingerprintOf(
  checked: CheckedPolicy,
  protection: TreeProtection,
  { loopback, authority }: Pick<StartedSandbox, 'loopback' | 'authority'>,
): string {
  return `${checked.state} ${loopback} ${authority ?? ''} ${checked.person?.text ?? ''}${checked.person?.ignored ?? ''} ${protection.fingerprint}`;
}
