import { posix } from 'node:path';
import { domainToASCII } from 'node:url';
import { invisibleIn } from '../core/invisible.ts';
import type { Json } from '../core/json.ts';
import { SANDBOX_MEMORY_DEFAULT_MB, SANDBOX_PIDS_DEFAULT, TIMEOUT_LONGEST_MS } from '../core/limits.ts';
import { GRANTS, type Grant, type ToolLimits } from '../core/profile.ts';
import { faultOfName } from '../core/variable-names.ts';

/** Permission to reach one host (`network:registry.example.com`), or a named group of hosts (`network:npm`). */
export type NetworkGrant = `${typeof NETWORK_PREFIX}${string}`;

/** Permission to read a path outside the project (`path:/srv/data`), or to read and change it (`path:/srv/data:rw`). */
export type PathGrant = `${typeof PATH_PREFIX}${string}`;

/** Permission to see a variable that a person set for tools (`env:CITY_API`). */
export type EnvGrant = `${typeof ENV_PREFIX}${string}`;

/** Permission for more than usual of a resource (`limits:memory_mb=4096`). Asked for by `limits` of tool.json. */
export type LimitGrant = `${typeof LIMITS_PREFIX}${keyof typeof USUAL_LIMITS}=${number}`;

/** What a tool may ask for in tool.json. */
export type ToolGrant = Grant | NetworkGrant | PathGrant | EnvGrant | LimitGrant;

const NETWORK_PREFIX = 'network:';
const PATH_PREFIX = 'path:';
const ENV_PREFIX = 'env:';
const LIMITS_PREFIX = 'limits:';
const WRITABLE_SUFFIX = ':rw';

/** What a tool has of a resource without asking, unless a person configured less. */
export const USUAL_LIMITS = {
  memory_mb: SANDBOX_MEMORY_DEFAULT_MB,
  pids: SANDBOX_PIDS_DEFAULT,
  timeout_ms: TIMEOUT_LONGEST_MS,
} as const;

const PATH_MAX_CHARS = 1_024;
const FORMS = '"network:HOST", "path:/DIRECTORY", "path:/DIRECTORY:rw" or "env:NAME"';
/** Characters of a value that a message quotes. */
const QUOTED_MAX_CHARS = 100;

const GROUP = /^[a-z][a-z0-9_-]{0,31}$/;
const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;
const HOST_MAX_CHARS = 253;
/** The WHATWG rule: a host whose last label is a number is an IPv4 address in one of its spellings. */
const NUMERIC_LABEL = /^(\d+|0x[0-9a-f]*)$/;

const NO_ADDRESS = 'an address of numbers cannot be granted; write the name of the host';
const HOST_FORM =
  'write the host in lower case and ASCII, without scheme or path, as in "network:registry.example.com" or "network:git.example.com:22"';

/** Reads `grants` of tool.json. Adds a sentence to `faults` for each value that cannot be granted. */
export function parseGrants(value: Json | undefined, faults: string[]): ToolGrant[] {
  if (!Array.isArray(value)) {
    faults.push(`"grants" must be a list of ${GRANTS.join(', ')}, ${FORMS}`);
    return [];
  }
  const grants = value.map((item: Json) => parseGrant(item, faults)).filter((grant) => grant !== null);
  const subjects = grants.map((grant) => (isPathGrant(grant) ? `${PATH_PREFIX}${pathOf(grant).path}` : grant));
  if (new Set(subjects).size < grants.length) faults.push('"grants" names a grant twice');
  return grants;
}

/** The grants that `limits` of tool.json ask for: each that is above the usual one. */
export function limitGrants({ memoryMb = 0, pids = 0, timeoutMs = 0 }: ToolLimits): LimitGrant[] {
  const wanted = { memory_mb: memoryMb, pids, timeout_ms: timeoutMs };
  return LIMIT_NAMES.filter((name) => wanted[name] > USUAL_LIMITS[name]).map(
    (name): LimitGrant => `${LIMITS_PREFIX}${name}=${wanted[name]}`,
  );
}

const LIMIT_NAMES = ['memory_mb', 'pids', 'timeout_ms'] as const satisfies readonly (keyof typeof USUAL_LIMITS)[];

/** What grants allow outside the project and beyond the usual limits. Grants of other kinds are ignored. */
export interface ToolAccess {
  paths: { path: string; isWritable: boolean }[];
  /** Names. */
  variables: string[];
  limits: Partial<Record<keyof typeof USUAL_LIMITS, number>>;
}

