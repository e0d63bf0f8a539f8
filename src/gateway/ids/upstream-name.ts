import { ContextdError } from '../../core/errors.ts';
import { toolHash8 } from './shape-hash.ts';
import { formatToolId, ID_NAME_MAX_CHARS, isIdPart, NAMESPACE_MAX_CHARS } from './tool-id.ts';

/** The namespace of a tool whose server is not known and whose name has no prefix. */
const FALLBACK_NAMESPACE = 'mcp';

/** What an id is made from. Fields are as the server sent them. */
export interface UpstreamTool {
  name: string;
  inputSchema?: unknown;
  /** `_meta.version`. Anything but a version that the grammar allows counts as none. */
  version?: unknown;
}

/** Where a name came from and what it became. */
export interface DerivedName {
  namespace: string;
  name: string;
  /** Whether the upstream name can be read off namespace and name; if not, only its hash tells two of them apart. */
  isExact: boolean;
}

/**
 * The canonical id of a tool of an MCP server (gateway surface §1.2 to §1.4). `serverName` is the name under which a person
 * configured the server, and takes the place of the inferred namespace. The id has a hash if the tool declares no version,
 * and also if its name had to be altered for the grammar. Throws SCHEMA_INVALID for a tool without a name.
 */
export function toolIdOf(tool: UpstreamTool, serverName?: string): string {
  const { namespace, name, isExact } = deriveName(tool.name, serverName);
  const version = versionOf(tool.version);
  const needsHash = version === undefined || !isExact;
  return formatToolId({
    namespace,
    name,
    ...(version !== undefined && { version }),
    ...(needsHash && { hash8: toolHash8(tool.name, tool.inputSchema) }),
  });
}

/**
 * Namespace and name of a tool by the separator of its upstream name (§1.4). A prefix before `.` or `/` is the namespace and
 * goes from the name; one before `_`, of a name with three parts or more, is the namespace and stays in the name. With a
 * server name, a prefix goes only if it says the same.
 */
export function deriveName(upstreamName: string, serverName?: string): DerivedName {
  if (upstreamName === '') {
    throw new ContextdError('SCHEMA_INVALID', 'A tool of an MCP server has no name', { details: { serverName } });
  }
  const prefix = separatedPrefix(upstreamName);
  const inferred = serverName ?? inferNamespace(upstreamName);
  const namespace = namespaceOf(inferred);
  const rest = prefix === null ? '' : upstreamName.slice(prefix.length + 1);
  const isPrefix = prefix !== null && rest !== '' && namespaceOf(prefix) === namespace;
  const upstream = isPrefix ? rest : upstreamName;
  const name = idNameOf(upstream);
  return { namespace, name, isExact: name === upstream && (!isPrefix || prefix === namespace) };
}

/** The namespace that a tool name shows, as the server wrote it: `github.x`, `github/x`, `slack_send_message`; otherwise `mcp`. */
export function inferNamespace(upstreamName: string): string {
  const prefix = separatedPrefix(upstreamName);
  if (prefix !== null) return prefix;
  const parts = upstreamName.split('_');
  return parts.length >= 3 && parts[0] ? parts[0] : FALLBACK_NAMESPACE;
}

/** The part before the first dot; without a dot, the part before the first slash. Null if that is empty. */
function separatedPrefix(upstreamName: string): string | null {
  for (const separator of ['.', '/']) {
    const at = upstreamName.indexOf(separator);
    if (at > 0) return upstreamName.slice(0, at);
  }
  return null;
}

/** A name of a server as a namespace: in lower case, `-` for what the grammar lacks. `mcp` if nothing is left. */
export function namespaceOf(text: string): string {
  const plain = text.toLowerCase().replace(/[^a-z0-9_-]+/g, '-');
  const namespace = plain.replace(/^[^a-z]+/, '').slice(0, NAMESPACE_MAX_CHARS);
  const trimmed = namespace.replace(/-+$/, '');
  return isIdPart('namespace', trimmed) ? trimmed : FALLBACK_NAMESPACE;
}

/** A name as the grammar has it: `_` for each other character, and before a digit, dot or hyphen at its start. */
export function idNameOf(text: string): string {
  if (isIdPart('name', text)) return text;
  const plain = text.replace(/[^A-Za-z0-9_.-]/gu, '_');
  return (/^[A-Za-z_]/.test(plain) ? plain : `_${plain}`).slice(0, ID_NAME_MAX_CHARS);
}

function versionOf(declared: unknown): string | undefined {
  const text = typeof declared === 'number' && Number.isSafeInteger(declared) ? String(declared) : declared;
  return typeof text === 'string' && isIdPart('version', text) ? text : undefined;
}

/** An id without what follows its name: the version or the hash. */
export function withoutVersion(id: string): string {
  return id.replace(/[@#].*$/, '');
}
