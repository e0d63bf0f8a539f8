import { ContextdError } from '../../core/errors.ts';
import type { SandboxPolicy } from '../contract/policy.ts';
import { type IsolationLayer, type IsolationReport, type LoopbackReport, NO_LOOPBACK } from '../contract/sandbox.ts';
import type { MachineFacts } from '../machine/facts.ts';
import { explainFailure } from '../machine/failures.ts';
import type { Identity } from '../machine/identity.ts';
import {
  missingBubblewrap,
  missingNamespace,
  nestableNamespaces,
  noCgroup,
  noCpuController,
  noSeccomp,
  ROOT_OWNED,
  ROOT_WITHOUT_CGROUP,
  type Shortfall,
  WSL_1,
} from '../machine/remedies.ts';

/** Name of the layer that says whether system calls are filtered. */
export const SECCOMP_LAYER = 'seccomp filter';

/** What a real sandbox found out about itself. */
export interface TrialFindings {
  /** The namespaces of /proc/self/ns that were its own. */
  readonly ownNamespaces: readonly string[];
  /** True if a seccomp filter was in force. */
  readonly filtered: boolean;
  /** True if it could make a user namespace of its own. */
  readonly nestable: boolean;
}

/**
 * The outcome of a trial; `failure` is what it printed on stderr. `refusedFilter`: it ran, but only without the filter.
 * `unshared`: why a second sandbox could not join a network namespace; null if it could.
 */
export type Trial =
  | {
      readonly ran: true;
      readonly findings: TrialFindings;
      readonly refusedFilter: boolean;
      readonly unshared: Shortfall | null;
    }
  | { readonly ran: false; readonly failure: string };

export interface Situation {
  readonly facts: MachineFacts;
  readonly identity: Identity['kind'];
  /** Which cgroups are in use, after a process really joined one. */
  readonly cgroups: 'v1' | 'v2' | null;
  /** Null if nothing was tried. */
  readonly trial: Trial | null;
}

/** If one of these is missing, a tool is not contained. */
const ESSENTIAL = ['user', 'pid', 'net', 'mnt'] as const;
const FURTHER = ['ipc', 'uts', 'cgroup'] as const;
const NAMESPACE_LAYERS: Readonly<Record<(typeof ESSENTIAL | typeof FURTHER)[number], string>> = {
  user: 'user namespace',
  pid: 'pid namespace',
  net: 'network namespace',
  mnt: 'mount namespace',
  ipc: 'ipc namespace',
  uts: 'uts namespace',
  cgroup: 'cgroup namespace',
};

interface LayerVerdict {
  readonly name: string;
  readonly by: string;
  /** Null if the layer is enforced. */
  readonly shortfall: Shortfall | null;
}

/** Pure. Full: every layer is enforced. Reduced: some are not, but tools are contained. Otherwise unavailable. */
export function judge(situation: Situation): IsolationReport {
  const { facts, trial } = situation;
  const version = facts.bubblewrap?.version ?? null;
  const blocked = blockedBy(situation);
  if (blocked !== null || trial === null || !trial.ran) return composeReport(version, blocked, [], NO_LOOPBACK);
  const { findings, refusedFilter, unshared } = trial;
  const loopback = { isShared: unshared === null, why: unshared?.missing ?? null, remedy: unshared?.remedy ?? null };
  return composeReport(version, null, judgeLayers(situation, findings, refusedFilter), loopback);
}

function blockedBy({ facts, identity, cgroups, trial }: Situation): Shortfall | null {
  if (facts.wsl === 1) return WSL_1;
  if (facts.bubblewrap === null) return missingBubblewrap(facts);
  if (identity === 'root' && cgroups === null) return ROOT_WITHOUT_CGROUP;
  if (trial === null) return explainFailure('', facts);
  if (!trial.ran) return explainFailure(trial.failure, facts);
  const absent = ESSENTIAL.find((name) => !trial.findings.ownNamespaces.includes(name));
  return absent === undefined ? null : missingNamespace(absent);
}

