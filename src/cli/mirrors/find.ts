import { lookup } from 'node:dns/promises';
import { faultOfSetting, hostsOfSettings, type RegistrySetting } from '../../core/registries.ts';
import { notPublic } from '../../egress/addresses.ts';
import type { HostNetwork__Output as HostNetwork } from '../../protocol/generated/management.ts';
import { type ExtraCertificate, findCertificates } from './certificates.ts';
import { findCargo, findGo } from './compiled.ts';
import { findNpm, findYarn } from './javascript.ts';
import { localKind, ownAddresses } from './local-addresses.ts';
import { findPip, findUv } from './python.ts';
import { type ClientFindings, type Places, Surroundings } from './surroundings.ts';
import { findApt, findMaven } from './system.ts';

/** What the person's network clients use, as commands could use it. */
export interface FoundMirrors {
  readonly wanted: HostNetwork;
  readonly certificates: readonly ExtraCertificate[];
  /** Hosts of `wanted` that lead to this machine or its surroundings, which only a person at a terminal allows. */
  readonly local: readonly LocalHost[];
  /** What was left out of the person's settings, one sentence each. */
  readonly notes: readonly string[];
  /** What was left out because a project decides about it, one sentence each. */
  readonly foreign: readonly string[];
}

export interface LocalHost {
  readonly host: string;
  readonly address: string;
  /** Completes "it leads to ADDRESS, …". */
  readonly what: string;
}

const CLIENTS: readonly ((at: Surroundings) => ClientFindings[])[] = [
  findNpm,
  findYarn,
  findPip,
  findUv,
  findCargo,
  findGo,
  findMaven,
  findApt,
];

/** Keys of which every value counts; of the others, the first. */
const LISTS = /^(?:pip:(?:extra-index-url|find-links|trusted-host)|uv:(?:index|find-links)|apt:source)$/;

/** Reads the settings of all clients. Finds nothing in the project: a repository has no say here. */
export async function findMirrors(places: Places, nowMs: number): Promise<FoundMirrors> {
  const at = new Surroundings(places);
  const findings = CLIENTS.flatMap((find) => find(at));
  const registries = merge(findings.flatMap(({ settings }) => settings));
  const usable = registries.filter((setting) => faultOfSetting(setting) === null);
  const unusable = registries.flatMap((setting) => {
    const fault = faultOfSetting(setting);
    return fault === null ? [] : [`${setting.client}: the value of ${setting.key} ${fault}.`];
  });
  const trust = findCertificates(
    at,
    findings.flatMap(({ caFiles }) => caFiles),
    nowMs,
  );
  const hosts = await lookUpHosts(usable);
  return {
    wanted: {
      certificates: trust.certificates.map(({ pem }) => pem),
      ca_variables: [...trust.variables],
      registries: usable,
      private_hosts: hosts.flatMap(({ host, unlisted }) =>
        unlisted.length > 0 ? [{ host, addresses: unlisted }] : [],
      ),
    },
    certificates: trust.certificates,
    local: hosts.flatMap(({ local }) => local.slice(0, 1)),
    foreign: at.notes,
    notes: [...new Set([...findings.flatMap(({ notes }) => notes), ...trust.notes, ...unusable])],
  };
}

function merge(settings: readonly RegistrySetting[]): RegistrySetting[] {
  const found: RegistrySetting[] = [];
  for (const setting of settings) {
    const { client, key, value } = setting;
    const isKnown = found.some((one) => one.client === client && one.key === key && one.value === value);
    const isTaken = found.some((one) => one.client === client && one.key === key);
    if (!isKnown && (!isTaken || LISTS.test(`${client}:${key}`))) found.push(setting);
  }
  return found;
}

interface LookedUp {
  readonly host: string;
  /** The addresses that a rule must name: they are not public, or the machine's own. */
  readonly unlisted: string[];
  readonly local: readonly LocalHost[];
}

/** A name that leads nowhere now has no addresses. */
function lookUpHosts(settings: readonly RegistrySetting[]): Promise<LookedUp[]> {
  const own = ownAddresses();
  const hosts = [...new Set(hostsOfSettings(settings).map(({ host }) => host))];
  return Promise.all(
    hosts.map(async (host) => {
      const found = await lookup(host, { all: true }).catch(() => []);
      const kinds = found.map(({ address }) => ({ address, what: localKind(address, own) }));
      return {
        host,
        unlisted: kinds.flatMap(({ address, what }) => ((what ?? notPublic(address)) === null ? [] : [address])),
        local: kinds.flatMap(({ address, what }) => (what === null ? [] : [{ host, address, what }])),
      };
    }),
  );
}
