import { ContextdError } from '../core/errors.ts';
import { isJsonObject, type JsonObject } from '../core/json.ts';

/** What a tool may ask of the host (design §5). A grant that is not named is refused. */
export const GRANTS = ['exec', 'log'] as const;
export type Grant = (typeof GRANTS)[number];

/** `tool.json`, closed: an unknown key is an error, because a typo there would silently widen or drop a rule. */
export interface ToolManifest {
  name: string;
  purpose: string;
  grants: readonly Grant[];
  /** Below this the call is refused with SANDBOX_UNAVAILABLE. */
  minIsolation: 'full' | 'reduced';
}

const KEYS = new Set(['name', 'purpose', 'grants', 'min_isolation']);

/** Parses `tool.json`; SCHEMA_INVALID names the file and every fault. */
export function parseManifest(file: string, text: string): ToolManifest {
  const value = parseObject(file, text);
  const faults = Object.keys(value)
    .filter((key) => !KEYS.has(key))
    .map((key) => `unknown key "${key}"`);
  const { name, purpose, grants, min_isolation: minIsolation } = value;
  if (typeof name !== 'string' || !TOOL_NAME_PATTERN.test(name)) faults.push(`"name" must match ${TOOL_NAME_PATTERN}`);
  if (typeof purpose !== 'string' || purpose === '') faults.push('"purpose" must be a non-empty string');
  if (!isGrantList(grants)) faults.push(`"grants" must be a list of ${GRANTS.join(', ')}`);
  if (minIsolation !== 'full' && minIsolation !== 'reduced') faults.push('"min_isolation" must be "full" or "reduced"');
  if (faults.length > 0 || typeof name !== 'string' || typeof purpose !== 'string' || !isGrantList(grants)) {
    throw new ContextdError('SCHEMA_INVALID', `${file} is not a valid tool manifest: ${faults.join('; ')}`, {
      remedy: 'Correct the file and install the tool again.',
      details: { faults },
    });
  }
  return { name, purpose, grants, minIsolation: minIsolation === 'full' ? 'full' : 'reduced' };
}

/** Names that are safe as a file name, an argument and an MCP tool name alike. */
export const TOOL_NAME_PATTERN = /^[a-z][a-z0-9_]{0,63}$/;

function isGrantList(value: unknown): value is Grant[] {
  return Array.isArray(value) && value.every((grant) => GRANTS.some((known) => known === grant));
}

function parseObject(file: string, text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value)) return value;
  } catch (cause) {
    throw new ContextdError('SCHEMA_INVALID', `${file} is not JSON`, { remedy: 'Correct the file.', cause });
  }
  throw new ContextdError('SCHEMA_INVALID', `${file} is not a JSON object`, { remedy: 'Correct the file.' });
}
