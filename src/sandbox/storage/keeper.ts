import { fileURLToPath } from 'node:url';
import { ContextdError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import { Jail } from '../bubblewrap.ts';
import { coverProc, type Host } from '../host.ts';
import type { Identity } from '../identity.ts';
import { type Launch, prepareLaunch } from '../launch.ts';
import { buildEnvironment, NODE_BINARY, planTree } from '../policy.ts';
import type { SandboxLimits } from '../sandbox.ts';

/** What is to be done in one directory of the storage. */
export type KeeperRequest =
  | { readonly do: 'measure' }
  /** Removes everything; of the directories in `keep` only the content. */
  | { readonly do: 'empty'; readonly keep: readonly string[] }
  /** If it holds more than `maxBytes`: drops what was not used for longest. See `caches.ts` for the lists. */
  | {
      readonly do: 'trim';
      readonly maxBytes: number;
      readonly shared: readonly string[];
      readonly loose: readonly string[];
    };

export interface KeeperReply {
  /** What the directory holds afterwards; 1 KiB of it is for each entry. */
  readonly bytes: number;
  /** The caches from which something was dropped, at most 20. */
  readonly dropped: readonly string[];
}

export interface Keeper {
  ask(dir: string, identity: Identity, request: KeeperRequest): Promise<KeeperReply>;
  /** Ends what runs, refuses what comes, and waits. Idempotent. */
  stop(): Promise<void>;
}

/** The program, `keeper-main.ts`. */
export const KEEPER_PROGRAM = fileURLToPath(new URL('./keeper-main.js', import.meta.url));
const PROGRAM_INSIDE = '/opt/contextd/keeper.mjs';
const PLACE_INSIDE = '/storage';
export const KEEPER_LIMITS: SandboxLimits = {
  memoryBytes: 1024 ** 3,
  pids: 64,
  fileBytes: 1024 * 1024,
  openFiles: 1024,
  cpus: 1,
};
/** Milliseconds after which it is killed. */
export const KEEPER_WITHIN_MS = 600_000;
const REPLY_MAX_CHARS = 64 * 1024;

/**
 * Starts a sandbox for each request: as the user who wrote the files, with the one directory in it. Whatever a command
 * put there, root never walks through it.
 */
export function createKeeper(openHost: () => Promise<Host | null>): Keeper {
  const jails = new Set<Jail>();
  let isStopped = false;
  return {
    async ask(dir, identity, request) {
      const host = await openHost();
      if (host === null || isStopped) throw new ContextdError('SANDBOX_UNAVAILABLE', 'no sandbox can be started');
      return runKeeper({ host, jails, dir, identity, request });
    },
    async stop() {
      isStopped = true;
      for (const jail of jails) jail.kill();
      await Promise.all([...jails].map(({ gone }) => gone));
    },
  };
}

interface Task {
  readonly host: Host;
  readonly jails: Set<Jail>;
  readonly dir: string;
  readonly identity: Identity;
  readonly request: KeeperRequest;
}

async function runKeeper(task: Task): Promise<KeeperReply> {
  const { host, jails } = task;
  const group = host.cgroups?.create(KEEPER_LIMITS) ?? null;
  let launch: Launch | null = null;
  try {
    launch = prepare(task, group);
    const jail = new Jail(launch, ['ignore', 'pipe', 'pipe']);
    jails.add(jail);
    void jail.gone.then(() => jails.delete(jail));
    const timer = setTimeout(() => jail.kill(), KEEPER_WITHIN_MS).unref();
    const [said, complaint] = [collect(jail.child.stdout), collect(jail.child.stderr)];
    const exit = await jail.ended.finally(() => clearTimeout(timer));
    await jail.gone;
    if (exit.ran && exit.code === 0) return readReply(await said);
    throw new Error(`the storage's keeper ended with ${exit.code ?? exit.signal}: ${(await complaint).slice(-1_000)}`);
  } finally {
    launch?.release();
    if (group !== null) host.cgroups?.remove(group);
  }
}

function prepare({ host, dir, identity, request }: Task, group: Parameters<typeof prepareLaunch>[0]['group']): Launch {
  return prepareLaunch({
    bubblewrap: host.bubblewrap,
    strayFds: host.strayFds,
    identity,
    workspace: null,
    enter: [],
    links: [],
    network: null,
    mounts: planTree({
      base: host.base(),
      writable: [],
      roPaths: [],
      toolchains: [],
      protectedMounts: [],
      proc: coverProc(identity),
      program: [
        { kind: 'ro-bind', source: process.execPath, dest: NODE_BINARY },
        { kind: 'ro-bind', source: KEEPER_PROGRAM, dest: PROGRAM_INSIDE },
        { kind: 'bind', source: dir, dest: PLACE_INSIDE },
      ],
      isWatched: group === null,
    }),
    env: buildEnvironment([]),
    callerEnv: {},
    cwd: '/',
    argv: [NODE_BINARY, '--no-warnings', PROGRAM_INSIDE, PLACE_INSIDE, JSON.stringify(request)],
    limits: KEEPER_LIMITS,
    group,
    firstFreeFd: 3,
    wallMs: KEEPER_WITHIN_MS,
    seccompFile: null,
  });
}

/** Also for the keeper of another platform. */
export function readReply(text: string): KeeperReply {
  const reply: unknown = JSON.parse(text);
  if (!isJsonObject(reply) || typeof reply.bytes !== 'number' || !Array.isArray(reply.dropped)) {
    throw new Error(`the storage's keeper answered ${text.slice(0, 200)}`);
  }
  return { bytes: reply.bytes, dropped: reply.dropped.map(String) };
}

/** Everything the stream holds, to its end. */
function collect(stream: NodeJS.ReadableStream | null): Promise<string> {
  if (stream === null) return Promise.resolve('');
  return new Promise((resolve) => {
    let text = '';
    stream.on('data', (chunk: Buffer) => {
      if (text.length < REPLY_MAX_CHARS) text += chunk.toString();
    });
    stream.once('error', () => resolve(text));
    stream.once('close', () => resolve(text));
  });
}
