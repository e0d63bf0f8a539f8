import { type Client, type MethodDefinition, makeClientConstructor, type ServiceDefinition } from '@grpc/grpc-js';
import protobuf, { type Method, type Service, type Type } from 'protobufjs/light.js';
import type { ProtoGrpcType as BrokerTypes } from '../generated/grpc_broker.ts';
import type { ProtoGrpcType as ControllerTypes } from '../generated/grpc_controller.ts';
import type { ProtoGrpcType as StdioTypes } from '../generated/grpc_stdio.ts';
import type { ProtoGrpcType as HealthTypes } from '../generated/health.ts';
import type { ProtoGrpcType as HostTypes } from '../generated/host.ts';
import type { ProtoGrpcType as PluginTypes } from '../generated/plugin.ts';
import { PLUGIN_DEFINITION } from '../generated/plugin-definition.ts';
import { LOAD_OPTIONS } from '../load-options.ts';

/** The clients and service definitions on a plugin connection. */
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

/**
 * The protocol from the definitions that are part of the program, so that a tool's process needs no file. It does what
 * proto-loader would do but for the descriptors it adds, which take longer than the rest and nobody reads.
 */
export function loadPluginProtocol(): PluginProtocol {
  const root = protobuf.Root.fromJSON(JSON.parse(PLUGIN_DEFINITION));
  root.resolveAll();
  const clients = Object.entries(SERVICES).map(([key, name]) => [key, clientOf(root.lookupService(name), name)]);
  // Made from the same files as the generated types, which the generator's --check holds together.
  return Object.fromEntries(clients) as PluginProtocol;
}

function clientOf(service: Service, name: string): typeof Client {
  const methods = service.methodsArray.map((method) => [method.name, define(method, name)]);
  const definition: ServiceDefinition = Object.fromEntries(methods);
  return makeClientConstructor(definition, name);
}

function define(method: Method, service: string): MethodDefinition<object, object> {
  const { name, resolvedRequestType: request, resolvedResponseType: response } = method;
  if (request === null || response === null) throw new Error(`the types of ${service}/${name} are not defined`);
  return {
    path: `/${service}/${name}`,
    requestStream: method.requestStream === true,
    responseStream: method.responseStream === true,
    requestSerialize: serializer(request),
    requestDeserialize: deserializer(request),
    responseSerialize: serializer(response),
    responseDeserialize: deserializer(response),
    originalName: `${name.charAt(0).toLowerCase()}${name.slice(1)}`,
  };
}

function serializer(type: Type): (value: object) => Buffer {
  return (value) => {
    const bytes = type.encode(type.fromObject(value)).finish();
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  };
}

function deserializer(type: Type): (bytes: Buffer) => object {
  return (bytes) => type.toObject(type.decode(bytes), LOAD_OPTIONS);
}