/** Reads grants as a person accepted them. */
export function accessOf(grants: readonly string[]): ToolAccess {
  const limits = grants.filter(isLimitGrant).map((grant) => grant.slice(LIMITS_PREFIX.length).split('='));
  return {
    paths: grants.filter(isPathGrant).map(pathOf),
    variables: grants.filter(isEnvGrant).map((grant) => grant.slice(ENV_PREFIX.length)),
    limits: Object.fromEntries(limits.map(([name, value]) => [name, Number(value)])),
  };
}

export function isNetworkGrant(grant: string): grant is NetworkGrant {
  return grant.startsWith(NETWORK_PREFIX);
}

/** The host pattern or the group that a network grant names. */
export function networkTarget(grant: NetworkGrant): string {
  return grant.slice(NETWORK_PREFIX.length);
}

function isPathGrant(grant: string): grant is PathGrant {
  return grant.startsWith(PATH_PREFIX);
}

function isEnvGrant(grant: string): grant is EnvGrant {
  return grant.startsWith(ENV_PREFIX);
}

function isLimitGrant(grant: string): grant is LimitGrant {
  return grant.startsWith(LIMITS_PREFIX);
}

function pathOf(grant: PathGrant): { path: string; isWritable: boolean } {
  const isWritable = grant.endsWith(WRITABLE_SUFFIX);
  return { path: grant.slice(PATH_PREFIX.length, isWritable ? -WRITABLE_SUFFIX.length : undefined), isWritable };
}

function parseGrant(item: Json, faults: string[]): ToolGrant | null {
  const known = GRANTS.find((grant) => grant === item);
  if (known !== undefined) return known;
  const shown = JSON.stringify(item)?.slice(0, QUOTED_MAX_CHARS);
  const fault = typeof item === 'string' ? faultOf(item) : NO_FORM;
  if (fault === null && typeof item === 'string') return item as ToolGrant;
  faults.push(`"grants" has ${shown}: ${fault}`);
  return null;
}

const NO_FORM = `use one of ${GRANTS.join(', ')}, ${FORMS}`;

/** What is wrong with a grant that names something, and how to write it; null if nothing is. */
function faultOf(grant: string): string | null {
  if (isNetworkGrant(grant)) return faultOfTarget(networkTarget(grant));
  if (isPathGrant(grant)) return faultOfPath(pathOf(grant).path);
  if (isEnvGrant(grant)) return faultOfVariable(grant.slice(ENV_PREFIX.length));
  return isLimitGrant(grant) ? 'ask for resources in "limits", as in "limits": {"memory_mb": 4096}' : NO_FORM;
}

function faultOfPath(path: string): string | null {
  const isPlain = !path.includes(':') && invisibleIn(path) === null && path.length <= PATH_MAX_CHARS;
  if (path !== '/' && path.startsWith('/') && isPlain && posix.normalize(path) === path && !path.endsWith('/'))
    return null;
  return 'write an absolute path of characters that print, without "..", "//", ":" or a slash at its end, as in "path:/srv/data" or "path:/srv/data:rw"';
}

function faultOfVariable(name: string): string | null {
  const fault = faultOfName(name);
  return fault === null ? null : `${name} ${fault}; use another name, as in "env:CITY_API"`;
}

/** What is wrong with the target of a network grant, and how to write it; null if nothing is. */
function faultOfTarget(target: string): string | null {
  if (GROUP.test(target)) return null;
  if (/[/@\s]/.test(target)) return HOST_FORM;
  const [host = '', port, ...more] = target.split(':');
  if (more.length > 0) return NO_ADDRESS;
  if (port !== undefined && !isPort(port)) return 'the port must be a number from 1 to 65535';
  const name = host.startsWith('*.') ? host.slice(2) : host;
  if (name.includes('*')) return '"*" may only stand for the first part of a name, as in "network:*.example.com"';
  return faultOfHost(name, host);
}

function faultOfHost(name: string, host: string): string | null {
  const labels = name.split('.');
  if (NUMERIC_LABEL.test(labels.at(-1) ?? '')) return NO_ADDRESS;
  if (labels.length < 2) {
    return host === name
      ? 'a host has a dot in its name, as in "network:example.com", and a group has only a-z, 0-9, "_" and "-"'
      : '"*." needs two more parts, as in "network:*.example.com"';
  }
  const isHost = name.length <= HOST_MAX_CHARS && labels.every((label) => LABEL.test(label));
  if (isHost && domainToASCII(name) === name) return null;
  return HOST_FORM;
}

function isPort(text: string): boolean {
  return /^[1-9]\d{0,4}$/.test(text) && Number(text) <= 65_535;
}
