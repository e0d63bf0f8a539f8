import { createHash } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../core/clock.ts';
import { PACKAGE_VERSION } from '../../protocol/versions.ts';
import type { Identity } from '../identity.ts';
import type { IsolationReport } from '../sandbox.ts';
import { gatherFacts, type MachineFacts } from './facts.ts';
import { judge, type Trial } from './ladder.ts';
import { type TrialHost, tryOut } from './trial.ts';
import { dependenciesOf, readVerdicts, writeVerdicts } from './verdict-file.ts';

/** The unprivileged user a root daemon is probed with. */
const NOBODY: Identity = { kind: 'owner', uid: 65534, gid: 65534 };
/** Milliseconds a verdict is believed before what it depends on is looked at again, or before another try. */
const FRESH_MS = 5_000;

export interface IsolationDeps {
  /** Which cgroups were opened. */
  readonly cgroups: 'v1' | 'v2' | null;
  /** The file of verdicts; a directory of the daemon alone. */
  readonly verdictFile: string;
  /** SHA-256 of the filter that is tried; null without one. */
  readonly filterHash: string | null;
  readonly clock: Clock;
  gather(): MachineFacts;
  tryOut(identity: Identity): Promise<Trial>;
}

interface Verdict {
  readonly dependencies: string;
  readonly trial: Trial;
  readonly report: IsolationReport;
  atMs: number;
}

/** How well this machine isolates, found by really running a sandbox with every flag; once for each kind of user inside. */
export class Isolation {
  readonly #deps: IsolationDeps;
  readonly #verdicts = new Map<Identity['kind'], Verdict>();
  readonly #underWay = new Map<Identity['kind'], Promise<IsolationReport>>();

  /** For a real host. `filter` is the seccomp filter every sandbox gets at least; null where none can be made. */
  static ofHost(host: TrialHost & { readonly sandboxDir: string }, filter: Buffer | null, clock: Clock): Isolation {
    const seccompFile = filter === null ? null : writeFilter(host.sandboxDir, filter);
    return new Isolation({
      cgroups: host.cgroups?.kind ?? null,
      verdictFile: join(host.sandboxDir, 'probe.json'),
      filterHash: filter === null ? null : createHash('sha256').update(filter).digest('hex'),
      clock,
      gather: () => gatherFacts(host.bubblewrap),
      tryOut: (identity) => tryOut(host, identity, seccompFile),
    });
  }

  constructor(deps: IsolationDeps) {
    this.#deps = deps;
  }

  /** The report where there is no bubblewrap. */
  static none(facts: MachineFacts = gatherFacts(null)): IsolationReport {
    return judge({ facts, identity: 'self', cgroups: null, trial: null });
  }

  /** For an ordinary workspace, whoever owns it. */
  ofMachine(): Promise<IsolationReport> {
    return this.of(process.getuid?.() === 0 ? NOBODY : { kind: 'self' });
  }

  of(identity: Identity): Promise<IsolationReport> {
    const known = this.#verdicts.get(identity.kind);
    if (known !== undefined && this.#deps.clock.monotonic() - known.atMs < FRESH_MS)
      return Promise.resolve(known.report);
    const underWay = this.#underWay.get(identity.kind);
    if (underWay !== undefined) return underWay;
    const renewed = this.#renew(identity, known).finally(() => this.#underWay.delete(identity.kind));
    this.#underWay.set(identity.kind, renewed);
    return renewed;
  }

  /** A verdict that failed is tried again: a remedy shows without a restart. */
  async #renew(identity: Identity, known: Verdict | undefined): Promise<IsolationReport> {
    const { cgroups, filterHash } = this.#deps;
    const facts = this.#deps.gather();
    const dependencies = dependenciesOf(facts, { contextdVersion: PACKAGE_VERSION, filterHash, cgroups });
    const stillHolds = known?.trial.ran === true && known.dependencies === dependencies;
    const trial = stillHolds ? known.trial : await this.#find(identity, facts, dependencies);
    const report = judge({ facts, identity: identity.kind, cgroups, trial });
    this.#verdicts.set(identity.kind, { dependencies, trial, report, atMs: this.#deps.clock.monotonic() });
    return report;
  }

  async #find(identity: Identity, facts: MachineFacts, dependencies: string): Promise<Trial> {
    const { verdictFile, cgroups } = this.#deps;
    if (facts.wsl === 1) return { ran: false, failure: '' };
    // Without a pids cgroup nothing bounds uid 0, so not even this is tried.
    if (identity.kind === 'root' && cgroups === null) return { ran: false, failure: '' };
    const kept = readVerdicts(verdictFile, dependencies);
    const before = kept.get(identity.kind);
    if (before !== undefined) return before;
    const trial = await this.#deps.tryOut(identity);
    if (trial.ran) writeVerdicts(verdictFile, dependencies, kept.set(identity.kind, trial));
    return trial;
  }
}

/** Renamed into place: one that another sandbox is reading stays whole. */
function writeFilter(sandboxDir: string, filter: Buffer): string {
  const path = join(sandboxDir, 'probe.bpf');
  writeFileSync(`${path}.new`, filter, { mode: 0o600 });
  renameSync(`${path}.new`, path);
  return path;
}
