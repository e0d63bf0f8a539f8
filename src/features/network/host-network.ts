import { certificatesIn } from '../../core/certificates.ts';
import type { Clock } from '../../core/clock.ts';
import { ContextdError } from '../../core/errors.ts';
import { faultOfSetting, hostsOfSettings } from '../../core/registries.ts';
import { CA_VARIABLES } from '../../core/variable-names.ts';
import { isInGroup } from '../../egress/groups.ts';
import type { Management } from '../../protocol/management-contract.ts';
import type { HostNetwork } from '../../sandbox/contract/policy.ts';
import { createHostNetworkStore, type HostNetworkSettings } from '../../stores/host-network.ts';
import type { Database } from '../../stores/sqlite.ts';
import type { MirrorHost } from './policy.ts';
import { registryFiles, registryVariables } from './registry-files.ts';

/** What a person allowed commands to have of the host's network clients: certificates and registries. */
export interface HostNetworks {
  start(): Promise<void>;
  settings(): HostNetworkSettings;
  /** What commands of every project get. */
  part(): HostNetwork;
  /** Hosts that a permission for the group includes on this machine, besides its public ones. */
  hostsOf(group: string): readonly MirrorHost[];
  /** Called when the settings have changed. */
  onChange(listener: () => void): void;
  readonly management: Pick<Management, 'setHostNetwork' | 'readHostNetwork'>;
}

export function createHostNetworks(deps: { database: Database; clock: Clock }): HostNetworks {
  const store = createHostNetworkStore(deps);
  const listeners: (() => void)[] = [];
  let rendered: { from: HostNetworkSettings; part: Omit<HostNetwork, 'certificates'> } | null = null;
  const partOf = (settings: HostNetworkSettings): Omit<HostNetwork, 'certificates'> => {
    if (rendered?.from !== settings) rendered = { from: settings, part: render(settings) };
    return rendered.part;
  };
  const read = async () => toWire(store.read());
  return {
    start: () => store.start(),
    settings: () => store.read(),
    part: () => ({ certificates: store.read().certificates, ...partOf(store.read()) }),
    hostsOf(group) {
      const { registries, privateAddresses } = store.read();
      return hostsOfSettings(registries)
        .filter(({ groups, pattern }) => groups.includes(group) && !isInGroup(pattern))
        .map(({ pattern, host }) => ({ pattern, privateAddresses: privateAddresses[host] ?? [] }));
    },
    onChange: (listener) => void listeners.push(listener),
    management: {
      async setHostNetwork(request) {
        await store.set(fromWire(request));
        for (const listener of listeners) listener();
        return read();
      },
      readHostNetwork: read,
    },
  };
}

function render({ caVariables, registries }: HostNetworkSettings): Omit<HostNetwork, 'certificates'> {
  return { caVariables, variables: registryVariables(registries), homeFiles: registryFiles(registries) };
}

type Wire = Awaited<ReturnType<Management['readHostNetwork']>>;

function toWire({ certificates, caVariables, registries, privateAddresses }: HostNetworkSettings): Wire {
  return {
    certificates: [...certificates],
    ca_variables: [...caVariables],
    registries: registries.map((setting) => ({ ...setting })),
    private_hosts: Object.entries(privateAddresses).map(([host, addresses]) => ({ host, addresses: [...addresses] })),
  };
}

/** Throws ARGS_INVALID. Certificates are written again from what was read, so that nothing else comes with them. */
function fromWire({ certificates, ca_variables, registries, private_hosts }: Wire): HostNetworkSettings {
  for (const setting of registries) {
    const fault = faultOfSetting(setting);
    if (fault !== null) throw invalid(`the value of ${setting.key} of ${setting.client} ${fault}`);
  }
  const unknown = ca_variables.find((name) => !CA_VARIABLES.some((known) => known === name));
  if (unknown !== undefined) throw invalid(`${unknown} is not a variable for certificates`);
  const hosts = hostsOfSettings(registries).map(({ host }) => host);
  return {
    certificates: certificates.map((text) => {
      const [certificate, ...more] = certificatesIn(text);
      if (certificate === undefined || more.length > 0) throw invalid('a text is not one certificate in PEM');
      return certificate.toString();
    }),
    caVariables: [...new Set(ca_variables)],
    registries: registries.map(({ client, key, value }) => ({ client, key, value })),
    privateAddresses: Object.fromEntries(
      private_hosts.filter(({ host }) => hosts.includes(host)).map(({ host, addresses }) => [host, addresses]),
    ),
  };
}

function invalid(why: string): ContextdError {
  return new ContextdError('ARGS_INVALID', `the settings of the host's network clients cannot be used: ${why}`, {
    remedy: 'Run `ctxd network mirrors` of the same version as the daemon.',
  });
}
