import { createHash, randomBytes } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../core/clock.ts';
import { isErrno } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import { PACKAGE_VERSION } from '../../protocol/versions.ts';
import type { IsolationReport } from '../contract/sandbox.ts';
import type { OwnProgramHost } from '../jail/own-program.ts';
import { collectFacts, type MachineFacts } from '../machine/facts.ts';
import type { Identity } from '../machine/identity.ts';
import { judge, type Trial, type TrialFindings } from './ladder.ts';
import { tryOut } from './trial.ts';

/** The unprivileged user for a root daemon's probe. */
const NOBODY: Identity = { kind: 'owner', uid: 65534, gid: 65534 };
/** Milliseconds until a verdict is checked again, or a failed trial is repeated. */
const FRESH_MS = 5_000;

export interface IsolationDeps {
  /** Which cgroups were opened. */
  readonly cgroups: 'v1' | 'v2' | null;
  /** The file of verdicts, in a directory that only the daemon can enter. */
  readonly verdictFile: string;
  /** SHA-256 of the filter that is tried; null without a filter. */
  readonly filterHash: string | null;
  readonly clock: Clock;
  collect(): MachineFacts;
  tryOut(identity: Identity): Promise<Trial>;
}

interface Verdict {
  readonly dependencies: string;
  readonly trial: Trial;
  readonly report: IsolationReport;
  atMs: number;
}

/**
 * How well this machine isolates. Found by running a real sandbox with every flag, once for each kind of user inside.
 */
export class Isolation {
  readonly #deps: IsolationDeps;
  readonly #verdicts = new Map<Identity['kind'], Verdict>();
  readonly #underWay = new Map<Identity['kind'], Promise<IsolationReport>>();

  /** For a real host. `filter` is the least that every sandbox gets; null if no filter can be made. */
  static ofHost(
    host: OwnProgramHost & { readonly sandboxDir: string },
    filter: Buffer | null,
    clock: Clock,
  ): Isolation {
    const seccompFile = filter === null ? null : writeFilter(host.sandboxDir, filter);
    return new Isolation({
      cgroups: host.cgroups?.kind ?? null,
      verdictFile: join(host.sandboxDir, 'probe.json'),
      filterHash: filter === null ? null : createHash('sha256').update(filter).digest('hex'),
      clock,
      collect: () => collectFacts(host.bubblewrap),
      tryOut: (identity) => tryOut(host, identity, seccompFile),
    });
  }

  constructor(deps: IsolationDeps) {
    this.#deps = deps;
  }

  /** The report if bubblewrap is not installed. */
  static none(facts: MachineFacts = collectFacts(null)): IsolationReport {
    return judge({ facts, identity: 'self', cgroups: null, trial: null });
  }

  /** For an ordinary workspace, of any owner. */
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

  /** A failed trial is repeated, so that a fix takes effect without a restart. */
  async #renew(identity: Identity, known: Verdict | undefined): Promise<IsolationReport> {
    const { cgroups, filterHash } = this.#deps;
    const facts = this.#deps.collect();
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
    // Without a pids cgroup nothing limits uid 0, so not even the trial runs.
    if (identity.kind === 'root' && cgroups === null) return { ran: false, failure: '' };
    const kept = readVerdicts(verdictFile, dependencies);
    const before = kept.get(identity.kind);
    if (before !== undefined) return before;
    const trial = await this.#deps.tryOut(identity);
    // A namespace that cannot be joined is tried again by the next daemon, so that a fix takes effect.
    if (trial.ran && trial.unshared === null) writeVerdicts(verdictFile, dependencies, kept.set(identity.kind, trial));
    return trial;
  }
}

/** Renamed into place, so that a sandbox that reads the old file gets it whole. */
function writeFilter(sandboxDir: string, filter: Buffer): string {
  const path = join(sandboxDir, 'probe.bpf');
  writeFileSync(`${path}.new`, filter, { mode: 0o600 });
  renameSync(`${path}.new`, path);
  return path;
}

