import { hostsOfSettings } from '../../core/registries.ts';
import { isInGroup } from '../../egress/groups.ts';
import type { HostNetwork__Output as HostNetwork } from '../../protocol/generated/management.ts';
import type { FoundMirrors } from './find.ts';

/** What a person says yes to, indented: each setting, each certificate, and what stays outside. */
export function describeMirrors({ wanted, certificates, notes, foreign }: FoundMirrors): string[] {
  return [
    ...describeRegistries(wanted),
    ...certificates.map(({ subject, from }) => `  trusted certificate: ${subject} (${from})`),
    ...(wanted.ca_variables.length === 0
      ? []
      : [`  for clients that find certificates by a variable, set for commands: ${wanted.ca_variables.join(', ')}`]),
    ...describeLeftOut([...foreign, ...notes]),
  ];
}

export function describeLeftOut(notes: readonly string[]): string[] {
  return notes.map((note) => `  left out: ${note}`);
}

/** The settings, and the private addresses of their hosts. */
export function describeRegistries({ registries, private_hosts }: HostNetwork): string[] {
  const lines = registries.map(({ client, key, value }) => `  ${client}: ${key} = ${value}`);
  const addresses = private_hosts.map(({ host, addresses }) => `  ${host} leads to ${addresses.join(', ')} (private)`);
  return [...lines, ...addresses];
}

/** What a permission for a group includes besides its public hosts, such as `npm: registry.corp.example`. */
export function describeHosts({ registries }: HostNetwork): string[] {
  const hosts = hostsOfSettings(registries).filter(({ pattern }) => !isInGroup(pattern));
  const groups = [...new Set(hosts.flatMap((one) => one.groups))];
  return groups.map((group) => {
    const names = hosts.flatMap((one) => (one.groups.includes(group) ? [one.pattern] : []));
    return `${group}: ${names.join(', ')}`;
  });
}

/** True if nothing is to be handed in. */
export function isEmpty({ registries, certificates, ca_variables }: HostNetwork): boolean {
  return registries.length + certificates.length + ca_variables.length === 0;
}

/** True if commands get the same from both. */
export function isSame(a: HostNetwork, b: HostNetwork): boolean {
  return JSON.stringify(comparable(a)) === JSON.stringify(comparable(b));
}

function comparable({ registries, certificates, ca_variables, private_hosts }: HostNetwork): unknown {
  const hosts = private_hosts.map(({ host, addresses }) => [host, addresses.toSorted()]);
  const settings = registries.map(({ client, key, value }) => [client, key, value]);
  return [settings, certificates.map((one) => one.trim()), ca_variables.toSorted(), hosts.toSorted()];
}
