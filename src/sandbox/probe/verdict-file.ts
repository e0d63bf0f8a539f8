import { randomBytes } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { isErrno } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import type { Identity } from '../identity.ts';
import type { MachineFacts } from './facts.ts';
import type { Trial, TrialFindings } from './ladder.ts';

/** Raise when what a trial does, or what it finds, changes. */
const FORMAT = 1;
const FILE_MAX_BYTES = 64 * 1024;

type Kind = Identity['kind'];
type PassedTrial = Extract<Trial, { ran: true }>;

/** What a trial was given beside the machine. */
export interface TrialSetup {
  readonly contextdVersion: string;
  /** SHA-256 of the filter; null without one. */
  readonly filterHash: string | null;
  readonly cgroups: 'v1' | 'v2' | null;
}

/** Everything a verdict depends on: when any of it differs, the verdict is another one. */
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
 * The trials that went well under these very dependencies. Empty for a file that is not there, not ours alone, broken,
 * or of anything else: then it is tried again, which is never wrong.
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

/** Replaces the file, 0600. Only trials that went well are kept: a remedy must show at once. False when it cannot be written. */
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

/** The text of a regular file of this user that nobody else can read or write, not reached through a link; else "". */
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
  return findings === null ? null : { ran: true, findings, refusedFilter: value.refusedFilter };
}

function asFindings(value: unknown): TrialFindings | null {
  if (!isJsonObject(value)) return null;
  const { ownNamespaces, filtered, nestable } = value;
  if (!Array.isArray(ownNamespaces) || typeof filtered !== 'boolean' || typeof nestable !== 'boolean') return null;
  const names = ownNamespaces.filter((name) => typeof name === 'string');
  return names.length === ownNamespaces.length ? { ownNamespaces: names, filtered, nestable } : null;
}
