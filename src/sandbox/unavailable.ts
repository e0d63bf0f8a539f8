import { ContextdError } from '../core/errors.ts';
import type { CommandResult, IsolationReport, Sandbox, SandboxProcess } from './sandbox.ts';

/** Where nothing can isolate: every call is refused, with what to do about it. */
export class UnavailableSandbox implements Sandbox {
  readonly #reason: string;
  readonly #remedy: string;

  constructor(reason: string, remedy: string) {
    this.#reason = reason;
    this.#remedy = remedy;
  }

  async start(): Promise<void> {}
  async stop(): Promise<void> {}

  async probe(): Promise<IsolationReport> {
    return { level: 'unavailable', missing: [this.#reason], remedy: this.#remedy, backend: 'none', version: null };
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

  #refusal(): ContextdError {
    return new ContextdError('SANDBOX_UNAVAILABLE', this.#reason, { remedy: this.#remedy });
  }
}
