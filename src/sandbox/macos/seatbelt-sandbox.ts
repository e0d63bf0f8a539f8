import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { release } from 'node:os';
import { join } from 'node:path';
import { ContextdError, isErrno } from '../../core/errors.ts';
import { isWithin } from '../../core/paths.ts';
import type { QuarantineAction, QuarantineReport, QuarantineResult } from '../../guard/contract/quarantine.ts';
import type { CommandResult, CommandSpec, SteeredCommand } from '../contract/command.ts';
import type { LayerAbility, LayerKind } from '../contract/mounted.ts';
import type { SandboxPolicy } from '../contract/policy.ts';
import {
  IDLE_STATUS,
  type IsolationReport,
  type ProjectCaches,
  type RestoreResult,
  type Sandbox,
  type SandboxDeps,
  type SandboxProcess,
  type SandboxProgram,
  type SandboxStatus,
  type StorageAction,
} from '../contract/sandbox.ts';
import { checkArgv } from '../machine/mount-plan.ts';
import { checkRoPath, checkWorkspace } from '../machine/mountable.ts';
import { checkToolPaths } from '../machine/tool-paths.ts';
import { checkEnough } from '../probe/ladder.ts';
import type { Keeper } from '../storage/keeper.ts';
import { Storage, type StorageLease } from '../storage/storage.ts';
import { createSeatbeltKeeper } from './keeper.ts';
import {
  countProcesses,
  environmentOf,
  type Job,
  makePrivateDir,
  profileInput,
  programJob,
  type RunDirs,
  removeLeftDirs,
  seatbeltArguments,
} from './launch.ts';
import { examine } from './probe.ts';
import { buildProfile } from './profile.ts';
import { followGroup, ProcessGroup, steer, writeInput } from './run.ts';

export interface SeatbeltPlaces {
  readonly sandboxExec: string;
  /** Where the directories of runs are made; everybody may write there. */
  readonly tempRoot: string;
}

/** macOS: `sandbox-exec` with a profile of its own for every run. Reduced at best, see docs/isolation.md. */
export class SeatbeltSandbox implements Sandbox {
  readonly #deps: SandboxDeps;
  readonly #sandboxExec: string;
  readonly #tempRoot: string;
  readonly #countProcesses = countProcesses();
  readonly #groups = new Set<ProcessGroup>();
  readonly #keeper: Keeper;
  readonly #storage: Storage;
  #commands = 0;
  #processes = 0;
  #report: Promise<IsolationReport> | null = null;
  #stopped = false;

