import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CommandResult } from '#src/sandbox/contract/command.js';
import type { SandboxLimits, SandboxPolicy } from '#src/sandbox/contract/policy.js';
import type { HostFailure, HostReply, HostRequest } from '../fixtures/sandbox-host.ts';

/** The user who runs the daemon and the owner of the project. */
export type Identity = 'root on a root-owned project' | 'root on a user’s project' | 'an ordinary user';

/** A uid that no account of the machine and no other test uses. */
const PROJECT_UID = 64_321;
const ORDINARY_UID = 65_534;
const HOST_PROGRAM = fileURLToPath(new URL('../fixtures/sandbox-host.ts', import.meta.url));
const MIB = 1024 * 1024;

export const LIMITS: SandboxLimits = {
  memoryBytes: 512 * MIB,
  pids: 128,
  fileBytes: 1024 * MIB,
  openFiles: 1024,
  cpus: 0,
};

/**
 * The identities that can be tried on this machine. Root tries all three if it can run Node as another user. A warning
 * names the others.
 */
export function identitiesHere(): Identity[] {
  const isRoot = process.getuid?.() === 0;
  const left: Identity[] = isRoot
    ? canBecomeOrdinary()
      ? []
      : ['an ordinary user']
    : ['root on a root-owned project', 'root on a user’s project'];
  const all: Identity[] = ['root on a root-owned project', 'root on a user’s project', 'an ordinary user'];
  if (left.length > 0) console.warn(`SKIPPED in escape tests as uid ${process.getuid?.()}: ${left.join(', ')}`);
  return all.filter((identity) => !left.includes(identity));
}

/** The one identity for tests whose claim does not depend on it. */
export function usualIdentity(): [Identity] {
  return [process.getuid?.() === 0 ? 'root on a user’s project' : 'an ordinary user'];
}

function canBecomeOrdinary(): boolean {
  const script = `require("node:fs").readFileSync(${JSON.stringify(HOST_PROGRAM)})`;
  const [command = '', ...args] = asOrdinary([process.execPath, '-e', script]);
  return spawnSync(command, args, { stdio: 'ignore', cwd: '/' }).status === 0;
}

function asOrdinary(argv: readonly string[]): string[] {
  const drop = ['--clear-groups', '--inh-caps=-all', '--ambient-caps=-all', '--bounding-set=-all', '--no-new-privs'];
  return ['setpriv', `--reuid=${ORDINARY_UID}`, `--regid=${ORDINARY_UID}`, ...drop, '--', ...argv];
}

/** The result of a run, with its streams as text. */
export interface Outcome extends Omit<CommandResult, 'stdout' | 'stderr' | 'quarantined'> {
  /** Only the paths. */
  readonly quarantined: string[];
  readonly out: string;
  readonly err: string;
}

export interface RunChange {
  readonly argv?: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: Buffer;
  readonly timeoutMs?: number;
  readonly outputMaxBytes?: number;
  readonly limits?: Partial<SandboxLimits>;
  readonly policy?: Partial<SandboxPolicy>;
}

/** A refusal by the sandbox, as its caller sees it. */
export class RunFailure extends Error {
  readonly code: string;
  readonly known: boolean;
  constructor(failure: HostFailure) {
    super(`${failure.code}: ${failure.message}`);
    this.code = failure.code;
    this.known = failure.known;
  }
}

export interface GroundOptions {
  /** Variables added to the environment of the hosting process. */
  readonly env?: Readonly<Record<string, string>>;
  /** The file that the hosting process inherits as descriptor 9. */
  readonly strayFd?: number;
  /** True: an overlay lies where contextd keeps its files, so that no other one can be mounted there. Root only. */
  readonly noOverlays?: boolean;
}

/**
 * A project, a person's home beside it, and a separate process that hosts the sandbox. `close` ends and removes
 * everything.
 */
export class Ground {
  readonly identity: Identity;
  readonly base: string;
  /** The project's root. */
  workspace: string;
  /** A home directory that no sandbox may see. */
  readonly person: string;
  readonly #owner: number | null;
  readonly #options: GroundOptions;
  #child: ChildProcess;
  #ended: Promise<void>;
  #lastId = 0;
  readonly #waiting = new Map<number, { resolve(value: unknown): void; reject(cause: Error): void }>();

  static async open(identity: Identity, options: GroundOptions = {}): Promise<Ground> {
    const ground = new Ground(identity, options);
    await ground.#ready();
    return ground;
  }

