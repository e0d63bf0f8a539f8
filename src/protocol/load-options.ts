/** How wire messages look in TypeScript; the generated types are made for exactly these options. */
export const LOAD_OPTIONS = {
  /** Field names stay as the .proto files spell them. */
  keepCase: true,
  /** 64-bit integers as numbers: all of ours are below 2^53. */
  longs: Number,
  /** Absent fields get their default value, so that every field of a parsed message is there. */
  defaults: true,
} as const;

/** The files that make up the protocol, relative to the directory `proto`. */
export const PROTO_FILES = ['contextd/v1/tool.proto', 'contextd/v1/management.proto'] as const;
