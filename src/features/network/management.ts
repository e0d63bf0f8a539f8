import type { Catalog } from '../../catalog/catalog.ts';
import { isNetworkGrant, networkTarget } from '../../catalog/grants.ts';
import type { Clock } from '../../core/clock.ts';
import { ContextdError } from '../../core/errors.ts';
import { normalAddress } from '../../egress/addresses.ts';
import { HOST_GROUPS, hostGroup } from '../../egress/groups.ts';
import { parsePattern } from '../../egress/rules.ts';
import type {
  NetworkChange__Output as NetworkChange,
  NetworkLogEntry__Output as NetworkLogEntry,
  NetworkRuleInfo__Output as NetworkRuleInfo,
  NetworkState__Output as NetworkState,
  NetworkToolInfo__Output as NetworkToolInfo,
} from '../../protocol/generated/management.ts';
import type { Management } from '../../protocol/management-contract.ts';
import type { LoggedConnection, NetworkLog } from '../../stores/network-log.ts';
import { MACHINE, type NetworkRules, type NewRule, type StoredRule } from '../../stores/network-rules.ts';
import type { ProjectStore } from '../../stores/projects.ts';
import type { NetworkJournal } from './journal.ts';
import type { Network } from './network.ts';
import { denialOf, patternText, toolRules } from './policy.ts';

export interface NetworkManagementDeps {
  rules: NetworkRules;
  log: NetworkLog;
  journal: Pick<NetworkJournal, 'flush'>;
  network: Pick<Network, 'changed' | 'removed' | 'forget' | 'isOn' | 'rulesFor' | 'mirrorsOf'>;
  projects: Pick<ProjectStore, 'find'>;
  catalog: Pick<Catalog, 'versions'>;
  clock: Clock;
}

type NetworkManagement = Pick<Management, 'changeNetwork' | 'listNetwork' | 'listNetworkGroups' | 'readNetworkLog'>;

/** How `private_addresses` says that every address is allowed. */
const ANY = 'any';

/** What a person decides about the network. Nothing else reaches these methods: they take the certificate of ctxd. */
export function createNetworkManagement(deps: NetworkManagementDeps): NetworkManagement {
  return {
    async changeNetwork(request) {
      return CHANGES[actionOf(request)](request, deps);
    },
    async listNetwork({ root }) {
      return stateOf(root, deps);
    },
    listNetworkGroups: async () => ({
      groups: Object.entries(HOST_GROUPS).map(([name, { what, hosts }]) => ({
        name,
        summary: what,
        patterns: [...hosts],
        mirrors: deps.network.mirrorsOf(name).map(({ pattern }) => pattern),
      })),
    }),
    async readNetworkLog({ root, session, denied_only, after_id, limit }) {
      await deps.journal.flush();
      const query = { project: root, session, deniedOnly: denied_only, afterId: after_id, limit };
      return { entries: (await deps.log.read(query)).map(entryOf) };
    },
  };
}

type Change = (request: NetworkChange, deps: NetworkManagementDeps) => Promise<NetworkState>;

const CHANGES = { allow: add, deny: add, remove, on: turn, off: turn } as const satisfies Record<string, Change>;

function actionOf({ action }: NetworkChange): keyof typeof CHANGES {
  const known = (Object.keys(CHANGES) as (keyof typeof CHANGES)[]).find((one) => one === action);
  if (known !== undefined) return known;
  throw invalid(`${JSON.stringify(action)} is not one of ${Object.keys(CHANGES).join(', ')}`, 'Use one of them.');
}

/**
 * Allows or denies names and groups. What a person decides for good replaces the opposite of it; what is for a time or for
 * one call replaces nothing that is wider, and a denial that is there goes on to win.
 */
async function add(request: NetworkChange, deps: NetworkManagementDeps): Promise<NetworkState> {
  const { root, dry_run: isDryRun } = request;
  const wanted = wantedRules(request, deps.clock.now());
  const known = deps.rules.list(root);
  const replacedBy = (rule: NewRule): StoredRule[] =>
    rule.once || rule.expiresMs !== null
      ? []
      : known.filter((before) => isAboutTheSame(before, rule) && before.verdict !== rule.verdict);
  const isNew = (rule: NewRule): boolean =>
    replacedBy(rule).length > 0 || !known.some((before) => isAboutTheSame(before, rule) && isAsWide(before, rule));
  const changed = wanted.filter(isNew);
  const replaced = changed.flatMap(replacedBy);
  const added = changed.map((rule) => ({ ...rule, scope: root, givenMs: deps.clock.now() }));
  const present = deps.network.rulesFor(root).filter((rule) => !replaced.includes(rule));
  const wider = wanted.flatMap((rule) => widerNote(rule, known));
  const notes = [...wider, ...notesOn(added, present), ...offNote(root, deps)];
  if (!isDryRun && changed.length > 0) {
    await deps.rules.set(root, changed);
    if (replaced.length > 0) await deps.rules.remove(root, replaced);
    deps.network.changed(root);
  }
  return stateOf(root, deps, { changed: added, notes });
}