/** Increase this if the trial or its findings change. */
const FORMAT = 2;
const FILE_MAX_BYTES = 64 * 1024;

type Kind = Identity['kind'];
type PassedTrial = Extract<Trial, { ran: true }>;

/** What a trial depends on, besides the machine. */
interface TrialSetup {
  readonly contextdVersion: string;
  /** SHA-256 of the filter; null without a filter. */
  readonly filterHash: string | null;
  readonly cgroups: 'v1' | 'v2' | null;
}

/** Everything a verdict depends on: if any of it changes, the trial runs again. */
export function dependenciesOf(facts: MachineFacts, setup: TrialSetup): string {
  const { bubblewrap, kernel, arch, uid, sysctls, cgroup, container, wsl } = facts;
  const groups = { v1: cgroup.v1, v2: cgroup.v2 };
  return JSON.stringify({
    format: FORMAT,
    ...setup,
    bubblewrap: bubblewrap && [
      bubblewrap.path,
      bubblewrap.version,
      bubblewrap.mtimeMs,
      bubblewrap.size,
      bubblewrap.mode,
    ],
    kernel,
    arch,
    uid,
    sysctls,
    groups,
    container,
    wsl,
  });
}

/**
 * The successful trials with exactly these dependencies. Empty if the file is missing, readable by others, broken, or
 * has other dependencies: then the trial runs again, which is always safe.
 */
export function readVerdicts(path: string, dependencies: string): Map<Kind, PassedTrial> {
  const value = parse(readPrivate(path));
  if (!isJsonObject(value) || value.dependencies !== dependencies || !isJsonObject(value.trials)) return new Map();
  return new Map(
    Object.entries(value.trials).flatMap(([kind, trial]) => {
      const passed = asTrial(trial);
      return isKind(kind) && passed !== null ? [[kind, passed] as const] : [];
    }),
  );
}

/**
 * Replaces the file, mode 0600. Keeps only successful trials, so that a fix takes effect at once. Returns false if the
 * file cannot be written.
 */
export function writeVerdicts(path: string, dependencies: string, trials: ReadonlyMap<Kind, PassedTrial>): boolean {
  const draft = `${path}.${randomBytes(4).toString('hex')}`;
  try {
    writeFileSync(draft, `${JSON.stringify({ dependencies, trials: Object.fromEntries(trials) })}\n`, {
      mode: 0o600,
      flag: 'wx',
    });
    renameSync(draft, path);
    return true;
  } catch (cause) {
    rmSync(draft, { force: true });
    if (isErrno(cause)) return false;
    throw cause;
  }
}

/**
 * The text of a regular file of this user that nobody else can read or write and that is not behind a link; otherwise
 * "".
 */
function readPrivate(path: string): string {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (cause) {
    if (isErrno(cause)) return '';
    throw cause;
  }
  try {
    const stats = fstatSync(fd);
    const ours = stats.isFile() && stats.uid === process.getuid?.() && (stats.mode & 0o077) === 0;
    return ours && stats.size <= FILE_MAX_BYTES ? readFileSync(fd, 'utf8') : '';
  } finally {
    closeSync(fd);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function isKind(text: string): text is Kind {
  return text === 'self' || text === 'owner' || text === 'root';
}

function asTrial(value: unknown): PassedTrial | null {
  if (!isJsonObject(value) || value.ran !== true || typeof value.refusedFilter !== 'boolean') return null;
  const findings = asFindings(value.findings);
  return findings === null ? null : { ran: true, findings, refusedFilter: value.refusedFilter, unshared: null };
}

function asFindings(value: unknown): TrialFindings | null {
  if (!isJsonObject(value)) return null;
  const { ownNamespaces, filtered, nestable } = value;
  if (!Array.isArray(ownNamespaces) || typeof filtered !== 'boolean' || typeof nestable !== 'boolean') return null;
  const names = ownNamespaces.filter((name) => typeof name === 'string');
  return names.length === ownNamespaces.length ? { ownNamespaces: names, filtered, nestable } : null;
}
