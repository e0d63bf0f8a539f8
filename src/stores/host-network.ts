import type { Clock } from '../core/clock.ts';
import { ContextdError } from '../core/errors.ts';
import { isJsonObject, type Json } from '../core/json.ts';
import type { RegistrySetting } from '../core/registries.ts';
import { type Database, textOf } from './sqlite.ts';

/** What a person allowed commands to have of the host's network clients. It holds for every project. */
export interface HostNetworkSettings {
  /** PEM, besides those of the system. */
  readonly certificates: readonly string[];
  /** Names of the variables for certificates that the person has set. */
  readonly caVariables: readonly string[];
  readonly registries: readonly RegistrySetting[];
  /** Addresses that are not public, by the host that leads to them. */
  readonly privateAddresses: Readonly<Record<string, readonly string[]>>;
}

const NOTHING: HostNetworkSettings = { certificates: [], caVariables: [], registries: [], privateAddresses: {} };

export interface HostNetworkStore {
  start(): Promise<void>;
  /** The same object until it is replaced. */
  read(): HostNetworkSettings;
  /** Replaces everything. */
  set(settings: HostNetworkSettings): Promise<void>;
}

export function createHostNetworkStore(deps: { database: Database; clock: Clock }): HostNetworkStore {
  let current = NOTHING;
  return {
    async start() {
      const [row] = await deps.database.read('SELECT settings FROM host_network');
      if (row !== undefined) current = parse(textOf(row, 'settings'));
    },
    read: () => current,
    async set(settings) {
      await deps.database.write([
        { sql: 'DELETE FROM host_network', params: [] },
        {
          sql: 'INSERT INTO host_network (settings, allowed_ms) VALUES (?, ?)',
          params: [JSON.stringify(settings), deps.clock.now()],
        },
      ]);
      current = settings;
    },
  };
}

function parse(text: string): HostNetworkSettings {
  const value: Json = JSON.parse(text);
  if (!isJsonObject(value) || !isJsonObject(value.privateAddresses) || !Array.isArray(value.registries))
    throw damaged();
  return {
    certificates: textsOf(value.certificates),
    caVariables: textsOf(value.caVariables),
    registries: value.registries.map((one) => {
      if (!isJsonObject(one)) throw damaged();
      const [client = '', key = '', setting = ''] = textsOf([one.client, one.key, one.value]);
      return { client, key, value: setting };
    }),
    privateAddresses: Object.fromEntries(
      Object.entries(value.privateAddresses).map(([host, addresses]) => [host, textsOf(addresses)]),
    ),
  };
}

function textsOf(value: Json | undefined | (Json | undefined)[]): string[] {
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value;
  throw damaged();
}

function damaged(): ContextdError {
  return new ContextdError('INTERNAL_ERROR', 'the state database holds damaged settings of the host network', {
    remedy: 'Run `ctxd doctor`.',
  });
}
