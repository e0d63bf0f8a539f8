import { join } from 'node:path';
import { ContextdError } from '../core/errors.ts';
import type { Jail } from './bubblewrap.ts';
import { readableBundle } from './bundle-copy.ts';
import type { GroupFiles } from './cgroup-files.ts';
import { type CommandStreams, runCommand } from './command.ts';
import { findCommonGitDir } from './git-dir.ts';
import { binDirsOf, coverProc, Host } from './host.ts';
import { type Identity, identityFor } from './identity.ts';
import { Isolation } from './isolation.ts';
import { type Launch, prepareLaunch } from './launch.ts';
import { checkRoPath, checkWorkspace } from './mountable.ts';
import { openInput, type PipeEnds } from './pipes.ts';
import { BUNDLE_DIR, buildEnvironment, checkArgv, type Mount, NODE_BINARY, planTree } from './policy.ts';
import { NO_BUBBLEWRAP } from './probe.ts';
import { openProcess, PROCESS_FDS } from './process.ts';
import { findProtected, type ProtectedEntry, protectedMounts } from './protected-paths.ts';
import { Quarantine } from './quarantine.ts';
import type {
  CommandResult,
  CommandSpec,
  IsolationReport,
  Sandbox,
  SandboxDeps,
  SandboxPolicy,
  SandboxProcess,
  SandboxProgram,
} from './sandbox.ts';

/** What is to run, command or tool process alike. */
interface Job {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly programMounts: readonly Mount[];
  /** Descriptors the command inherits; bubblewrap's own come after them. */
  readonly inheritedFds: number;
}

/** A sandbox about to start. */
interface Prepared {
  readonly identity: Identity;
  readonly launch: Launch;
  readonly group: GroupFiles | null;
  readonly commonGitDir: string | null;
  readonly protectedEntries: readonly ProtectedEntry[];
}

/** bubblewrap, a fresh sandbox for every command (design §5). */
export class LinuxSandbox implements Sandbox {
  readonly #deps: SandboxDeps;
  readonly #quarantine: Quarantine;
  readonly #jails = new Set<Jail>();
  #opened: { host: Promise<Host | null>; isolation: Promise<Isolation | null> } | null = null;
  #stopped = false;

  constructor(deps: SandboxDeps) {
    this.#deps = deps;
    this.#quarantine = new Quarantine(deps.logger);
  }

