import { getPublicSuffix } from 'tldts';
import { normalAddress, notPublic } from './addresses.ts';
import type { NetworkRule, ScopePolicy } from './messages.ts';
import { normalName, shownHost } from './names.ts';
import { allowTarget, deniedBy } from './refusal.ts';

/** Ports of a permission that names none: HTTPS and HTTP. */
const WEB_PORTS: readonly number[] = [443, 80];

/** What a pattern means. */
export interface Pattern {
  readonly name: string;
  /** True: every name below `name`, not the name itself. */
  readonly isWildcard: boolean;
  /** Null: the pattern names no port. */
  readonly port: number | null;
}

export type PatternCheck =
  | { readonly pattern: Pattern; readonly why: null }
  | { readonly pattern: null; readonly why: string };

/**
 * Reads `name`, `*.name`, each with or without `:port`. A wildcard that allows needs a name that one owner holds: anyone can
 * register a name below a public suffix, such as `co.uk` or `github.io`. `why` is a sentence with the text and the fix.
 */
export function parsePattern(text: string, verdict: NetworkRule['verdict']): PatternCheck {
  const [, star, host = '', digits] = /^(\*\.)?([^*:]+)(?::([1-9][0-9]{0,4}))?$/.exec(text) ?? [];
  const port = digits === undefined ? null : Number(digits);
  const shown = shownHost(text);
  if (host === '' || (port !== null && port > 65_535))
    return refused(`${shown} is not a host pattern. Write registry.example.com, *.example.com, or either with :8443.`);
  const { name, why } = normalName(host);
  if (name === null) return refused(`${shown} cannot be a rule: ${why}. Write the name as in registry.example.com.`);
  const isWildcard = star !== undefined;
  if (isWildcard && verdict === 'allow' && isPublicSuffix(name))
    return refused(`${shown} cannot be allowed: anyone can register a name below ${name}. Name the hosts.`);
  return { pattern: { name, isWildcard, port }, why: null };
}

/** True if strangers can own names below it, by the Public Suffix List with its private part. */
export function isPublicSuffix(name: string): boolean {
  return getPublicSuffix(name, { allowPrivateDomains: true }) === name;
}

/** What the rules say about a host and port. */
export interface Verdict {
  readonly isAllowed: boolean;
  /** The pattern that decided; null: no rule names the host. */
  readonly rule: string | null;
  /** Why not, as a clause; '' if it is allowed. */
  readonly why: string;
  /** True if `ctxd network allow HOST[:PORT]` would change it. */
  readonly isAllowable: boolean;
  /** True if a credential that a person binds would change it. */
  readonly isBindable?: boolean;
}

interface CompiledRule extends Pattern {
  readonly source: NetworkRule;
}

/** A policy, read once. Rules that cannot be read are left out and listed in `faults`. */
export interface CompiledPolicy {
  readonly rules: readonly CompiledRule[];
  /** What a tool declares; null for the commands of a project. */
  readonly declared: readonly Pattern[] | null;
  readonly undeclaredWhy: string;
  readonly uploadMaxBytes: number | null;
  readonly faults: readonly string[];
}

const NOT_DECLARED = 'the tool does not declare this host and port in its tool.json';

export const NOTHING_ALLOWED: CompiledPolicy = {
  rules: [],
  declared: null,
  undeclaredWhy: NOT_DECLARED,
  uploadMaxBytes: null,
  faults: [],
};

export function compilePolicy(policy: ScopePolicy): CompiledPolicy {
  const checks = policy.rules.map((source) => ({ source, ...parsePattern(source.pattern, source.verdict) }));
  return {
    rules: checks.flatMap(({ source, pattern }) => (pattern === null ? [] : [{ ...pattern, source }])),
    declared: policy.declared?.flatMap((text) => parsePattern(text, 'deny').pattern ?? []) ?? null,
    undeclaredWhy: policy.undeclaredWhy ?? NOT_DECLARED,
    uploadMaxBytes: policy.uploadMaxBytes,
    faults: checks.flatMap(({ why }) => (why === null ? [] : [why])),
  };
}

/** `name` is in its normal form. A denial wins over every permission. */
export function decide(policy: CompiledPolicy, name: string, port: number, nowMs: number): Verdict {
  const about = rulesAbout(policy, name, nowMs);
  const denial = about.find(({ source, port: only }) => source.verdict === 'deny' && (only === null || only === port));
  if (denial !== undefined) return denied(denial.source.pattern, deniedBy(denial.source.pattern));
  const permissions = about.filter(({ source }) => source.verdict === 'allow');
  const permission = permissions.find((rule) => portsOf(rule).includes(port));
  if (permission !== undefined)
    return { isAllowed: true, rule: permission.source.pattern, why: '', isAllowable: false };
  const [other] = permissions;
  if (other === undefined || !isDeclared(policy, name, port)) return undecided(policy, name, port);
  const why = `port ${port} is not allowed, the rule ${other.source.pattern} is for ${portNames(portsOf(other))}`;
  return { isAllowed: false, rule: other.source.pattern, why, isAllowable: true };
}

