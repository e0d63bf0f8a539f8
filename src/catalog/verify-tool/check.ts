/** What one rule says of a tool. */
export interface ToolCheck {
  /** The file and the rule: `schema.json depth`. */
  rule: string;
  passed: boolean;
  /** What was found, with its figure. */
  detail: string;
  /** What to do about it; "" when it passed. */
  remedy: string;
  /** What was counted, where the rule is a limit. */
  figure?: number;
  limit?: number;
  unit?: string;
}

/** Characters of a detail: a hostile file is not quoted at length. */
const DETAIL_MAX = 500;

export function passed(rule: string, detail: string): ToolCheck {
  return { rule, passed: true, detail, remedy: '' };
}

export function failed(rule: string, detail: string, remedy: string): ToolCheck {
  return { rule, passed: false, detail: clipped(detail), remedy };
}

/** Passes when nothing is wrong; the detail of a failure names all that is. */
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
