/** What a tool may cost and hold. Each is the most that passes. */
export const TOOL_LIMITS = {
  /** TOOL.md is what an agent reads before the first use (CE-1.2). */
  toolMdTokens: { most: 99, unit: 'tokens' },
  /** schema.json as it is installed: without layout. */
  schemaTokens: { most: 500, unit: 'tokens' },
  /** The schemas of all tools together (CE-1.1). */
  allSchemasTokens: { most: 1_499, unit: 'tokens' },
  /** Objects and lists in each other, the schema itself being the first, with references followed. */
  schemaDepth: { most: 8, unit: 'levels' },
  /** Of all objects that the schema describes. */
  schemaProperties: { most: 64, unit: 'properties' },
  /** Schemas in the schema, with references followed: what a few references to each other can multiply. */
  schemaParts: { most: 1_000, unit: 'schemas' },
  /** Of all patterns together: compiling one takes time. */
  schemaPatterns: { most: 2_000, unit: 'characters' },
  schemaBytes: { most: 64 * 1024, unit: 'bytes' },
  toolMdBytes: { most: 16 * 1024, unit: 'bytes' },
  extendedBytes: { most: 256 * 1024, unit: 'bytes' },
  manifestBytes: { most: 64 * 1024, unit: 'bytes' },
  /** Files and folders of a tool's directory. */
  entries: { most: 10_000, unit: 'entries' },
} as const satisfies Record<string, Limit>;

export interface Limit {
  most: number;
  unit: string;
}

/** Taken on every tool by the daemon (design §4): a schema that repeats one would never see it. */
export const COMMON_OPTIONS = ['max_tokens', 'view', 'continuation', 'timeout_ms', 'dry_run', 'branch'] as const;
