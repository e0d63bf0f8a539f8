import { type Client, type MethodDefinition, makeClientConstructor, type ServiceDefinition } from '@grpc/grpc-js';
import protobuf, { type Method, type Service, type Type } from 'protobufjs/light.js';

/**
 * Creates the clients of services, each with its service definition, under the keys of `services`. `definition`: JSON text
 * generated from .proto files. `services`: full names. It does what proto-loader does, without parsing files and without
 * the descriptors proto-loader adds: they take longer than everything else, and nothing reads them.
 */
export function loadClients<Key extends string>(
  definition: string,
  services: Readonly<Record<Key, string>>,
): Record<Key, typeof Client> {
  const root = protobuf.Root.fromJSON(JSON.parse(definition));
  root.resolveAll();
  const clients = Object.entries<string>(services).map(([key, name]) => [
    key,
    clientOf(root.lookupService(name), name),
  ]);
  return Object.fromEntries(clients);
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

/** How wire messages look in TypeScript. The generated types are made for exactly these options. */
export const LOAD_OPTIONS = {
  /** Field names stay as the .proto files spell them. */
  keepCase: true,
  /** 64-bit integers as numbers: all of ours are below 2^53. */
  longs: Number,
  /** Absent fields get their default value, so that a parsed message has every field. */
  defaults: true,
  /** A oneof also has a property of its own name, which holds the name of the field that is set. */
  oneofs: true,
} as const;

/** The files that define the protocol of the daemon's door, relative to the directory `proto`. */
export const PROTO_FILES = ['contextd/v1/tool.proto', 'contextd/v1/management.proto'] as const;

/** The files that define the protocol between the daemon and a tool's process, relative to the directory `proto`. */
export const PLUGIN_PROTO_FILES = [
  'contextd/v1/plugin.proto',
  'contextd/v1/host.proto',
  'plugin/grpc_broker.proto',
  'plugin/grpc_controller.proto',
  'plugin/grpc_stdio.proto',
  'grpc/health/v1/health.proto',
] as const;