  async start(): Promise<void> {
    this.#stopped = false;
    const report = await this.probe();
    this.#deps.logger.info('sandbox.ready', { level: report.level, version: report.version, missing: report.missing });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    for (const jail of this.#jails) jail.kill();
    await Promise.allSettled([...this.#jails].map((jail) => jail.exited));
    const host = await this.#opened?.host.catch(() => null);
    this.#opened = null;
    await host?.close();
  }

  async probe(): Promise<IsolationReport> {
    const isolation = await this.#open().isolation;
    return isolation === null ? Isolation.none() : isolation.ofMachine();
  }

  async isolationFor(workspace: string): Promise<IsolationReport> {
    const isolation = await this.#open().isolation;
    return isolation === null ? Isolation.none() : isolation.of(identityFor(workspace, daemonUid()));
  }

  async run(policy: SandboxPolicy, command: CommandSpec): Promise<CommandResult> {
    checkArgv(command.argv);
    const startedAt = this.#deps.clock.monotonic();
    const host = await this.#hostFor(policy);
    const prepared = this.#prepare(host, policy, { ...command, programMounts: [], inheritedFds: 3 });
    const watch = this.#quarantine.watch(policy.workspace, prepared.commonGitDir, prepared.protectedEntries);
    let quarantined: readonly string[] = [];
    try {
      const streams = await openStreams(host, prepared.identity, command.stdin);
      const outcome = await runCommand(prepared.launch, streams, command, (jail) => this.#track(jail, prepared.launch));
      quarantined = this.#quarantine.finish(watch);
      return { ...outcome, durationMs: this.#deps.clock.monotonic() - startedAt, quarantined };
    } catch (cause) {
      this.#quarantine.finish(watch);
      throw cause;
    } finally {
      discard(host, prepared);
    }
  }

  async open(policy: SandboxPolicy, program: SandboxProgram): Promise<SandboxProcess> {
    const host = await this.#hostFor(policy);
    const bundle = await readableBundle(host.sandboxDir, identityFor(policy.workspace, daemonUid()), program.bundleDir);
    try {
      const prepared = this.#prepare(host, policy, processJob(policy, program, bundle.dir));
      return await this.#openPrepared(host, prepared, bundle.remove);
    } catch (cause) {
      await bundle.remove();
      throw cause;
    }
  }

  async #openPrepared(host: Host, prepared: Prepared, onEnd: () => Promise<void>): Promise<SandboxProcess> {
    try {
      const output = await host.pipes.take(ownerOf(prepared.identity));
      return openProcess(prepared.launch, output, {
        onStart: (jail) => this.#track(jail, prepared.launch),
        onEnd: () => {
          discard(host, prepared);
          return onEnd();
        },
      });
    } catch (cause) {
      discard(host, prepared);
      throw cause;
    }
  }

  /** Opened once; a failure is told to everyone who waits, and the next caller tries again. */
  #open(): { host: Promise<Host | null>; isolation: Promise<Isolation | null> } {
    if (this.#opened !== null) return this.#opened;
    const host = Host.open(this.#deps.paths.sandboxDir, this.#deps.logger, this.#deps.clock);
    const opened = { host, isolation: host.then((one) => (one === null ? null : new Isolation(one))) };
    this.#opened = opened;
    opened.isolation.catch(() => {
      if (this.#opened === opened) this.#opened = null;
    });
    return opened;
  }

  /** The host, after everything that speaks against a sandbox for this policy. */
  async #hostFor(policy: SandboxPolicy): Promise<Host> {
    if (this.#stopped) throw refusal('contextd is stopping', 'Call again when it has started.');
    checkWorkspace(policy.workspace, this.#deps.paths);
    for (const path of policy.roPaths) checkRoPath(path, this.#deps.paths);
    const host = await this.#open().host;
    if (host === null) throw refusal(NO_BUBBLEWRAP.missing, NO_BUBBLEWRAP.remedy);
    const report = await this.isolationFor(policy.workspace);
    const enough =
      report.level === 'full' || (report.level === 'reduced' && this.#deps.config.min_isolation === 'reduced');
    if (!enough) throw refusal(`isolation is ${report.level}; missing: ${report.missing.join(', ')}`, report.remedy);
    return host;
  }

  #prepare(host: Host, policy: SandboxPolicy, job: Job): Prepared {
    const { workspace, roPaths, limits } = policy;
    const identity = identityFor(workspace, daemonUid());
    const commonGitDir = findCommonGitDir(workspace);
    const protectedEntries = findProtected(workspace, commonGitDir);
    const mounts = planTree({
      base: host.base(),
      writable: commonGitDir === null ? [workspace] : [workspace, commonGitDir],
      roPaths,
      protectedMounts: protectedMounts(protectedEntries, workspace),
      proc: identity.kind === 'root' ? coverProc() : [],
      program: job.programMounts,
    });
    const group = host.cgroups?.create(limits) ?? null;
    try {
      const launch = prepareLaunch({
        bubblewrap: host.bubblewrap,
        strayFds: host.strayFds,
        identity,
        workspace,
        mounts,
        env: buildEnvironment(binDirsOf(roPaths), job.env),
        cwd: job.cwd,
        argv: job.argv,
        limits,
        group,
        firstFreeFd: job.inheritedFds,
      });
      return { identity, launch, group, commonGitDir, protectedEntries };
    } catch (cause) {
      if (group !== null) host.cgroups?.remove(group);
      throw cause;
    }
  }

  /** The child has its own copies of the pinned descriptors once it is spawned. */
  #track(jail: Jail, launch: Launch): void {
    launch.release();
    this.#jails.add(jail);
    jail.exited.catch(() => {}).finally(() => this.#jails.delete(jail));
    if (this.#stopped) jail.kill();
  }
}

function processJob(policy: SandboxPolicy, program: SandboxProgram, bundleDir: string): Job {
  return {
    argv: [NODE_BINARY, join(BUNDLE_DIR, program.entry), ...program.args],
    cwd: policy.workspace,
    env: program.env,
    programMounts: [
      { kind: 'ro-bind', source: bundleDir, dest: BUNDLE_DIR },
      { kind: 'ro-bind', source: process.execPath, dest: NODE_BINARY },
    ],
    inheritedFds: PROCESS_FDS,
  };
}

async function openStreams(host: Host, identity: Identity, stdin: Buffer | null): Promise<CommandStreams> {
  const owner = ownerOf(identity);
  const [stdout, stderr]: PipeEnds[] = [await host.pipes.take(owner), await host.pipes.take(owner)];
  if (stdout === undefined || stderr === undefined) throw new Error('no pipes');
  return { stdin: stdin === null ? null : openInput(stdin, owner, host.sandboxDir), stdout, stderr };
}

function ownerOf(identity: Identity): { uid: number; gid: number } | null {
  return identity.kind === 'owner' ? { uid: identity.uid, gid: identity.gid } : null;
}

function discard(host: Host, prepared: Prepared): void {
  prepared.launch.release();
  if (prepared.group !== null) host.cgroups?.remove(prepared.group);
}

function daemonUid(): number {
  return process.getuid?.() ?? 0;
}

function refusal(reason: string, remedy: string | null): ContextdError {
  return new ContextdError('SANDBOX_UNAVAILABLE', reason, remedy === null ? {} : { remedy });
}
