import { lookup } from 'node:dns/promises';
import type { HostNetwork } from '../../call/management.ts';
import { faultOfSetting, hostsOfSettings, type RegistrySetting } from '../../core/registries.ts';
import { notPublic } from '../../egress/addresses.ts';
import { type ExtraCertificate, findCertificates } from './certificates.ts';
import { findCargo, findGo } from './compiled.ts';
import { findNpm, findYarn } from './javascript.ts';
import { findPip, findUv } from './python.ts';
import type { ClientFindings, Surroundings } from './surroundings.ts';
import { findApt, findMaven } from './system.ts';

/** What the person's network clients use, as commands could use it. */
export interface FoundMirrors {
  readonly wanted: HostNetwork;
  readonly certificates: readonly ExtraCertificate[];
  readonly notes: readonly string[];
}

const CLIENTS: readonly ((at: Surroundings) => ClientFindings[])[] = [
  ...[findNpm, findYarn, findPip, findUv, findCargo, findGo, findMaven, findApt],
];

/** Keys of which every value counts; of the others, the first. */
const LISTS = /^(?:pip:(?:extra-index-url|find-links|trusted-host)|uv:(?:index|find-links)|apt:source)$/;

/** Reads the settings of all clients. Finds nothing in the project: a repository has no say here. */
export async function findMirrors(at: Surroundings, nowMs: number): Promise<FoundMirrors> {
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
  return {
    wanted: {
      certificates: trust.certificates.map(({ pem }) => pem),
      ca_variables: [...trust.variables],
      registries: usable,
      private_hosts: await privateHosts(usable),
    },
    certificates: trust.certificates,
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

/** The addresses of mirrors inside a private network, which a rule must name. A name that leads nowhere now has none. */
async function privateHosts(settings: readonly RegistrySetting[]): Promise<HostNetwork['private_hosts']> {
  const hosts = [...new Set(hostsOfSettings(settings).map(({ host }) => host))];
  const all = await Promise.all(
    hosts.map(async (host) => {
      const found = await lookup(host, { all: true }).catch(() => []);
      return { host, addresses: found.map(({ address }) => address).filter((one) => notPublic(one) !== null) };
    }),
  );
  return all.filter(({ addresses }) => addresses.length > 0);
}
