import { existsSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Paths } from '../../config/paths.ts';
import { ContextdError } from '../../core/errors.ts';
import { directoryIdentity } from '../../fs/directory-identity.ts';
import type { Mount } from '../../guard/contract/mount.ts';
import { NODE_BINARY } from '../contract/places.ts';
import type { SandboxLimits } from '../contract/policy.ts';
import type { SnapshotReply, SnapshotRequest } from '../contract/snapshot-messages.ts';
import { startOwnProgram } from '../jail/own-program.ts';
import type { Host } from '../machine/host.ts';
import { type Identity, identityFor, ownUid } from '../machine/identity.ts';
import { KeeperProcess } from './keeper-process.ts';
import { movedStoreOf, openStore, placeOf } from './place.ts';

/** One file, bundled: nothing else can be loaded in the sandbox. */
const PROGRAM = fileURLToPath(new URL('../../../program/snapshots.js', import.meta.url));
const PROGRAM_INSIDE = '/opt/contextd/snapshots.mjs';
const STORE_INSIDE = '/opt/contextd/store';
/** In which commands of the host's base are found. */
const GIT = '/usr/bin/git';

const MIB = 1024 * 1024;
const LIMITS: SandboxLimits = { memoryBytes: 1024 * MIB, pids: 64, fileBytes: 1024 * MIB, openFiles: 4096, cpus: 0 };
/** Workspaces whose keepers run at once. */
const RUNNING_MAX = 8;

export interface SnapshotsDeps {
  /** Null without bubblewrap. */
  host(): Promise<Host | null>;
  paths: Pick<Paths, 'undoDir'>;
  idleMs: number;
}

interface Running {
  readonly process: KeeperProcess;
  /** Which directory and which user it serves. */
  readonly subject: string;
  timer: NodeJS.Timeout | undefined;
}

/** What the files of each workspace were: one sandboxed program for each that has been used lately. */
export class Snapshots {
  readonly #deps: SnapshotsDeps;
  /** By workspace, the last used at the end. */
  readonly #running = new Map<string, Running>();
  #isStopped = false;

  constructor(deps: SnapshotsDeps) {
    this.#deps = deps;
  }

  /** Throws SANDBOX_UNAVAILABLE if nothing can be kept now, with the reason. */
  async ask(workspace: string, request: SnapshotRequest | { readonly do: 'drop' }): Promise<SnapshotReply | null> {
    if (request.do === 'drop') return this.#drop(workspace);
    const running = await this.#open(workspace);
    clearTimeout(running.timer);
    this.#running.delete(workspace);
    this.#running.set(workspace, running);
    try {
      return await running.process.ask(request);
    } catch (cause) {
      throw unavailable(workspace, cause instanceof Error ? cause.message : String(cause), cause);
    } finally {
      clearTimeout(running.timer);
      running.timer = setTimeout(() => void this.#end(workspace, running), this.#deps.idleMs).unref();
    }
  }

  /** What a sandbox that puts files back needs besides its policy, and what it runs. */
  restorer(workspace: string): { mounts: Mount[]; argv: string[] } {
    return {
      mounts: [...programMounts(), { kind: 'ro-bind', source: this.storeOf(workspace), dest: STORE_INSIDE }],
      argv: argvOf('restore', workspace),
    };
  }

  /** Where the contents of a workspace are kept, if any are. */
  storeOf(workspace: string): string {
    const { undoDir } = this.#deps.paths;
    const isMoved = existsSync(movedStoreOf(undoDir, workspace));
    return (isMoved ? openStore : placeOf)(undoDir, workspace, identityOf(workspace)).store;
  }

  /** Kills all and waits. Idempotent. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all([...this.#running].map(([workspace, running]) => this.#end(workspace, running)));
  }

  async #open(workspace: string): Promise<Running> {
    const host = await this.#deps.host();
    if (host === null || this.#isStopped) throw unavailable(workspace, 'no sandbox can be started');
    if (!existsSync(GIT)) throw unavailable(workspace, 'git is not installed');
    const identity = identityOf(workspace);
    const subject = JSON.stringify([directoryIdentity(workspace), identity]);
    const known = this.#running.get(workspace);
    if (known?.subject === subject && !known.process.hasEnded) return known;
    if (known !== undefined) await this.#end(workspace, known);
    for (const [other, running] of this.#running)
      if (this.#running.size >= RUNNING_MAX && !running.process.isBusy) await this.#end(other, running);
    const running = { process: start(host, this.#deps.paths.undoDir, workspace, identity), subject, timer: undefined };
    this.#running.set(workspace, running);
    return running;
  }

  async #end(workspace: string, running: Running): Promise<void> {
    clearTimeout(running.timer);
    if (this.#running.get(workspace) === running) this.#running.delete(workspace);
    await running.process.stop();
  }

  async #drop(workspace: string): Promise<null> {
    const running = this.#running.get(workspace);
    if (running !== undefined) await this.#end(workspace, running);
    const { undoDir } = this.#deps.paths;
    rmSync(movedStoreOf(undoDir, workspace), { recursive: true, force: true });
    const { dir } = placeOf(undoDir, workspace, identityOf(workspace));
    rmSync(dir, { recursive: true, force: true });
    return null;
  }
}

function start(host: Host, root: string, workspace: string, identity: Identity): KeeperProcess {
  const { store } = openStore(root, workspace, identity);
  return new KeeperProcess(
    startOwnProgram(
      host,
      {
        identity,
        argv: argvOf('keep', workspace),
        mounts: [...programMounts(), { kind: 'bind', source: store, dest: STORE_INSIDE }],
        roPaths: [workspace],
        limits: LIMITS,
        wallMs: 0,
        network: null,
        seccompFile: null,
      },
      'pipe',
    ),
  );
}

function programMounts(): Mount[] {
  return [
    { kind: 'ro-bind', source: process.execPath, dest: NODE_BINARY },
    { kind: 'ro-bind', source: PROGRAM, dest: PROGRAM_INSIDE },
  ];
}

function argvOf(mode: 'keep' | 'restore', workspace: string): string[] {
  return [NODE_BINARY, '--no-warnings', PROGRAM_INSIDE, mode, workspace, STORE_INSIDE];
}

function identityOf(workspace: string): Identity {
  return identityFor(workspace, ownUid());
}

function unavailable(workspace: string, why: string, cause?: unknown): ContextdError {
  return new ContextdError('SANDBOX_UNAVAILABLE', `changes of files in ${workspace} are not kept: ${why}`, {
    remedy: 'Fix the reason, then call again. `ctxd doctor` checks the sandbox.',
    ...(cause === undefined ? {} : { cause }),
  });
}