/** No rule allows the name; at no port if `port` is null. */
function undecided(policy: CompiledPolicy, name: string, port: number | null): Verdict {
  if (!isDeclared(policy, name, port))
    return { isAllowed: false, rule: null, why: policy.undeclaredWhy, isAllowable: false };
  return { isAllowed: false, rule: null, why: 'no rule of this project allows it', isAllowable: true };
}

/** Whether a permission could hold: always, except for what a tool does not ask for. `port` null: at any port. */
function isDeclared({ declared }: CompiledPolicy, name: string, port: number | null): boolean {
  if (declared === null) return true;
  return declared.some(
    (one) =>
      (one.isWildcard ? name.endsWith(`.${one.name}`) : name === one.name) &&
      (port === null || (one.port === null ? WEB_PORTS.includes(port) : one.port === port)),
  );
}

/** Whether the name is allowed at any port: the local DNS answers for such a name. */
export function decideName(policy: CompiledPolicy, name: string, nowMs: number): Verdict {
  const ports = rulesAbout(policy, name, nowMs).flatMap(portsOf);
  const verdicts = ports.map((port) => decide(policy, name, port, nowMs));
  return verdicts.find(({ isAllowed }) => isAllowed) ?? verdicts[0] ?? undecided(policy, name, null);
}

/** Why a host may not lead to this address, as a clause; '' if it may. `ownAddresses`: those of this machine. */
export function addressFault(
  policy: CompiledPolicy,
  { name, port, nowMs }: { name: string; port: number; nowMs: number },
  address: string,
  ownAddresses: ReadonlySet<string>,
): string {
  const normal = normalAddress(address);
  const what = normal !== null && ownAddresses.has(normal) ? 'an address of this machine' : notPublic(address);
  if (what === null) return '';
  const permits = rulesAbout(policy, name, nowMs).some(
    (rule) =>
      rule.source.verdict === 'allow' &&
      portsOf(rule).includes(port) &&
      (rule.source.anyPrivate || rule.source.privateAddresses.some((listed) => normalAddress(listed) === normal)),
  );
  if (normal === null) return `it leads to ${address}, ${what}`;
  if (permits) return '';
  const remedy = `ctxd network allow ${allowTarget(name, port)} --private ${normal}`;
  return `it leads to ${address}, ${what}, and its rule does not name that address. A person can name it: ${remedy}`;
}

/** True if a rule names the host itself, not with a wildcard. */
export function isNamed(policy: CompiledPolicy, host: string): boolean {
  return policy.rules.some(({ isWildcard, name }) => !isWildcard && name === host);
}

/** The ports at which the names of a policy can be reached. */
export function portsOfPolicy(policy: CompiledPolicy): ReadonlySet<number> {
  return new Set(policy.rules.filter(({ source }) => source.verdict === 'allow').flatMap(portsOf));
}

/** The earliest end of a rule after `nowMs`; null if no rule ends. */
export function nextExpiry(policy: CompiledPolicy, nowMs: number): number | null {
  const ends = policy.rules.flatMap(({ source }) => (source.expiresMs === null ? [] : [source.expiresMs]));
  const coming = ends.filter((end) => end > nowMs);
  return coming.length === 0 ? null : Math.min(...coming);
}

function rulesAbout(policy: CompiledPolicy, name: string, nowMs: number): CompiledRule[] {
  return policy.rules.filter(
    (rule) =>
      (rule.isWildcard ? name.endsWith(`.${rule.name}`) && !isStrangers(name, rule) : name === rule.name) &&
      (rule.source.expiresMs === null || rule.source.expiresMs > nowMs),
  );
}

/** Below `*.example.com` there may be a public suffix again (`s3.example.com`), where strangers own names. */
function isStrangers(name: string, rule: CompiledRule): boolean {
  if (rule.source.verdict !== 'allow') return false;
  return (getPublicSuffix(name, { allowPrivateDomains: true })?.length ?? 0) > rule.name.length;
}

function portsOf({ port, source }: CompiledRule): readonly number[] {
  return port === null ? (source.verdict === 'allow' ? WEB_PORTS : [0]) : [port];
}

function portNames(ports: readonly number[]): string {
  return ports.length === 1 ? `port ${ports[0]}` : `ports ${ports.join(' and ')}`;
}

function denied(rule: string, why: string): Verdict {
  return { isAllowed: false, rule, why, isAllowable: false };
}

function refused(why: string): PatternCheck {
  return { pattern: null, why };
}
