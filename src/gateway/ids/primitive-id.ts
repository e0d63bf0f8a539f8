import { ContextdError } from '../../core/errors.ts';
import { promptHash8, resourceHash8 } from './shape-hash.ts';
import { formatToolId, parseToolId, type ToolIdParts } from './tool-id.ts';
import { deriveName, idNameOf, namespaceOf } from './upstream-name.ts';

/** What MCP servers offer. */
export type PrimitiveKind = 'tool' | 'resource' | 'prompt';

/** The kinds whose ids begin with their name. A tool id never holds `::`, so ids of two kinds are never equal. */
const TAGGED: readonly PrimitiveKind[] = ['resource', 'prompt'];
const KIND_SEPARATOR = '::';

/** The parts of the id of anything that an MCP server offers (gateway surface §9.1). */
export interface PrimitiveIdParts extends ToolIdParts {
  readonly kind: PrimitiveKind;
}

/** `namespace:name…` for a tool, `resource::namespace:name…` or `prompt::…` for the others. Throws as `formatToolId`. */
export function formatPrimitiveId({ kind, ...parts }: PrimitiveIdParts): string {
  return kind === 'tool' ? formatToolId(parts) : `${kind}${KIND_SEPARATOR}${formatToolId(parts)}`;
}

/** The inverse of `formatPrimitiveId`. Throws ARGS_INVALID for an unknown kind, and for `tool::`, which is never written. */
export function parsePrimitiveId(id: string): PrimitiveIdParts {
  const at = id.indexOf(KIND_SEPARATOR);
  if (at < 0) return { kind: 'tool', ...parseToolId(id) };
  const kind = TAGGED.find((tag) => tag === id.slice(0, at));
  if (kind !== undefined) return { kind, ...parseToolId(id.slice(at + KIND_SEPARATOR.length)) };
  throw new ContextdError('ARGS_INVALID', `The id ${JSON.stringify(id.slice(0, 64))} begins with an unknown kind`, {
    remedy: `Pass an id that begins with ${TAGGED.join(':: or ')}::, or the id of a tool, which has no kind.`,
    details: { part: 'kind' },
  });
}

/** The id of a resource. Without a server its namespace is the scheme of its URI; without a name it is named by the end of it. */
export function resourceIdOf(resource: { uri: string; name?: string }, serverName?: string): string {
  const { uri } = resource;
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(uri)?.[1] ?? '';
  const end = uri.replace(/\/+$/, '').split('/').at(-1) ?? '';
  return formatPrimitiveId({
    kind: 'resource',
    namespace: namespaceOf(serverName ?? scheme),
    name: idNameOf(resource.name || end || uri),
    hash8: resourceHash8(uri),
  });
}

/** The id of a prompt; namespace and name as of a tool. */
export function promptIdOf(prompt: { name: string; argumentNames?: readonly string[] }, serverName?: string): string {
  const { namespace, name } = deriveName(prompt.name, serverName);
  return formatPrimitiveId({
    kind: 'prompt',
    namespace,
    name,
    hash8: promptHash8(prompt.name, prompt.argumentNames ?? []),
  });
}
