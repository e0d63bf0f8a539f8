import { Jail } from './bubblewrap.ts';
import { coverProc, type Host } from './host.ts';
import type { Identity } from './identity.ts';
import { prepareLaunch } from './launch.ts';
import { buildEnvironment, planTree } from './policy.ts';
import {
  composeReport,
  explainFailure,
  NO_BUBBLEWRAP,
  NO_CGROUP,
  OLD_BUBBLEWRAP,
  ROOT_OWNED,
  ROOT_WITHOUT_CGROUP,
  type Shortfall,
} from './probe.ts';
import type { IsolationReport, SandboxLimits } from './sandbox.ts';

const PROBE_LIMITS: SandboxLimits = {
  memoryBytes: 256 * 1024 * 1024,
  pids: 32,
  fileBytes: 1024 * 1024,
  openFiles: 256,
};
/** The unprivileged user a root daemon is probed with. */
const NOBODY: Identity = { kind: 'owner', uid: 65534, gid: 65534 };

/** How well this machine isolates, found by really running a sandbox with every flag; once for each kind of user inside. */
export class Isolation {
  readonly #host: Host;
  readonly #reports = new Map<Identity['kind'], Promise<IsolationReport>>();

  constructor(host: Host) {
    this.#host = host;
  }

  /** The report where there is no bubblewrap. */
  static none(): IsolationReport {
    return composeReport(null, NO_BUBBLEWRAP, []);
  }

  /** For an ordinary workspace, whoever owns it. */
  ofMachine(): Promise<IsolationReport> {
    return this.of(process.getuid?.() === 0 ? NOBODY : { kind: 'self' });
  }

  of(identity: Identity): Promise<IsolationReport> {
    const known = this.#reports.get(identity.kind);
    if (known !== undefined) return known;
    const report = this.#examine(identity);
    this.#reports.set(identity.kind, report);
    return report;
  }

  async #examine(identity: Identity): Promise<IsolationReport> {
    const { cgroups, bubblewrap } = this.#host;
    if (identity.kind === 'root' && cgroups === null) return composeReport(bubblewrap.version, ROOT_WITHOUT_CGROUP, []);
    const shortfalls = [
      ...(identity.kind === 'root' ? [ROOT_OWNED] : []),
      ...(cgroups === null ? [NO_CGROUP] : []),
      ...(bubblewrap.features.disableUserns ? [] : [OLD_BUBBLEWRAP]),
    ];
    return composeReport(bubblewrap.version, await this.#tryOut(identity), shortfalls);
  }

  /** Null when `true` ran in a sandbox with every flag. */
  async #tryOut(identity: Identity): Promise<Shortfall | null> {
    const group = this.#host.cgroups?.create(PROBE_LIMITS) ?? null;
    try {
      const jail = this.#spawnTrue(identity, group);
      let stderr = '';
      jail.child.stderr?.on('data', (chunk: Buffer) => {
        if (stderr.length < 4096) stderr += chunk.toString();
      });
      const exit = await jail.exited;
      return exit.ran && exit.code === 0 ? null : explainFailure(stderr);
    } catch (cause) {
      return explainFailure(String(cause));
    } finally {
      if (group !== null) this.#host.cgroups?.remove(group);
    }
  }

  #spawnTrue(identity: Identity, group: Parameters<typeof prepareLaunch>[0]['group']): Jail {
    const launch = prepareLaunch({
      bubblewrap: this.#host.bubblewrap,
      strayFds: this.#host.strayFds,
      identity,
      workspace: null,
      mounts: planTree({
        base: this.#host.base(),
        writable: [],
        roPaths: [],
        protectedMounts: [],
        proc: identity.kind === 'root' ? coverProc() : [],
        program: [],
      }),
      env: buildEnvironment([], {}),
      cwd: '/',
      argv: ['true'],
      limits: PROBE_LIMITS,
      group,
      firstFreeFd: 3,
    });
    return new Jail(launch, ['ignore', 'ignore', 'pipe']);
  }
}
