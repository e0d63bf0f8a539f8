import { domainToASCII } from 'node:url';
import type { Json } from '../core/json.ts';
import { GRANTS, type Grant } from '../core/profile.ts';

/** Permission to reach one host (`network:registry.example.com`), or a named group of hosts (`network:npm`). */
export type NetworkGrant = `${typeof NETWORK_PREFIX}${string}`;

/** What a tool may ask for in tool.json. */
export type ToolGrant = Grant | NetworkGrant;

const NETWORK_PREFIX = 'network:';
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
    faults.push(`"grants" must be a list of ${GRANTS.join(', ')} or "network:HOST"`);
    return [];
  }
  const grants = value.map((item: Json) => parseGrant(item, faults)).filter((grant) => grant !== null);
  if (new Set(grants).size < grants.length) faults.push('"grants" names a grant twice');
  return grants;
}

export function isNetworkGrant(grant: string): grant is NetworkGrant {
  return grant.startsWith(NETWORK_PREFIX);
}

/** The host pattern or the group that a network grant names. */
export function networkTarget(grant: NetworkGrant): string {
  return grant.slice(NETWORK_PREFIX.length);
}

function parseGrant(item: Json, faults: string[]): ToolGrant | null {
  const known = GRANTS.find((grant) => grant === item);
  if (known !== undefined) return known;
  const shown = JSON.stringify(item)?.slice(0, QUOTED_MAX_CHARS);
  if (typeof item === 'string' && isNetworkGrant(item)) {
    const fault = faultOfTarget(networkTarget(item));
    if (fault === null) return item;
    faults.push(`"grants" has ${shown}: ${fault}`);
  } else {
    faults.push(`"grants" has ${shown}: use one of ${GRANTS.join(', ')} or "network:HOST"`);
  }
  return null;
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
