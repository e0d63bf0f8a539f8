import type { RunRef, SandboxDeps } from '../sandbox.ts';
import type { Reply, Request } from './messages.ts';

/** Brings what the proxy process reports to the daemon, with the call or job that it is about. */
export class EgressRelay {
  readonly #deps: Pick<SandboxDeps, 'onEgress' | 'logger'>;
  /** Whose the running commands are, by number. */
  readonly #runs = new Map<number, RunRef>();

  constructor(deps: Pick<SandboxDeps, 'onEgress' | 'logger'>) {
    this.#deps = deps;
  }

  began(number: number, run: RunRef | undefined): void {
    if (run !== undefined) this.#runs.set(number, run);
  }

  ended(number: number): void {
    this.#runs.delete(number);
  }

  report({ event, run }: Extract<Reply, { re: 'egress' }>): void {
    void this.#deps.onEgress?.(event, run === null ? null : (this.#runs.get(run) ?? null));
  }

  /** A new process gets its listeners when it knows everything, so that it refuses nothing by ignorance. */
  async tellAll({ start }: Extract<Reply, { re: 'egress_ready' }>, answer: (request: Request) => void): Promise<void> {
    try {
      await this.#deps.onEgress?.({ ev: 'ready' }, null);
    } catch (cause) {
      this.#deps.logger.error('network.rules_not_told', {}, cause);
    }
    answer({ op: 'egress_told', start });
  }
}
