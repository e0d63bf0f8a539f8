import { ContextdError } from '../../core/errors.ts';
import type { QuarantineReport, QuarantineResult } from '../../guard/contract/quarantine.ts';
import type { CommandResult, SteeredCommand } from '../contract/command.ts';
import type { InheritableSandbox } from '../contract/heritage.ts';
import type { LayerAbility, LayerKind } from '../contract/mounted.ts';
import {
  IDLE_STATUS,
  type IsolationReport,
  NO_LOOPBACK,
  type ProjectCaches,
  type RestoreResult,
  type Sandbox,
  type SandboxDeps,
  type SandboxProcess,
  type SandboxStatus,
} from '../contract/sandbox.ts';
import { SeatbeltSandbox } from '../macos/seatbelt-sandbox.ts';
import { SpawnedSandbox } from './spawned-sandbox.ts';

/** Returns the sandbox implementation for an operating system. */
export function createSandbox(deps: SandboxDeps, platform: NodeJS.Platform = process.platform): InheritableSandbox {
  if (platform === 'linux') return new SpawnedSandbox(deps);
  if (platform === 'darwin') return new SeatbeltSandbox(deps);
  return new UnavailableSandbox(
    `contextd cannot isolate tools on ${platform} yet`,
    'Run contextd on Linux, or in a Linux virtual machine or container.',
  );
}

/** For a system without isolation: refuses every call, with a remedy. */
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
      loopback: NO_LOOPBACK,
    };
  }

  isolationFor(): Promise<IsolationReport> {
    return this.probe();
  }

  async run(): Promise<CommandResult> {
    throw this.#refusal();
  }

  begin(): SteeredCommand {
    const refused = this.run();
    refused.catch(() => {});
    const refuse = (): Promise<never> => Promise.reject(this.#refusal());
    const started = refused.then(() => {});
    started.catch(() => {});
    return { started, ended: refused, input: refuse, signal: refuse, usage: refuse, activity: refuse };
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

  async storage(): Promise<readonly ProjectCaches[]> {
    return [];
  }

  async snapshot(): Promise<null> {
    throw this.#refusal();
  }

  async restore(): Promise<RestoreResult> {
    throw this.#refusal();
  }

  async createLayer(): Promise<LayerKind> {
    throw this.#refusal();
  }

  async layerAbility(): Promise<LayerAbility> {
    throw this.#refusal();
  }

  async removeLayer(): Promise<void> {}

  async keepLayers(): Promise<void> {}

  async merge(): Promise<never> {
    throw this.#refusal();
  }

  tellEgress(): void {}

  #refusal(): ContextdError {
    return new ContextdError('SANDBOX_UNAVAILABLE', this.#reason, { remedy: this.#remedy });
  }
}
