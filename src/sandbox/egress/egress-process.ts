import { type ChildProcess, type SendHandle, spawn } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { RESOLVER_THREADS } from '../../egress/limits.ts';
import type { BridgeCommand, EgressCommand, EgressEvent } from '../../egress/messages.ts';
import { coverStrays } from '../machine/descriptors.ts';
import type { Host } from '../machine/host.ts';
import { EGRESS_LIMITS, egressCommandLine, resolverState } from './egress-jail.ts';
import { readEvents } from './read-event.ts';

const PROGRAM_DIR = fileURLToPath(new URL('../../../program/', import.meta.url));
/** The first descriptor after stdin, stdout, stderr and the IPC channel. */
const SECCOMP_FD = 4;
const ENVIRONMENT = {
  PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
  LANG: 'C.UTF-8',
  // Names are looked up in threads: with Node's four, slow names of one project would hold up the others.
  UV_THREADPOOL_SIZE: String(RESOLVER_THREADS),
};
const STDERR_KEPT_CHARS = 4_096;

/** What the proxy process needs of a host. */
export type EgressHost = Pick<Host, 'bubblewrap' | 'cgroups' | 'filters' | 'strayFds'>;

export interface EgressProgram {
  readonly dir: string;
  readonly entry: string;
}

export const EGRESS_PROGRAM: EgressProgram = { dir: PROGRAM_DIR, entry: 'egress.js' };

export interface EgressProcessEvents {
  onEvent(event: EgressEvent): void;
  /** Called once, when it is dead; `lastWords` is what it printed. */
  onGone(lastWords: string): void;
}

/** The running proxy process, as the spawner holds it. */
export class EgressProcess {
  readonly pid: number;
  readonly exited: Promise<void>;
  readonly #child: ChildProcess;
  readonly #resolver = resolverState();
  #isReady = false;
  #lastWords = '';

  /** It dies with the thread that starts it. Throws if no process can be started. */
  constructor(host: EgressHost, program: EgressProgram, isFiltered: boolean, events: EgressProcessEvents) {
    const group = host.cgroups?.create(EGRESS_LIMITS) ?? null;
    const release = (): void => {
      if (group !== null) host.cgroups?.remove(group);
    };
    try {
      this.#child = start(host, program, isFiltered, group?.joinFiles ?? null);
    } catch (cause) {
      release();
      throw cause;
    }
    this.pid = this.#child.pid ?? -1;
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#lastWords = (this.#lastWords + text).slice(-STDERR_KEPT_CHARS);
    });
    this.#child.on('message', (message: unknown) => {
      for (const event of readEvents(message)) {
        if (event.ev === 'ready') this.#isReady = true;
        events.onEvent(event);
      }
    });
    this.exited = new Promise((resolve) => {
      const gone = (): void => {
        resolve();
        release();
        events.onGone(this.#lastWords.trim());
      };
      this.#child.once('exit', gone);
      this.#child.once('error', (cause) => {
        this.#lastWords += String(cause);
        if (this.#child.pid === undefined) gone();
      });
    });
  }

  /** True after it has said that it can be used. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** True if the host resolves names in another way since it was started. */
  get isOutdated(): boolean {
    return this.#resolver !== resolverState();
  }

  send(command: EgressCommand | BridgeCommand, handle?: SendHandle): void {
    if (!this.#child.connected) return;
    // If it dies meanwhile, `onGone` says so.
    this.#child.send(command, handle, () => {});
  }

  /** Kills it and waits for its end. Idempotent. */
  async stop(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.exited;
  }
}

function start(
  host: EgressHost,
  program: EgressProgram,
  isFiltered: boolean,
  joinFiles: readonly string[] | null,
): ChildProcess {
  const bound = joinFiles === null ? 'watchdog' : 'cgroup';
  const filter = isFiltered ? host.filters.fileFor({ inet: true, unix: false, debugger: false }, bound) : null;
  const seccomp = filter === null ? null : openSync(filter, constants.O_RDONLY);
  try {
    const [command = '', ...args] = egressCommandLine({
      bubblewrap: host.bubblewrap,
      programDir: program.dir,
      entry: program.entry,
      joinFiles,
      seccompFd: seccomp === null ? null : SECCOMP_FD,
      isRoot: process.getuid?.() === 0,
      passwd: readFileSync('/etc/passwd', 'utf8'),
    });
    return coverStrays(
      ['ignore', 'ignore', 'pipe', 'ipc', ...(seccomp === null ? [] : [seccomp])],
      host.strayFds,
      (stdio) => spawn(command, args, { cwd: '/', env: ENVIRONMENT, stdio }),
    );
  } finally {
    if (seccomp !== null) closeSync(seccomp);
  }
}
