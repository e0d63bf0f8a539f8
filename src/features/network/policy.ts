import { isNetworkGrant, networkTarget } from '../../catalog/grants.ts';
import { type HostGroup, hostGroup } from '../../egress/groups.ts';
import type { NetworkRule, ScopePolicy } from '../../egress/messages.ts';
import { type Pattern, parsePattern } from '../../egress/rules.ts';
import { MACHINE, type StoredRule } from '../../stores/network-rules.ts';

/** A rule of a policy, and what a person wrote. */
export interface PolicyRule extends NetworkRule {
  readonly stored: StoredRule;
}

/** Ports of a permission that names none. */
export const WEB_PORTS: readonly number[] = [443, 80];

/** What the commands of a project may reach. */
export function commandRules(rules: readonly StoredRule[]): PolicyRule[] {
  return rules.map((stored) => toRule(stored, stored.pattern));
}

/**
 * What a tool may reach: what it asks for, because a person granted that with the tool. Rules of a person add the private
 * addresses of what it asks for, and their denials hold for it as they are. `grants` are those of its tool.json.
 */
export function toolRules(grants: readonly string[], rules: readonly StoredRule[]): PolicyRule[] {
  const granted = grantedRules(grants);
  const decided = rules.flatMap((stored) => {
    if (stored.verdict === 'deny') return [toRule(stored, stored.pattern)];
    const allowed = readPattern(stored.pattern);
    if (allowed === null || !(stored.anyPrivate || stored.privateAddresses.length > 0)) return [];
    const both = granted.flatMap(({ pattern }) => intersect(readPattern(pattern) ?? allowed, allowed) ?? []);
    return [...new Set(both.map(patternText))].map((pattern) => toRule(stored, pattern));
  });
  return [...decided, ...granted.map((rule) => toRule(rule, rule.pattern))];
}

/** What a person allowed to the tool itself, by accepting it with these grants. No private address is among it. */
export function grantedRules(grants: readonly string[]): StoredRule[] {
  return grants.filter(isNetworkGrant).flatMap((grant) => {
    const target = networkTarget(grant);
    const group = hostGroup(target) === null ? null : target;
    return patternsOf(target).map((pattern) => ({ ...GRANTED, pattern: patternText(pattern), group }));
  });
}

const GRANTED: Omit<StoredRule, 'pattern' | 'group'> = {
  scope: MACHINE,
  verdict: 'allow',
  privateAddresses: [],
  anyPrivate: false,
  once: false,
  expiresMs: null,
  givenMs: 0,
  givenBy: '',
};

/** The patterns that the grants of a tool name, with the hosts and mirrors of its groups. */
export function declaredBy(grants: readonly string[], mirrorsOf: (group: string) => readonly MirrorHost[]): string[] {
  const targets = grants.filter(isNetworkGrant).map(networkTarget);
  const named = targets.flatMap(patternsOf).map(patternText);
  return [...new Set([...named, ...targets.flatMap(mirrorsOf).map(({ pattern }) => pattern)])];
}

/** A host of a registry that the person's clients are configured for. */
export interface MirrorHost {
  /** As a rule names it. */
  readonly pattern: string;
  /** Addresses that are not public and to which it may lead. */
  readonly privateAddresses: readonly string[];
}

/**
 * The mirrors that permissions for groups include on this machine. A permission ends as the rule does whose group it is.
 * `grants` as above; null for the commands of a project, which ask for everything.
 */
export function mirrorRules(
  grants: readonly string[] | null,
  rules: readonly StoredRule[],
  hostsOf: (group: string) => readonly MirrorHost[],
): PolicyRule[] {
  const asked = grants?.filter(isNetworkGrant).map(networkTarget) ?? null;
  const seen = new Set<string>();
  return rules.flatMap((stored) => {
    const { group, verdict, scope } = stored;
    const key = JSON.stringify([group, verdict, scope, stored.once, stored.expiresMs]);
    if (group === null || seen.has(key) || asked?.includes(group) === false) return [];
    seen.add(key);
    return hostsOf(group).map(({ pattern, privateAddresses }) => ({ ...toRule(stored, pattern), privateAddresses }));
  });
}

