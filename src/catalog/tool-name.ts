/**
 * The name of a tool whose bundle is on this machine. It is safe as a file name, an argument and an MCP tool name, and it
 * is the only kind of name that may become part of a path.
 */
export const TOOL_NAME_PATTERN = /^[a-z][a-z0-9_]{0,63}$/;

/** The parts of a tool name (gateway surface §1.1). A tool of this machine has no namespace, version or hash. */
export interface ToolName {
  /** The upstream server that offers the tool. */
  namespace: string | null;
  name: string;
  version: string | null;
  /** First 8 hexadecimal digits of the hash of its input shape. */
  hash8: string | null;
}

const NAME_MAX_CHARS = 240;
const NAMESPACED =
  /^(?<namespace>[a-z][a-z0-9_-]{0,63})[:./](?<name>[A-Za-z_][A-Za-z0-9_.-]{0,127})(?:@(?<version>[A-Za-z0-9._-]{1,32}))?(?:#(?<hash8>[0-9a-f]{8}))?$/;

/**
 * Reads a tool name as a caller gives it: `safe_read`, or the name of a tool of an upstream server. An upstream tool has
 * the canonical form `server:tool[@version][#hash8]`; `server.tool` and `server/tool`, as servers write it, mean the
 * same tool. Returns null for anything else. The result is a key for look-ups and never a path.
 */
export function parseToolName(text: string): ToolName | null {
  if (TOOL_NAME_PATTERN.test(text)) return { namespace: null, name: text, version: null, hash8: null };
  const parts = text.length <= NAME_MAX_CHARS ? NAMESPACED.exec(text)?.groups : undefined;
  if (parts?.namespace === undefined || parts.name === undefined) return null;
  return {
    namespace: parts.namespace,
    name: parts.name,
    version: parts.version ?? null,
    hash8: parts.hash8 ?? null,
  };
}

/** The canonical form of a name. */
export function formatToolName({ namespace, name, version, hash8 }: ToolName): string {
  const prefix = namespace === null ? '' : `${namespace}:`;
  return `${prefix}${name}${version === null ? '' : `@${version}`}${hash8 === null ? '' : `#${hash8}`}`;
}
