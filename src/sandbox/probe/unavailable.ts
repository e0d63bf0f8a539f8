import { ContextdError } from '../../core/errors.ts';
import type { QuarantineReport, QuarantineResult } from '../quarantine.ts';
import type { CommandResult, IsolationReport, Sandbox, SandboxProcess, SandboxStatus } from '../sandbox.ts';

/** Where no spawner runs and nothing waits. */
export const IDLE_STATUS: SandboxStatus = {
  spawnerPid: null,
  spawnerRssBytes: 0,
  running: 0,
  processes: 0,
  ready: [],
  readyMax: 0,
  readyUsed: 0,
  totals: null,
};

/** Where nothing can isolate: every call is refused, with what to do about it. */
export class UnavailableSandbox implements Sandbox {
  readonly #reason: string;
  readonly #remedy: string;

  constructor(reason: string, remedy: string) {
    this.#reason = reason;
    this.#remedy = remedy;
  }

  async launch(): Promise<void> {}
  async start(): Promise<void> {}
  async stop(): Promise<void> {}

  async probe(): Promise<IsolationReport> {
    return {
      level: 'unavailable',
      missing: [this.#reason],
      remedy: this.#remedy,
      backend: 'none',
      version: null,
      layers: [],
    };
  }

  isolationFor(): Promise<IsolationReport> {
    return this.probe();
  }

  async run(): Promise<CommandResult> {
    throw this.#refusal();
  }

  async open(): Promise<SandboxProcess> {
    throw this.#refusal();
  }

  async watch(): Promise<{ finish(): Promise<QuarantineReport> }> {
    throw this.#refusal();
  }

  async quarantine(): Promise<QuarantineResult> {
    throw this.#refusal();
  }

  async status(): Promise<SandboxStatus> {
    return IDLE_STATUS;
  }

  #refusal(): ContextdError {
    return new ContextdError('SANDBOX_UNAVAILABLE', this.#reason, { remedy: this.#remedy });
  }
}