  private constructor(identity: Identity, options: GroundOptions) {
    this.identity = identity;
    this.#options = options;
    this.base = realpathSync(mkdtempSync(join(tmpdir(), 'contextd-escape-')));
    this.#owner = ownerFor(identity);
    chmodSync(this.base, 0o755);
    this.workspace = this.#makeDir('project');
    this.person = this.#makeDir('person');
    if (identity === 'an ordinary user' && this.#owner !== null) chownSync(this.base, this.#owner, this.#owner);
    this.#child = this.#spawn();
    this.#ended = this.#follow();
  }

  /** The pid of the process that hosts the sandbox, in place of the daemon. */
  get hostPid(): number {
    return this.#child.pid ?? 0;
  }

  /** The owner of the project's files; null if it is the user who runs the tests. */
  get owner(): number | null {
    return this.#owner;
  }

  /** Replaces the project by an empty one of the same owner. */
  newProject(name = `project-${++this.#lastId}`): void {
    this.workspace = this.#makeDir(name);
  }

  policy(change: RunChange = {}): SandboxPolicy {
    return {
      workspace: { path: this.workspace, layer: null },
      network: 'none',
      roPaths: [],
      deny: [],
      storage: null,
      minIsolation: 'reduced',
      seccomp: { inet: true, unix: true, debugger: false },
      limits: { ...LIMITS, ...change.limits },
      ...change.policy,
    };
  }

  /** Runs a bash script in the project. Rejects with RunFailure if the sandbox refuses. */
  async run(script: string, change: RunChange = {}): Promise<Outcome> {
    return this.start(script, change).result;
  }

  /** Like `run`, with a way to cancel it. */
  start(script: string, change: RunChange = {}): { result: Promise<Outcome>; cancel(): Promise<unknown> } {
    const { argv = ['bash', '-c', script], cwd = this.workspace, env = {}, stdin = null } = change;
    const { timeoutMs = 30_000, outputMaxBytes = MIB } = change;
    const id = ++this.#lastId;
    const command = { argv, cwd, env, stdin, timeoutMs, outputMaxBytes, outputKillBytes: 8 * outputMaxBytes };
    const result = this.#request({ id, op: 'run', policy: this.policy(change), command }).then(toOutcome);
    return { result, cancel: () => this.#request({ id: ++this.#lastId, op: 'cancel', run: id }) };
  }

  /** The change that runs a script in branches with files of their own, the outermost first. */
  in(...layer: string[]): RunChange {
    return { policy: { workspace: { path: this.workspace, layer } } };
  }

  /** Makes the files of the last of these branches. Returns what they are. */
  createLayer(...layer: string[]): Promise<unknown> {
    return this.createLayerWith(this.in(...layer));
  }

  /** The same with another policy. */
  createLayerWith(change: RunChange): Promise<unknown> {
    return this.#request({ id: ++this.#lastId, op: 'create_layer', policy: this.policy(change) });
  }

  async removeLayer(branch: string): Promise<void> {
    await this.#request({ id: ++this.#lastId, op: 'remove_layer', project: this.workspace, branch });
  }

  /** Where contextd keeps its files. */
  get home(): string {
    return join(this.base, 'contextd');
  }

  /** Returns what is missing for full isolation. */
  async missing(): Promise<readonly string[]> {
    const report = await this.#request({ id: ++this.#lastId, op: 'isolation', workspace: this.workspace });
    return hasList(report, 'missing') ? report.missing.map(String) : [];
  }

  /** Runs a tool process, which is a script of sh, to its end. */
  async openTool(script: string, limits: Partial<SandboxLimits>): Promise<unknown> {
    const bundleDir = this.#makeDir(`bundle-${++this.#lastId}`);
    writeFileSync(join(bundleDir, 'main.sh'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    const program = { bundleDir, runtime: 'plugin' as const, entry: 'main.sh', args: [], env: {} };
    return this.#request({ id: ++this.#lastId, op: 'open', policy: this.policy({ limits }), program });
  }

  async byCgroup(): Promise<boolean> {
    return !(await this.missing()).some((one) => one.includes('cgroup'));
  }

  /** The process that forks for the daemon; null if there is no such process. */
  async spawnerPid(): Promise<number | null> {
    const status = await this.#request({ id: ++this.#lastId, op: 'status' });
    if (typeof status !== 'object' || status === null || !('spawnerPid' in status)) return null;
    return typeof status.spawnerPid === 'number' ? status.spawnerPid : null;
  }

  /** The number of sandboxes that are ready for the project; null if none are kept ready. */
  async readyCount(): Promise<number | null> {
    const status = await this.#request({ id: ++this.#lastId, op: 'status' });
    if (!hasList(status, 'ready')) return null;
    const own = status.ready.find((one) => isObject(one) && one.workspace === this.workspace);
    return isObject(own) ? Number(own.count) : 0;
  }

  /** Bytes of live objects in the hosting process, after a garbage collection. */
  async heapBytes(): Promise<number> {
    const usage = await this.#request({ id: ++this.#lastId, op: 'memory' });
    if (typeof usage !== 'object' || usage === null) return 0;
    return Object.entries(usage)
      .filter(([name]) => name === 'heapUsed' || name === 'external')
      .reduce((sum, [, bytes]) => sum + Number(bytes), 0);
  }

  /** Runs a command on the host as the project's owner, in the project. Throws if it fails. */
  host(script: string): string {
    const env = { PATH: '/usr/bin:/bin', HOME: this.person, GIT_CONFIG_NOSYSTEM: '1', ...GIT_AUTHOR };
    const user = this.#owner === null ? {} : { uid: this.#owner, gid: this.#owner };
    const done = spawnSync('sh', ['-ec', script], { cwd: this.workspace, env, encoding: 'utf8', ...user });
    if (done.status !== 0) throw new Error(`${script}\nended with ${done.status}: ${done.stderr}`);
    return done.stdout;
  }

  /** Starts another hosting process in place of one that was killed. */
  async restart(): Promise<void> {
    this.#child = this.#spawn();
    this.#ended = this.#follow();
    await this.#ready();
  }

  /** Sends SIGKILL to the hosting process and waits until it is reaped. After that nothing can be run. */
  async killHost(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }

  async close(): Promise<void> {
    if (this.#child.connected) {
      await this.#request({ id: ++this.#lastId, op: 'stop' }).catch(() => {});
      this.#child.disconnect();
    }
    await this.#ended;
    rmSync(this.base, { recursive: true, force: true });
  }

  #makeDir(name: string): string {
    const dir = join(this.base, name);
    mkdirSync(dir);
    if (this.#owner !== null) chownSync(dir, this.#owner, this.#owner);
    return dir;
  }

  #spawn(): ChildProcess {
    const program = [process.execPath, '--expose-gc', HOST_PROGRAM, this.base];
    const drops = this.identity === 'an ordinary user' && this.#owner !== null;
    const host = drops ? asOrdinary(program) : program;
    const [command = '', ...args] = this.#options.noOverlays === true ? this.#onOverlay(host) : host;
    const { strayFd, env } = this.#options;
    const coverage = drops ? undefined : process.env.NODE_V8_COVERAGE;
    return spawn(command, args, {
      cwd: '/',
      env: {
        PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
        HOME: this.person,
        ...(coverage === undefined ? {} : { NODE_V8_COVERAGE: coverage }),
        ...env,
      },
      stdio: [
        'ignore',
        'inherit',
        'inherit',
        'ipc',
        ...(strayFd === undefined ? [] : ['ignore' as const, 'ignore' as const, 'ignore' as const]),
        ...(strayFd === undefined ? [] : ['ignore' as const, 'ignore' as const, strayFd]),
      ],
      serialization: 'advanced',
    });
  }

  #onOverlay(argv: readonly string[]): string[] {
    const [lower, upper, work] = ['lower', 'upper', 'work'].map((name) => join(this.base, '.overlay', name));
    for (const dir of [lower, upper, work, this.home]) mkdirSync(dir ?? '', { recursive: true });
    if (this.#owner !== null && this.identity === 'an ordinary user') {
      for (const dir of [upper, this.home]) chownSync(dir ?? '', this.#owner, this.#owner);
    }
    const options = `lowerdir=${lower},upperdir=${upper},workdir=${work}`;
    const script = 'mount -t overlay -o "$1" overlay "$2" && shift 2 && exec "$@"';
    return ['unshare', '--mount', '--', 'sh', '-c', script, 'sh', options, this.home, ...argv];
  }

  #follow(): Promise<void> {
    this.#child.on('message', (message) => {
      if (!isReply(message)) return;
      const waiting = this.#waiting.get(message.id);
      this.#waiting.delete(message.id);
      if ('failure' in message) waiting?.reject(new RunFailure(message.failure));
      else waiting?.resolve(message.value);
    });
    return new Promise((resolve) =>
      this.#child.once('exit', (code, signal) => {
        for (const one of this.#waiting.values()) one.reject(new Error(`the hosting process ended: ${code ?? signal}`));
        this.#waiting.clear();
        resolve();
      }),
    );
  }

  #ready(): Promise<unknown> {
    return new Promise((resolve, reject) => this.#waiting.set(0, { resolve, reject }));
  }

  #request(request: HostRequest): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (!this.#child.connected) return reject(new Error('the hosting process is gone'));
      this.#waiting.set(request.id, { resolve, reject });
      this.#child.send(request);
    });
  }
}

export const GIT_AUTHOR = {
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.invalid',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.invalid',
};

function ownerFor(identity: Identity): number | null {
  if (identity === 'root on a user’s project') return PROJECT_UID;
  return identity === 'an ordinary user' && process.getuid?.() === 0 ? ORDINARY_UID : null;
}

function isReply(message: unknown): message is HostReply {
  return typeof message === 'object' && message !== null && 'id' in message;
}

function isResult(value: unknown): value is CommandResult {
  return typeof value === 'object' && value !== null && 'endedBy' in value && 'stdout' in value;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function hasList<K extends string>(value: unknown, key: K): value is Record<K, unknown[]> {
  return typeof value === 'object' && value !== null && Array.isArray(Reflect.get(value, key));
}

function toOutcome(value: unknown): Outcome {
  if (!isResult(value)) throw new Error(`not the result of a command: ${JSON.stringify(value)}`);
  const text = (stream: CommandResult['stdout']) => Buffer.concat([stream.head, stream.tail]).toString();
  const quarantined = value.quarantined.map(({ path }) => path);
  return { ...value, quarantined, out: text(value.stdout), err: text(value.stderr) };
}
