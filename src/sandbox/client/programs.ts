import { PassThrough } from 'node:stream';
import type { SandboxPolicy } from '../contract/policy.ts';
import type { SandboxProcess, SandboxProgram } from '../contract/sandbox.ts';
import type { SpawnerConnection } from './spawner-connection.ts';

/** A long-lived process, from `open` until it ends. */
interface OpenedProcess {
  readonly stdout: PassThrough;
  readonly stderr: PassThrough;
  onStale(): void;
  onExit(end: ProcessEnd): void;
}

interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** The long-lived programs that the spawner runs for this daemon. */
export class Programs {
  readonly #connection: SpawnerConnection;
  readonly #processes = new Map<number, OpenedProcess>();

  constructor(connection: SpawnerConnection) {
    this.#connection = connection;
  }

  get ids(): readonly number[] {
    return [...this.#processes.keys()];
  }

  async open(policy: SandboxPolicy, program: SandboxProgram): Promise<SandboxProcess> {
    const stdout = new PassThrough();
    const stderr = new PassThrough();
    const { id, result } = this.#connection.request({ op: 'open', policy, program });
    const { promise: stale, resolve: onStale } = Promise.withResolvers<void>();
    const { promise: exited, resolve: onExit } = Promise.withResolvers<ProcessEnd>();
    this.#processes.set(id, { stdout, stderr, onStale, onExit });
    try {
      const { socketDir } = (await result) as { socketDir: string };
      const kill = async (): Promise<void> => {
        if (this.#processes.has(id)) this.#connection.tell({ op: 'kill', id });
        await exited;
      };
      const input = async (data: Buffer, isEnd = false): Promise<void> => {
        await this.#connection.request({ op: 'input', run: id, isEnd }, data).result;
      };
      return { stdout, stderr, socketDir, stale, exited, input, kill };
    } catch (cause) {
      this.#processes.delete(id);
      throw cause;
    }
  }

  output(id: number, stream: 'stdout' | 'stderr', bytes: Buffer): void {
    this.#processes.get(id)?.[stream].write(bytes);
  }

  stale(id: number): void {
    this.#processes.get(id)?.onStale();
  }

  /** Call for a program that could not be started. */
  failed(id: number): void {
    this.#processes.delete(id);
  }

  ended(id: number, end: ProcessEnd): void {
    const opened = this.#processes.get(id);
    this.#processes.delete(id);
    opened?.stdout.end();
    opened?.stderr.end();
    opened?.onExit(end);
  }

  /** Call when the spawner is gone: no program outlives it. */
  lost(): void {
    for (const id of this.ids) this.ended(id, { code: null, signal: 'SIGKILL' });
  }
}