function wantedRules(request: NetworkChange, nowMs: number): NewRule[] {
  const { targets, once, for_ms: forMs, by } = request;
  const verdict = request.action === 'deny' ? 'deny' : 'allow';
  if (targets.length === 0)
    throw invalid('no host and no group is named', 'Name one; `ctxd network groups` lists them.');
  const addresses = addressesOf(request, verdict);
  if (once && verdict === 'deny') throw invalid('a denial cannot be for one call', 'Leave out --once.');
  const common = {
    verdict,
    ...addresses,
    once,
    expiresMs: forMs === 0 ? null : nowMs + forMs,
    givenBy: by,
  } as const;
  const rules = targets.flatMap((target): NewRule[] => {
    const group = hostGroup(target);
    if (group === null) return [{ ...common, pattern: normalPattern(target, verdict), group: null }];
    if (addresses.anyPrivate || addresses.privateAddresses.length > 0)
      throw invalid(`${target} is a group, whose hosts are public`, 'Name the host of the private address.');
    return group.hosts.map((pattern) => ({ ...common, pattern, group: target }));
  });
  return [...new Map(rules.map((rule) => [`${rule.pattern} ${rule.group}`, rule])).values()];
}

function addressesOf(
  { private_addresses: given }: NetworkChange,
  verdict: 'allow' | 'deny',
): { privateAddresses: string[]; anyPrivate: boolean } {
  if (given.length > 0 && verdict === 'deny') throw invalid('a denial holds for every address', 'Leave out --private.');
  if (given.includes(ANY)) return { privateAddresses: [], anyPrivate: true };
  const privateAddresses = given.map((text) => {
    const address = normalAddress(text);
    if (address !== null) return address;
    throw invalid(`${JSON.stringify(text)} is not an IP address`, 'Pass one such as 10.1.2.3, or any.');
  });
  return { privateAddresses, anyPrivate: false };
}

function normalPattern(target: string, verdict: 'allow' | 'deny'): string {
  // A mistyped group must not become a host.
  if (/^[\w-]+$/.test(target)) {
    throw new ContextdError('NOT_FOUND', `${target} is not a group, and a host has a dot in its name`, {
      remedy: `The groups are ${Object.keys(HOST_GROUPS).join(', ')}. A host of the local network is written with a port.`,
    });
  }
  const { pattern, why } = parsePattern(target, verdict);
  if (pattern === null) throw new ContextdError('ARGS_INVALID', why);
  return patternText(pattern);
}

function isAboutTheSame(one: NewRule, other: NewRule): boolean {
  return one.pattern === other.pattern && one.group === other.group;
}

/** Whether a rule that is there allows or denies all that the new one does. */
function isAsWide(before: StoredRule, rule: NewRule): boolean {
  const isSame = before.verdict === rule.verdict && (!before.once || rule.once);
  const lasts = before.expiresMs === null || (rule.expiresMs !== null && before.expiresMs >= rule.expiresMs);
  const reaches =
    before.anyPrivate ||
    (!rule.anyPrivate && rule.privateAddresses.every((address) => before.privateAddresses.includes(address)));
  return isSame && lasts && reaches;
}

/** Why a rule for a time or for one call changes nothing: an earlier one holds for longer. */
function widerNote(rule: NewRule, known: readonly StoredRule[]): string[] {
  const wider = known.find((before) => isAboutTheSame(before, rule) && isAsWide(before, rule));
  if (wider === undefined || (!rule.once && rule.expiresMs === null)) return [];
  if (wider.once === rule.once && wider.expiresMs === rule.expiresMs) return [];
  const word = rule.verdict === 'allow' ? 'allowed' : 'denied';
  const until = wider.expiresMs === null ? 'without an end' : `until ${new Date(wider.expiresMs).toISOString()}`;
  const target = rule.group ?? rule.pattern;
  return [`${rule.pattern} is ${word} ${until} already, which stays. For less, first: ctxd network remove ${target}`];
}

