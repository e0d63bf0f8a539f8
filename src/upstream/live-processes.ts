import { within } from '../core/deadline.ts';
import type { Logger } from '../core/log.ts';
import type { ServerProcess } from './start-server.ts';

/** Milliseconds. */
const GRACE_MS = 2_000;
/** Processes of one server that run at once. */
const PROCESSES_MAX = 4;

export interface LiveProcessesDeps {
  /** Of the server. */
  readonly name: string;
  /** Milliseconds for a process to end by itself. Default: 2 seconds. */
  readonly graceMs?: number;
  readonly logger: Pick<Logger, 'error'>;
}

/** The processes of a server that may be alive. */
export class LiveProcesses {
  readonly #deps: LiveProcessesDeps;
  readonly #processes = new Set<ServerProcess>();

  constructor(deps: LiveProcessesDeps) {
    this.#deps = deps;
  }

  add(process: ServerProcess): void {
    this.#processes.add(process);
    void process.exited.then(() => this.#processes.delete(process));
  }

  /** Whether another may start beside those in which calls go on. */
  get hasRoom(): boolean {
    return this.#processes.size < PROCESSES_MAX;
  }

  async killAll(): Promise<void> {
    await Promise.all([...this.#processes].map((process) => this.kill(process)));
  }

  /** Lets a process end by itself, as the protocol demands, before it is killed. */
  async finish(process: ServerProcess): Promise<void> {
    // Its stdin may be closed already.
    const asked = process.input(Buffer.alloc(0), true).catch(() => {});
    await within(this.#deps.graceMs ?? GRACE_MS, Promise.all([asked, process.exited]), () => {});
    await this.kill(process);
  }

  async kill(process: ServerProcess): Promise<void> {
    const { logger, name } = this.#deps;
    await process.kill().catch((cause: unknown) => logger.error('upstream.not_killed', { server: name }, cause));
  }
}
