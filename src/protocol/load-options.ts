/** How wire messages look in TypeScript; the generated types are made for exactly these options. */
export const LOAD_OPTIONS = {
  /** Field names stay as the .proto files spell them. */
  keepCase: true,
  /** 64-bit integers as numbers: all of ours are below 2^53. */
  longs: Number,
  /** Absent fields get their default value, so that every field of a parsed message is there. */
  defaults: true,
  /** A oneof is also there by its own name, holding the name of the field that is set. */
  oneofs: true,
} as const;

/** The files that make up the protocol of the daemon's door, relative to the directory `proto`. */
export const PROTO_FILES = ['contextd/v1/tool.proto', 'contextd/v1/management.proto'] as const;

/** What the daemon and a tool's process say to each other, relative to the directory `proto`. */
export const PLUGIN_PROTO_FILES = [
  'contextd/v1/plugin.proto',
  'contextd/v1/host.proto',
  'plugin/grpc_broker.proto',
  'plugin/grpc_controller.proto',
  'plugin/grpc_stdio.proto',
  'grpc/health/v1/health.proto',
] as const;