function notesOn(added: readonly StoredRule[], present: readonly StoredRule[]): string[] {
  return added.flatMap((rule) => {
    const denial = denialOf(rule, present);
    const { pattern } = rule;
    return [
      ...(rule.verdict === 'allow' && pattern.startsWith('*.')
        ? [`${pattern} is every name below ${pattern.slice(2).split(':')[0]}.`]
        : []),
      ...(rule.anyPrivate ? [`${pattern} may lead to any private address, also to services of this machine.`] : []),
      ...(denial === null
        ? []
        : [`${pattern} stays denied by ${denial.pattern}: ctxd network remove ${denial.pattern}`]),
    ];
  });
}

function offNote(root: string, { network }: NetworkManagementDeps): string[] {
  if (root === MACHINE || network.isOn(root)) return [];
  return ['The network of this project is off: ctxd network on'];
}

async function remove(request: NetworkChange, deps: NetworkManagementDeps): Promise<NetworkState> {
  const { root, targets, dry_run: isDryRun } = request;
  const known = deps.rules.list(root);
  const gone = targets.flatMap((target) => {
    const found = known.filter(({ pattern, group }) => group === target || (group === null && pattern === target));
    const ofGroup = found.length > 0 ? found : known.filter(({ pattern }) => pattern === target);
    if (ofGroup.length > 0) return ofGroup;
    const where = root === MACHINE ? 'for the machine' : `for ${root}`;
    throw new ContextdError('NOT_FOUND', `nothing decides about ${target} ${where}`, {
      remedy: 'See `ctxd network list`.',
    });
  });
  const changed = [...new Set(gone)];
  if (!isDryRun) {
    await deps.rules.remove(root, changed);
    deps.network.removed(root, changed);
  }
  return stateOf(root, deps, { changed, notes: [] });
}

async function turn({ root, action, dry_run: isDryRun }: NetworkChange, deps: NetworkManagementDeps) {
  if (root === MACHINE)
    throw invalid('the machine is set in config.json', `Run ctxd config set network.default ${action}.`);
  if (!isDryRun) {
    await deps.rules.setOn(root, action === 'on');
    deps.network.changed(root);
  }
  return stateOf(root, deps);
}

async function stateOf(
  root: string,
  deps: NetworkManagementDeps,
  found: { changed: readonly StoredRule[]; notes: readonly string[] } = { changed: [], notes: [] },
): Promise<NetworkState> {
  const { rules, network } = deps;
  const held = network.rulesFor(root);
  return {
    root,
    is_on: network.isOn(root),
    is_on_from: rules.isOn(root) === null ? 'machine' : 'project',
    rules: held.map((rule) => infoOf(rule, held)),
    changed: found.changed.map((rule) => infoOf(rule, held)),
    notes: [...found.notes],
    tools: root === MACHINE ? [] : await toolsOf(root, held, deps),
  };
}

function infoOf(rule: StoredRule, held: readonly StoredRule[]): NetworkRuleInfo {
  return {
    from: rule.scope === MACHINE ? 'machine' : 'project',
    pattern: rule.pattern,
    verdict: rule.verdict,
    group: rule.group ?? '',
    once: rule.once,
    expires_ms: rule.expiresMs ?? 0,
    private_addresses: rule.anyPrivate ? [ANY] : [...rule.privateAddresses],
    given_ms: rule.givenMs,
    given_by: rule.givenBy,
    overridden_by: denialOf(rule, held)?.pattern ?? '',
  };
}

async function toolsOf(
  root: string,
  held: readonly StoredRule[],
  { projects, catalog }: NetworkManagementDeps,
): Promise<NetworkToolInfo[]> {
  const accepted = (await projects.find(root))?.tools ?? [];
  return accepted.flatMap(({ name, grants }) => {
    const asked = grants.filter(isNetworkGrant);
    if (asked.length === 0 || catalog.versions(name).length === 0) return [];
    const reachable = toolRules(asked, held).filter(
      ({ verdict, pattern, stored }) => verdict === 'allow' && denialOf({ ...stored, pattern }, held) === null,
    );
    const may = reachable.map(({ pattern }) => pattern);
    return [{ tool: name, asks_for: asked.map(networkTarget), may_reach: [...new Set(may)] }];
  });
}

function entryOf(row: LoggedConnection): NetworkLogEntry {
  const { id, project, tool, session, host, port, via, rule, why, up, down, repeats, durationMs } = row;
  return {
    id,
    at_ms: row.atMs,
    project,
    tool,
    session,
    request_id: row.requestId,
    host,
    port,
    via,
    rule,
    why,
    up,
    down,
    verdict: !row.isAllowed ? 'denied' : why === '' ? 'allowed' : 'cut',
    repeats,
    ...(durationMs === null ? {} : { duration_ms: durationMs }),
  };
}

function invalid(message: string, remedy: string): ContextdError {
  return new ContextdError('ARGS_INVALID', message, { remedy });
}
