import { closeSync } from 'node:fs';
import { Jail } from './bubblewrap.ts';
import type { GroupFiles } from './cgroup/files.ts';
import { checkWorkspace } from './changed-underway.ts';
import type { StartedSandbox } from './command.ts';
import { binDirsOf, coverProc, type Host } from './host.ts';
import type { Identity } from './identity.ts';
import { type Launch, type PinnedPath, prepareLaunch } from './launch.ts';
import { OutputReader } from './output-reader.ts';
import type { PipeEnds } from './pipes.ts';
import { buildEnvironment, type Mount, planTree } from './policy.ts';
import type { Site } from './sites.ts';
import { removeStubs } from './stubs.ts';
import type { Protection } from './workspace/protection.ts';

/** Milliseconds after which a sandbox that nobody follows counts as built. */
const BUILT_WITHIN_MS = 2_000;

/** What is to run, command or tool process alike. */
export interface Job {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly programMounts: readonly Mount[];
  /** Milliseconds by which it is over; 0: it lives on. */
  readonly wallMs: number;
  /** A descriptor, which is taken over, or nothing to read. */
  readonly stdin: number | 'ignore';
  /** A socket for the waiting shell's script, as descriptor 3. */
  readonly takesScript: boolean;
}

/** Starts sandboxes, and puts away what each used once its last process is dead. */
export class Starter {
  readonly #jails = new Set<Jail>();
  readonly #puttingAway = new Set<Promise<void>>();
  #isStopped = false;

  async start(site: Site, protection: Protection, job: Job): Promise<StartedSandbox> {
    const { host, identity } = site;
    const owner = ownerOf(identity);
    const [stdout, stderr]: PipeEnds[] = [await host.pipes.take(owner), await host.pipes.take(owner)];
    if (stdout === undefined || stderr === undefined) throw new Error('no pipes');
    const readers = { stdout: new OutputReader(stdout.read), stderr: new OutputReader(stderr.read) };
    const childFds = [job.stdin, stdout.write, stderr.write] as const;
    let group: GroupFiles | null = null;
    let launch: Launch | null = null;
    try {
      group = host.cgroups?.create(site.policy.limits) ?? null;
      const mounts = plan(site, protection, job, group === null);
      launch = prepare(site, mounts, job, group);
      checkWorkspace(site, launch.pinned);
      const jail = new Jail(launch, job.takesScript ? [...childFds, 'pipe'] : childFds);
      this.#follow(jail, host, group);
      return { jail, ...readers, group, mounts, tidy: tidyOnce(site, launch.pinned, jail) };
    } catch (cause) {
      readers.stdout.close();
      readers.stderr.close();
      if (group !== null) host.cgroups?.remove(group);
      throw cause;
    } finally {
      // The child has copies; an end of a pipe left open here would never report its end.
      launch?.release();
      for (const fd of childFds) if (typeof fd === 'number') closeSync(fd);
    }
  }

  /** Kills what runs, and what is started from now on; returns when all of it is dead and put away. Idempotent. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const jail of this.#jails) jail.kill();
    await Promise.all(this.#puttingAway);
  }

  #follow(jail: Jail, host: Host, group: GroupFiles | null): void {
    this.#jails.add(jail);
    const putAway = jail.gone.then(() => {
      this.#jails.delete(jail);
      this.#puttingAway.delete(putAway);
      if (group !== null) host.cgroups?.remove(group);
    });
    this.#puttingAway.add(putAway);
    if (this.#isStopped) jail.kill();
  }
}

/** Takes away what building it left in the workspace: when told to, or a while later, or when the sandbox is over. */
function tidyOnce({ guard }: Site, pinned: readonly PinnedPath[], jail: Jail): () => void {
  const startedAtMs = Date.now();
  const isBuilt = guard.building(pinned.map(({ path }) => path));
  let isTidy = false;
  const tidy = (): void => {
    if (isTidy) return;
    isTidy = true;
    clearTimeout(timer);
    removeStubs(pinned, startedAtMs);
    isBuilt();
  };
  const timer = setTimeout(tidy, BUILT_WITHIN_MS).unref();
  jail.ended.then(tidy, tidy);
  return tidy;
}

/** The whole tree of a sandbox. */
function plan({ host, identity, policy }: Site, protection: Protection, job: Job, isWatched: boolean): Mount[] {
  const { commonGitDir } = protection;
  return planTree({
    base: host.base(),
    writable: commonGitDir === null ? [policy.workspace] : [policy.workspace, commonGitDir],
    roPaths: policy.roPaths,
    protectedMounts: protection.mounts,
    proc: coverProc(identity),
    program: job.programMounts,
    isWatched,
  });
}

function prepare(site: Site, mounts: readonly Mount[], job: Job, group: GroupFiles | null): Launch {
  const { host, identity, policy } = site;
  return prepareLaunch({
    bubblewrap: host.bubblewrap,
    strayFds: host.strayFds,
    identity,
    workspace: policy.workspace,
    mounts,
    env: buildEnvironment(binDirsOf(policy.roPaths)),
    callerEnv: job.env,
    cwd: job.cwd,
    argv: job.argv,
    limits: policy.limits,
    group,
    firstFreeFd: job.takesScript ? 4 : 3,
    wallMs: job.wallMs,
    seccompFile: site.isFiltered ? host.filters.fileFor(policy.seccomp, group === null ? 'watchdog' : 'cgroup') : null,
  });
}

/** Whose the pipes of a sandbox are; null: the spawner's own user's. */
export function ownerOf(identity: Identity): { uid: number; gid: number } | null {
  return identity.kind === 'owner' ? { uid: identity.uid, gid: identity.gid } : null;
}
