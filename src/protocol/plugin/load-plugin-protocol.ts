import type { ProtoGrpcType as BrokerTypes } from '../generated/grpc_broker-service.ts';
import type { ProtoGrpcType as ControllerTypes } from '../generated/grpc_controller-service.ts';
import type { ProtoGrpcType as StdioTypes } from '../generated/grpc_stdio-service.ts';
import type { ProtoGrpcType as HealthTypes } from '../generated/health-service.ts';
import type { ProtoGrpcType as HostTypes } from '../generated/host-service.ts';
import { PLUGIN_DEFINITION } from '../generated/plugin-definition.ts';
import type { ProtoGrpcType as PluginTypes } from '../generated/plugin-service.ts';
import { loadClients } from '../load-clients.ts';

/** The clients and service definitions of a plugin connection. */
export type PluginProtocol = Pick<PluginTypes['contextd']['v1'], 'ToolPlugin'> &
  Pick<HostTypes['contextd']['v1'], 'ToolHost'> &
  Pick<BrokerTypes['plugin'], 'GRPCBroker'> &
  Pick<ControllerTypes['plugin'], 'GRPCController'> &
  Pick<StdioTypes['plugin'], 'GRPCStdio'> &
  Pick<HealthTypes['grpc']['health']['v1'], 'Health'>;

const SERVICES = {
  ToolPlugin: 'contextd.v1.ToolPlugin',
  ToolHost: 'contextd.v1.ToolHost',
  GRPCBroker: 'plugin.GRPCBroker',
  GRPCController: 'plugin.GRPCController',
  GRPCStdio: 'plugin.GRPCStdio',
  Health: 'grpc.health.v1.Health',
} as const satisfies Record<keyof PluginProtocol, string>;

let loaded: PluginProtocol | undefined;

/** Loads the protocol, once in a process, from definitions inside the program, so that a tool's process needs no file. */
export function loadPluginProtocol(): PluginProtocol {
  // The cast is safe: definition and types are generated from the same files, and the generator's --check compares them.
  loaded ??= loadClients(PLUGIN_DEFINITION, SERVICES) as PluginProtocol;
  return loaded;
}
