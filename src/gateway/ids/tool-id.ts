import { ContextdError } from '../../core/errors.ts';

/** A canonical id has at most this many characters (gateway surface §1.1). The kind tag of a resource or prompt comes on top. */
export const TOOL_ID_MAX_CHARS = 240;

/** Longest name of a tool within its id. */
export const ID_NAME_MAX_CHARS = 128;
/** Longest namespace of an id. */
export const NAMESPACE_MAX_CHARS = 64;

/** The parts of a canonical tool id, `namespace:name[@version][#hash8]` (gateway surface §1.1). One of version and hash8 is there. */
export interface ToolIdParts {
  /** The server of the tool: `[a-z][a-z0-9_-]{0,63}`. */
  readonly namespace: string;
  /** The tool: `[A-Za-z_][A-Za-z0-9_.-]{0,127}`. */
  readonly name: string;
  /** As the server declares it: `[A-Za-z0-9._-]{1,32}`. */
  readonly version?: string;
  /** First 8 hexadecimal digits of the hash of the input shape. */
  readonly hash8?: string;
}

/** What each part has to match, whole, and how an error describes it. */
const PARTS = {
  namespace: { pattern: /^[a-z][a-z0-9_-]{0,63}$/, is: '1 to 64 of a-z, 0-9, _ and -, and begins with a letter' },
  name: {
    pattern: /^[A-Za-z_][A-Za-z0-9_.-]{0,127}$/,
    is: '1 to 128 of A-Z, a-z, 0-9, _, . and -, and begins with a letter or _',
  },
  version: { pattern: /^[A-Za-z0-9._-]{1,32}$/, is: '1 to 32 of A-Z, a-z, 0-9, ., _ and -' },
  hash8: { pattern: /^[0-9a-f]{8}$/, is: '8 hexadecimal digits in lower case' },
} as const satisfies Record<keyof ToolIdParts, { pattern: RegExp; is: string }>;

type PartName = keyof typeof PARTS;

const PART_NAMES: readonly PartName[] = ['namespace', 'name', 'version', 'hash8'];

/** True for text that the grammar allows as this part of an id. */
export function isIdPart(part: PartName, text: string): boolean {
  return PARTS[part].pattern.test(text);
}

/**
 * The id of the parts; `parseToolId` reads it back. Throws ARGS_INVALID, with the part in `details.part`, if one breaks the
 * grammar of gateway surface §1.1 or if both version and hash8 are missing.
 */
export function formatToolId(parts: ToolIdParts): string {
  for (const part of PART_NAMES) {
    const text = parts[part];
    if (text !== undefined && !isIdPart(part, text)) throw invalidPart(part, text);
  }
  const { namespace, name, version, hash8 } = parts;
  if (version === undefined && hash8 === undefined) {
    throw new ContextdError('ARGS_INVALID', `The tool id ${namespace}:${name} has neither a version nor a hash`, {
      remedy: 'Pass the whole id, as a card shows it.',
      details: { part: 'hash8' },
    });
  }
  return `${namespace}:${name}${version === undefined ? '' : `@${version}`}${hash8 === undefined ? '' : `#${hash8}`}`;
}

/**
 * The parts of a canonical id (gateway surface §1.6). Throws ARGS_INVALID for anything else, and so for the opaque `~2`
 * keys of `distinctKeys`: those are looked up, never read.
 */
export function parseToolId(id: string): ToolIdParts {
  if (id.length > TOOL_ID_MAX_CHARS) {
    throw new ContextdError('ARGS_INVALID', `A tool id has at most ${TOOL_ID_MAX_CHARS} characters, not ${id.length}`, {
      details: { maxChars: TOOL_ID_MAX_CHARS, chars: id.length },
    });
  }
  const colon = id.indexOf(':');
  if (colon < 0) {
    throw new ContextdError('ARGS_INVALID', `The tool id ${JSON.stringify(id)} has no namespace`, {
      remedy: 'Pass the whole id, `namespace:name`, as a card shows it.',
      details: { part: 'namespace' },
    });
  }
  const [beforeHash, hash8] = splitLast(id.slice(colon + 1), '#');
  const [name, version] = splitLast(beforeHash, '@');
  const parts = { namespace: id.slice(0, colon), name, ...(version && { version }), ...(hash8 && { hash8 }) };
  // An empty part behind its mark must not pass for one that is missing.
  if (formatToolId(parts) === id) return parts;
  throw invalidPart(version === '' ? 'version' : 'hash8', '');
}

function splitLast(text: string, mark: string): [string, string | undefined] {
  const at = text.lastIndexOf(mark);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

function invalidPart(part: PartName, text: string): ContextdError {
  return new ContextdError(
    'ARGS_INVALID',
    `The ${part} ${JSON.stringify(text)} of a tool id is not ${PARTS[part].is}`,
    {
      remedy: 'Pass an id as a card shows it.',
      details: { part },
    },
  );
}
