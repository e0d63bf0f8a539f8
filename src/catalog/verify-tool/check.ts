/** The result of one rule for a tool. */
export interface ToolCheck {
  /** The file and the rule, as in `schema.json depth`. */
  rule: string;
  passed: boolean;
  /** What was found, with the figure. */
  detail: string;
  /** How to fix it; "" if the rule passed. */
  remedy: string;
  /** What was counted, if the rule is a limit. */
  figure?: number;
  limit?: number;
  unit?: string;
}

/** The most characters of a detail: a hostile file must not be quoted at length. */
const DETAIL_MAX = 500;

export function passed(rule: string, detail: string): ToolCheck {
  return { rule, passed: true, detail, remedy: '' };
}

export function failed(rule: string, detail: string, remedy: string): ToolCheck {
  return { rule, passed: false, detail: clipped(detail), remedy };
}

/** Passes if there are no faults; otherwise the detail lists all of them. */
export function faultless(rule: string, faults: readonly string[], fine: string, remedy: string): ToolCheck {
  return faults.length === 0 ? passed(rule, fine) : failed(rule, faults.join('; '), remedy);
}

export function within(rule: string, figure: number, { most, unit }: Limit, remedy: string): ToolCheck {
  const counted = { figure, limit: most, unit };
  const detail = `${figure} of at most ${most} ${unit}`;
  return { ...(figure <= most ? passed(rule, detail) : failed(rule, detail, remedy)), ...counted };
}

function clipped(text: string): string {
  return text.length <= DETAIL_MAX ? text : `${text.slice(0, DETAIL_MAX)}… (${text.length} characters)`;
}

/** The limits of a tool. Each `most` is the largest value that passes. */
export const TOOL_LIMITS = {
  /** TOOL.md is read by an agent before the first use (CE-1.2). */
  toolMdTokens: { most: 99, unit: 'tokens' },
  /** schema.json as installed, without white space. */
  schemaTokens: { most: 500, unit: 'tokens' },
  /** The schemas of all tools together (CE-1.1). */
  allSchemasTokens: { most: 1_499, unit: 'tokens' },
  /** Nested objects and lists, counting the schema itself, with references followed. */
  schemaDepth: { most: 8, unit: 'levels' },
  /** Properties of all objects in the schema. */
  schemaProperties: { most: 64, unit: 'properties' },
  /** Schemas in the schema, with references followed: a few references to each other can multiply them. */
  schemaParts: { most: 1_000, unit: 'schemas' },
  /** Characters of all patterns together: compiling takes time. */
  schemaPatterns: { most: 2_000, unit: 'characters' },
  schemaBytes: { most: 64 * 1024, unit: 'bytes' },
  toolMdBytes: { most: 16 * 1024, unit: 'bytes' },
  extendedBytes: { most: 256 * 1024, unit: 'bytes' },
  manifestBytes: { most: 64 * 1024, unit: 'bytes' },
  /** Files and directories in a tool's directory. */
  entries: { most: 10_000, unit: 'entries' },
} as const satisfies Record<string, Limit>;

export interface Limit {
  most: number;
  unit: string;
}