/** The policy as the proxy process reads it. */
export function policyOf(rules: readonly PolicyRule[], uploadMaxMb: number): ScopePolicy {
  return {
    rules: rules.map(({ stored: _, ...rule }) => rule),
    uploadMaxBytes: uploadMaxMb === 0 ? null : uploadMaxMb * 1024 * 1024,
  };
}

/** The denial that makes a permission void; null if none does. */
export function denialOf(rule: StoredRule, rules: readonly StoredRule[]): StoredRule | null {
  const allowed = rule.verdict === 'allow' ? readPattern(rule.pattern) : null;
  if (allowed === null) return null;
  const denials = rules.filter(({ verdict }) => verdict === 'deny');
  return (
    denials.find(({ pattern }) => {
      const denied = readPattern(pattern);
      return denied !== null && holds(denied, allowed) && (denied.port === null || denied.port === allowed.port);
    }) ?? null
  );
}

/**
 * The `--once` rules that let a connection pass. One that allows no private address is not used if another rule allows the
 * host anyway.
 */
export function usedOnce(rules: readonly PolicyRule[], { host, port }: { host: string; port: number }): PolicyRule[] {
  const wanted = { name: host, isWildcard: false, port };
  const about = rules.filter(({ pattern, verdict }) => {
    const read = verdict === 'allow' ? readPattern(pattern) : null;
    return read !== null && intersect(read, wanted) !== null;
  });
  const isAllowed = about.some(({ stored }) => !stored.once);
  return about.filter(
    ({ stored, anyPrivate, privateAddresses }) =>
      stored.once && (!isAllowed || anyPrivate || privateAddresses.length > 0),
  );
}

/** The group that has a host at a web port; null if none has. */
export function groupWith(host: string, groups: Readonly<Record<string, HostGroup>>): string | null {
  const wanted = { name: host, isWildcard: false, port: null };
  const found = Object.entries(groups).find(([, { hosts }]) =>
    hosts.some((pattern) => {
      const read = readPattern(pattern);
      return read !== null && read.port === null && holds(read, wanted);
    }),
  );
  return found?.[0] ?? null;
}

export function patternText({ name, isWildcard, port }: Pattern): string {
  return `${isWildcard ? '*.' : ''}${name}${port === null ? '' : `:${port}`}`;
}

/** The names that both patterns cover, at the ports that both cover; null if nothing is covered by both. */
function intersect(a: Pattern, b: Pattern): Pattern | null {
  const narrower = holds(a, b) ? b : holds(b, a) ? a : null;
  if (narrower === null) return null;
  if (a.port === b.port) return { ...narrower, port: a.port };
  const port = a.port ?? b.port;
  const isBoth = (a.port === null || b.port === null) && port !== null && WEB_PORTS.includes(port);
  return isBoth ? { ...narrower, port } : null;
}

/** Whether every name of `inner` is one of `outer`; ports do not count. */
function holds(outer: Pattern, inner: Pattern): boolean {
  if (!outer.isWildcard) return !inner.isWildcard && inner.name === outer.name;
  return inner.name.endsWith(`.${outer.name}`) || (inner.isWildcard && inner.name === outer.name);
}

function patternsOf(target: string): Pattern[] {
  return (hostGroup(target)?.hosts ?? [target]).flatMap((text) => readPattern(text) ?? []);
}

/** Null for a text that is no pattern, which then covers nothing. */
function readPattern(text: string): Pattern | null {
  // A wildcard over a public suffix may be denied, and was refused when it was to be allowed.
  return parsePattern(text, 'deny').pattern;
}

function toRule(stored: StoredRule, pattern: string): PolicyRule {
  const { verdict, privateAddresses, anyPrivate, expiresMs } = stored;
  return { pattern, verdict, privateAddresses, anyPrivate, expiresMs, stored };
}
