import type { RunRef } from '../contract/command.ts';
import type { SandboxDeps } from '../contract/sandbox.ts';
import type { Reply, Request } from '../contract/spawner-messages.ts';

/** Forwards reports of the proxy process to the daemon, with the call or job that caused them. */
export class EgressRelay {
  readonly #deps: Pick<SandboxDeps, 'onEgress' | 'logger'>;
  /** Run number → the call or job of a running command. */
  readonly #runs = new Map<number, RunRef>();

  constructor(deps: Pick<SandboxDeps, 'onEgress' | 'logger'>) {
    this.#deps = deps;
  }

  began(number: number, run: RunRef | undefined): void {
    if (run !== undefined) this.#runs.set(number, run);
  }

  /** Run number → the call or job that it runs for. */
  get refs(): readonly (readonly [number, RunRef])[] {
    return [...this.#runs];
  }

  ended(number: number): void {
    this.#runs.delete(number);
  }

  report({ event, run }: Extract<Reply, { re: 'egress' }>): void {
    void this.#deps.onEgress?.(event, run === null ? null : (this.#runs.get(run) ?? null));
  }

  /** A new process gets its listeners only after all its rules, so that it does not refuse allowed connections. */
  async tellAll({ start }: Extract<Reply, { re: 'egress_ready' }>, answer: (request: Request) => void): Promise<void> {
    try {
      await this.#deps.onEgress?.({ ev: 'ready' }, null);
    } catch (cause) {
      this.#deps.logger.error('network.rules_not_told', {}, cause);
    }
    answer({ op: 'egress_told', start });
  }
}