  constructor(deps: SandboxDeps, places: SeatbeltPlaces = { sandboxExec: '/usr/bin/sandbox-exec', tempRoot: '/tmp' }) {
    this.#deps = deps;
    this.#sandboxExec = places.sandboxExec;
    this.#tempRoot = realpathSync(places.tempRoot);
    this.#keeper = createSeatbeltKeeper(this.#sandboxExec, this.#tempRoot);
    this.#storage = new Storage({
      ...deps,
      root: async () => makeStorageDir(deps.paths.storageDir),
      keeper: this.#keeper,
      cachesInside: null,
    });
  }

  async launch(): Promise<void> {}

  async start(): Promise<void> {
    this.#stopped = false;
    removeLeftDirs(this.#tempRoot);
    const report = await this.probe();
    this.#deps.logger.info('sandbox.ready', { level: report.level, version: report.version, missing: report.missing });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#storage.stop();
    await this.#keeper.stop();
    for (const group of this.#groups) group.kill();
    await Promise.allSettled([...this.#groups].map((group) => group.ended));
  }

  /** A failure is not cached, so that a fix takes effect at the next call. */
  probe(): Promise<IsolationReport> {
    const known = this.#report;
    if (known !== null) return known;
    const report = examine(this.#sandboxExec, this.#tempRoot, `Darwin ${release()}`);
    this.#report = report;
    const forget = (): void => {
      this.#report = null;
    };
    report.then((found) => found.level === 'unavailable' && forget(), forget);
    return report;
  }

  isolationFor(): Promise<IsolationReport> {
    return this.probe();
  }

  /** Sandboxes have no network here, whatever a person allowed. */
  tellEgress(): void {}

  run(policy: SandboxPolicy, command: CommandSpec): Promise<CommandResult> {
    return this.#run(policy, command);
  }

  /** Protected names cannot be created, so nothing is ever found. */
  begin(policy: SandboxPolicy, command: Omit<CommandSpec, 'stdin'>): SteeredCommand {
    const { promise: launched, resolve, reject } = Promise.withResolvers<ProcessGroup>();
    const spec = { ...command, stdin: null };
    const ended = this.#run(policy, spec, resolve);
    ended.catch(reject);
    launched.catch(() => {});
    return steer(launched, ended);
  }

  /** `onSteered`: receives the group of a command that others talk to. */
  async #run(
    policy: SandboxPolicy,
    command: CommandSpec,
    onSteered?: (group: ProcessGroup) => void,
  ): Promise<CommandResult> {
    const startedAt = this.#deps.clock.monotonic();
    checkArgv(command.argv);
    if (command.terminal === true) throw noTerminal();
    await this.#check(policy);
    const storage = await this.#storage.lease(policy, { kind: 'self' }, []);
    const dirs = storage === null ? makePrivateDir(this.#tempRoot) : storedDirs(storage);
    this.#commands++;
    try {
      const job = { ...command, cwd: insideOf(policy.workspace.path, command.cwd), programs: [], socketDir: null };
      const group = await this.#launch(policy, job, dirs);
      onSteered?.(group);
      const outcome = await followGroup(group, command, storage, onSteered !== undefined);
      const durationMs = this.#deps.clock.monotonic() - startedAt;
      // Protected names cannot be created at all; only the kernel's log shows what was refused.
      const nothing = {
        quarantined: [],
        searchComplete: true,
        notices: [],
        denied: [],
        connections: [],
        activity: null,
        pipeStatus: [],
      };
      return { ...outcome, durationMs, ...nothing };
    } finally {
      this.#commands--;
      dirs.remove();
    }
  }

  async open(policy: SandboxPolicy, program: SandboxProgram): Promise<SandboxProcess> {
    await this.#check(policy);
    const dirs = makePrivateDir(this.#tempRoot);
    const socketDir = this.#makeSocketDir();
    this.#processes++;
    const release = (): void => {
      this.#processes--;
      dirs.remove();
      rmSync(socketDir, { recursive: true, force: true });
    };
    try {
      const group = await this.#launch(policy, programJob(policy, program, socketDir), dirs);
      return follow(group, program, socketDir, release);
    } catch (cause) {
      release();
      throw cause;
    }
  }

  /** The profile refuses protected names whether they exist or not, so none can have been created. */
  async watch(): Promise<{ finish(): Promise<QuarantineReport> }> {
    return { finish: async () => ({ quarantined: [], complete: true }) };
  }

  /** On macOS nothing is ever moved away. */
  async quarantine(_policy: SandboxPolicy, action: QuarantineAction): Promise<QuarantineResult> {
    if (action.kind === 'list' && action.which === null) return { items: [], accepted: [] };
    throw new ContextdError('PATH_NOT_FOUND', `nothing was set aside, so nothing is named ${String(action.which)}`, {
      remedy: 'On macOS a command cannot make protected names: make the file yourself.',
    });
  }

  async status(): Promise<SandboxStatus> {
    return { ...IDLE_STATUS, running: this.#commands, processes: this.#processes };
  }

  async snapshot(): Promise<null> {
    throw notOnThisSystem();
  }

  async restore(): Promise<RestoreResult> {
    throw notOnThisSystem();
  }

  /** There is no overlay on this system, and nothing that could put a copy in the place of the workspace. */
  async createLayer(): Promise<LayerKind> {
    throw noLayers();
  }

  async layerAbility(): Promise<LayerAbility> {
    throw noLayers();
  }

  async removeLayer(): Promise<void> {}

  async keepLayers(): Promise<void> {}

  async merge(): Promise<never> {
    throw notOnThisSystem();
  }

  storage(action: StorageAction): Promise<readonly ProjectCaches[]> {
    return this.#storage.act(action);
  }

  async #check(policy: SandboxPolicy): Promise<void> {
    this.#checkRunning();
    // Without this check a call of a branch would write the base.
    if (policy.workspace.layer !== null) throw noLayers();
    checkWorkspace(policy.workspace.path, this.#deps.paths);
    for (const path of policy.roPaths) checkRoPath(path, this.#deps.paths);
    checkToolPaths(policy, this.#deps.paths);
    checkEnough(await this.probe(), policy.minIsolation);
  }

  async #launch(policy: SandboxPolicy, job: Job, dirs: RunDirs): Promise<ProcessGroup> {
    const userProcesses = await this.#countProcesses();
    this.#checkRunning();
    const commandLine = seatbeltArguments({
      sandboxExec: this.#sandboxExec,
      profile: buildProfile(profileInput(policy, job, dirs)),
      limits: policy.limits,
      userProcesses,
      argv: job.argv,
    });
    const group = new ProcessGroup(commandLine, { cwd: job.cwd, env: environmentOf(policy, job, dirs) });
    this.#groups.add(group);
    group.ended.catch(() => {}).finally(() => this.#groups.delete(group));
    return group;
  }

  #checkRunning(): void {
    if (!this.#stopped) return;
    throw new ContextdError('SANDBOX_UNAVAILABLE', 'contextd is stopping', {
      remedy: 'Call again when it has started.',
    });
  }

  #makeSocketDir(): string {
    const parent = this.#deps.paths.toolSocketsDir;
    mkdirSync(parent, { recursive: true, mode: 0o700 });
    return realpathSync(mkdtempSync(join(parent, 's')));
  }
}

function makeStorageDir(dir: string): string {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  return realpathSync(dir);
}

/** A terminal gives the command a session of its own, and on macOS only the process group can be killed for certain. */
function noTerminal(): ContextdError {
  return new ContextdError('NOT_IMPLEMENTED', 'contextd gives commands no terminal on macOS', {
    remedy: 'Leave out `tty`: most programs have an option that needs no terminal.',
  });
}

/** HOME and /tmp of the session; its links lead to the caches. */
function storedDirs({ mounts: { home, tmp, caches } }: StorageLease): RunDirs {
  return { home, tmp, writable: [home, tmp, caches], remove() {} };
}

function follow(
  group: ProcessGroup,
  { takesInput }: Pick<SandboxProgram, 'takesInput'>,
  socketDir: string,
  release: () => void,
): SandboxProcess {
  const { stdin, stdout, stderr } = group.child;
  if (stdout === null || stderr === null) throw new Error('the tool process has no output');
  if (takesInput !== true) stdin?.end();
  const exited = group.ended
    .then(({ code, signal }) => ({ code, signal }))
    .catch(() => ({ code: null, signal: null }))
    .finally(release);
  return {
    stdout,
    stderr,
    socketDir,
    // Rules apply to names: what is replaced on the host stays protected.
    stale: new Promise(() => {}),
    exited,
    input: async (data, isEnd = false) => writeInput(stdin, data, isEnd),
    async kill() {
      group.kill();
      await exited;
    },
  };
}

/** The real path of the directory in which a command starts. Throws PATH_NOT_FOUND if it is outside the workspace. */
function insideOf(workspace: string, cwd: string): string {
  const real = realOrNull(cwd);
  if (real !== null && isWithin(workspace, real)) return real;
  throw new ContextdError('PATH_NOT_FOUND', `the directory ${cwd} does not exist in the sandbox`, {
    remedy: 'Name a directory inside the workspace.',
  });
}

function realOrNull(path: string): string | null {
  try {
    return realpathSync(path);
  } catch (cause) {
    if (isErrno(cause)) return null;
    throw cause;
  }
}

function noLayers(): ContextdError {
  return new ContextdError('SANDBOX_UNAVAILABLE', 'a branch cannot have files of its own on macOS', {
    remedy: 'Open the branch with files: "shared".',
  });
}

function notOnThisSystem(): ContextdError {
  return new ContextdError('SANDBOX_UNAVAILABLE', 'changes of files are not kept on macOS', {
    remedy: 'Keep the project in git, and commit often.',
  });
}