function judgeLayers({ facts, identity, cgroups }: Situation, found: TrialFindings, refused: boolean): LayerVerdict[] {
  const namespaces = [...ESSENTIAL, ...FURTHER].map((name) => ({
    name: NAMESPACE_LAYERS[name],
    by: found.ownNamespaces.includes(name) ? 'bubblewrap' : 'nothing',
    shortfall: found.ownNamespaces.includes(name) ? null : missingNamespace(name),
  }));
  return [
    ...namespaces,
    {
      name: 'no namespaces inside',
      by: found.nestable ? 'nothing' : nestingBan(facts, found),
      shortfall: found.nestable ? nestableNamespaces(facts) : null,
    },
    {
      name: SECCOMP_LAYER,
      by: found.filtered ? `contextd's own, for ${facts.arch}` : 'nothing',
      shortfall: found.filtered ? null : noSeccomp(facts, refused),
    },
    ...limitLayers(facts, cgroups),
    {
      name: 'unprivileged user',
      by: identity === 'root' ? 'uid 0 without capabilities, /proc covered' : userOf(identity),
      shortfall: identity === 'root' ? ROOT_OWNED : null,
    },
  ];
}

/** An older bubblewrap cannot ban namespaces; the filter alone is as good. */
function nestingBan({ bubblewrap }: MachineFacts, { filtered }: TrialFindings): string {
  if (bubblewrap?.features.disableUserns !== true)
    return `the seccomp filter (bubblewrap ${bubblewrap?.version} has no ban)`;
  return filtered ? 'bubblewrap and the seccomp filter' : 'bubblewrap';
}

function userOf(identity: Exclude<Identity['kind'], 'root'>): string {
  return identity === 'owner' ? 'the workspace’s owner' : 'the user contextd runs as';
}

function limitLayers(facts: MachineFacts, cgroups: Situation['cgroups']): LayerVerdict[] {
  const none = cgroups === null ? noCgroup(facts) : null;
  const limit = (name: string, otherwise: string): LayerVerdict => ({
    name,
    by: cgroups === null ? otherwise : `cgroup ${cgroups}`,
    shortfall: none,
  });
  return [
    limit(
      'memory limit',
      'a limit for each process, a watchdog over their sum, and a refusal of memory that cannot be counted',
    ),
    limit('pids limit', 'a limit for the user inside, and a watchdog'),
    hasCpuController(facts, cgroups)
      ? limit('cpu limit', 'nothing')
      : { name: 'cpu limit', by: cpuFallback(facts, cgroups), shortfall: none ?? noCpuController(facts) },
    limit('total limit', 'nothing: each sandbox has its own limits only'),
  ];
}

/** The filter keeps a command from choosing other processors only if there is no cgroup. */
function cpuFallback({ taskset }: MachineFacts, cgroups: Situation['cgroups']): string {
  return cgroups === null && taskset ? 'all sandboxes share a fixed set of fewer processors' : 'nothing';
}

function hasCpuController({ cgroup }: MachineFacts, cgroups: Situation['cgroups']): boolean {
  if (cgroups === null) return false;
  return cgroups === 'v1' ? cgroup.v1?.cpu === true : cgroup.v2?.controllers.includes('cpu') === true;
}

/** The report from what is missing: nothing is `full`; `blocked` is `unavailable`, without layers. */
export function composeReport(
  version: string | null,
  blocked: Shortfall | null,
  layers: readonly LayerVerdict[],
  loopback: LoopbackReport,
): IsolationReport {
  const found = blocked === null ? layers.flatMap(({ shortfall }) => shortfall ?? []) : [blocked];
  const shortfalls = [...new Map(found.map((one) => [one.missing, one])).values()];
  return {
    level: blocked !== null ? 'unavailable' : shortfalls.length === 0 ? 'full' : 'reduced',
    missing: shortfalls.map((one) => one.missing),
    remedy: shortfalls.length === 0 ? null : shortfalls.map((one) => one.remedy).join(' '),
    backend: version === null ? 'none' : 'bubblewrap',
    version,
    layers: blocked === null ? layers.map(shownLayer) : [],
    loopback,
  };
}

function shownLayer({ name, by, shortfall }: LayerVerdict): IsolationLayer {
  return { name, by, enforced: shortfall === null, remedy: shortfall?.remedy ?? null };
}

/** Throws SANDBOX_UNAVAILABLE, with the remedy, if a policy requires more than the machine can do. */
export function checkEnough(report: IsolationReport, minIsolation: SandboxPolicy['minIsolation']): void {
  if (report.level === 'full' || (report.level === 'reduced' && minIsolation === 'reduced')) return;
  const wanted = report.level === 'reduced' ? ', but full isolation is required' : '';
  throw new ContextdError(
    'SANDBOX_UNAVAILABLE',
    `isolation is ${report.level}${wanted}; missing: ${report.missing.join(', ')}`,
    {
      ...(report.remedy === null ? {} : { remedy: report.remedy }),
      details: { level: report.level, min_isolation: minIsolation },
    },
  );
}
