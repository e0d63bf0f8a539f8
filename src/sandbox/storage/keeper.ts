import { fileURLToPath } from 'node:url';
import { ContextdError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import { ownProgram } from '../../core/own-program.ts';
import { NODE_BINARY } from '../contract/places.ts';
import type { SandboxLimits } from '../contract/policy.ts';
import type { Jail } from '../jail/bubblewrap.ts';
import { runOwnProgram } from '../jail/own-program.ts';
import type { Host } from '../machine/host.ts';
import type { Identity } from '../machine/identity.ts';

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

/** The program, `inside/main.ts`. */
export const KEEPER_PROGRAM = fileURLToPath(ownProgram(new URL('./inside/main.js', import.meta.url)));
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

async function runKeeper({ host, jails, dir, identity, request }: Task): Promise<KeeperReply> {
  let timer: NodeJS.Timeout | undefined;
  const { exit, stdout, stderr } = await runOwnProgram(host, {
    identity,
    argv: [NODE_BINARY, '--no-warnings', PROGRAM_INSIDE, PLACE_INSIDE, JSON.stringify(request)],
    mounts: [
      { kind: 'ro-bind', source: process.execPath, dest: NODE_BINARY },
      { kind: 'ro-bind', source: KEEPER_PROGRAM, dest: PROGRAM_INSIDE },
      { kind: 'bind', source: dir, dest: PLACE_INSIDE },
    ],
    limits: KEEPER_LIMITS,
    wallMs: KEEPER_WITHIN_MS,
    outputMaxChars: REPLY_MAX_CHARS,
    network: null,
    seccompFile: null,
    onStart(jail) {
      jails.add(jail);
      timer = setTimeout(() => jail.kill(), KEEPER_WITHIN_MS).unref();
      void jail.gone.then(() => jails.delete(jail));
    },
  }).finally(() => clearTimeout(timer));
  return replyOf(stdout, exit.ran && exit.code === 0, `${exit.code ?? exit.signal}: ${stderr.slice(-1_000)}`);
}

/** The program could not do it. */
export class KeeperFailure extends Error {
  /** False if it could not be started, whatever the directory holds. */
  readonly hasBegun: boolean;

  constructor(why: string, hasBegun: boolean) {
    super(`the storage's keeper ended with ${why}`);
    this.hasBegun = hasBegun;
  }
}

/** Also for the keeper of another platform. `why`: what it ended with. Throws KeeperFailure. */
export function replyOf(stdout: string, isDone: boolean, why: string): KeeperReply {
  if (isDone) return readReply(stdout);
  // Its first line, which is empty, says that it has begun.
  throw new KeeperFailure(why, stdout !== '');
}

function readReply(text: string): KeeperReply {
  const reply: unknown = JSON.parse(text);
  if (!isJsonObject(reply) || typeof reply.bytes !== 'number' || !Array.isArray(reply.dropped)) {
    throw new Error(`the storage's keeper answered ${text.slice(0, 200)}`);
  }
  return { bytes: reply.bytes, dropped: reply.dropped.map(String) };
}
