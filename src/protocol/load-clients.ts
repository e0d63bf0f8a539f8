import { type Client, type MethodDefinition, makeClientConstructor, type ServiceDefinition } from '@grpc/grpc-js';
import protobuf, { type IMethod, type INamespace, type IService, type IType, type Type } from 'protobufjs/light.js';

/** Messages, enums and services of a definition by full name, such as contextd.v1.CallContext. */
type Declarations = ReadonlyMap<string, INamespace>;

/** Gives a message by its name, as a service of a package refers to it. */
type FindType = (reference: string, scope: string) => Type;

/**
 * Creates the clients of services, each with its service definition, under the keys of `services`. `definition`: JSON text
 * generated from .proto files. `services`: full names. It does what proto-loader does, without parsing files, and builds a
 * message when the first one is written or read: all of them take longer than the rest of a command of ctxd.
 */
export function loadClients<Key extends string>(
  definition: string,
  services: Readonly<Record<Key, string>>,
): Record<Key, typeof Client> {
  const declarations: Declarations = new Map(declarationsIn(JSON.parse(definition), ''));
  const built = new Map<string, Type>();
  const find: FindType = (reference, scope) => {
    const name = resolve(declarations, reference, scope);
    if (name === undefined) throw new Error(`the message ${reference} is not defined`);
    const type = built.get(name) ?? build(declarations, name);
    built.set(name, type);
    return type;
  };
  const clients = Object.entries<string>(services).map(([key, name]) => [key, clientOf(declarations, name, find)]);
  return Object.fromEntries(clients);
}

function clientOf(declarations: Declarations, name: string, find: FindType): typeof Client {
  const service = declarations.get(name);
  if (service === undefined || !isService(service)) throw new Error(`the service ${name} is not defined`);
  const methods = Object.entries(service.methods).map(([method, spec]) => [method, define(method, spec, name, find)]);
  const definition: ServiceDefinition = Object.fromEntries(methods);
  return makeClientConstructor(definition, name);
}

function define(name: string, method: IMethod, service: string, find: FindType): MethodDefinition<object, object> {
  const scope = scopeOf(service);
  const request = (): Type => find(method.requestType, scope);
  const response = (): Type => find(method.responseType, scope);
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

function serializer(typeOf: () => Type): (value: object) => Buffer {
  return (value) => {
    const type = typeOf();
    const bytes = type.encode(type.fromObject(value)).finish();
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  };
}

function deserializer(typeOf: () => Type): (bytes: Buffer) => object {
  return (bytes) => {
    const type = typeOf();
    return type.toObject(type.decode(bytes), LOAD_OPTIONS);
  };
}

function declarationsIn(namespace: INamespace, prefix: string): [string, INamespace][] {
  return Object.entries<INamespace>(namespace.nested ?? {}).flatMap(([name, node]): [string, INamespace][] =>
    isType(node) || isService(node) || 'values' in node
      ? [[`${prefix}${name}`, node]]
      : declarationsIn(node, `${prefix}${name}.`),
  );
}

/** A message with all that it refers to, however far. */
function build(declarations: Declarations, wanted: string): Type {
  const root = new protobuf.Root();
  const names = new Set([wanted]);
  for (const name of names) {
    const node = declarations.get(name);
    const scope = scopeOf(name);
    root.define(scope === '' ? [] : scope.split('.'), { [name.slice(name.lastIndexOf('.') + 1)]: node });
    for (const reference of node === undefined ? [] : referencesIn(node)) {
      const found = resolve(declarations, reference, scope);
      if (found !== undefined) names.add(found);
    }
  }
  return root.resolveAll().lookupType(wanted);
}

/** The types of a message's fields and of those of the messages inside it, scalars too. */
function referencesIn(node: INamespace): string[] {
  const own = isType(node) ? Object.values(node.fields).map(({ type }) => type) : [];
  return [...own, ...Object.values<INamespace>(node.nested ?? {}).flatMap(referencesIn)];
}

/** As protobuf does: from the innermost package outward. Undefined for scalars and for messages inside the same one. */
function resolve(declarations: Declarations, reference: string, scope: string): string | undefined {
  const name = scope === '' ? reference : `${scope}.${reference}`;
  if (declarations.has(name)) return name;
  return scope === '' ? undefined : resolve(declarations, reference, scopeOf(scope));
}

/** The package of a name, or the one around a package; empty at the root. */
function scopeOf(name: string): string {
  return name.slice(0, Math.max(0, name.lastIndexOf('.')));
}

function isService(node: INamespace): node is IService {
  return 'methods' in node;
}

function isType(node: INamespace): node is IType {
  return 'fields' in node;
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
