import { ContextdError } from '../../core/errors.ts';
import type { Json } from '../../core/json.ts';
import { idsLike } from '../../gateway/ids/near-ids.ts';
import { withoutVersion } from '../../gateway/ids/upstream-name.ts';
import { uriKey } from '../../gateway/uri-key.ts';
import { URI_MAX_CHARS } from '../../gateway/uri-template.ts';
import { checkedTexts } from './declared.ts';
import type { ProjectPrimitives, ResourceEntry } from './primitive-catalogues.ts';

/** Ids that an error names. */
const NAMED_MAX = 5;

type Target = Pick<ResourceEntry, 'resource'> & { uri: string };
type Primitives = Pick<ProjectPrimitives, 'resources' | 'denied'>;

/**
 * What to read for an id, a listed URI, or a URI that a template makes. Throws RESOURCE_NOT_FOUND, for what the caller may not use
 * too, and ARGS_INVALID if the variables do not fit or several servers have the URI.
 */
export function targetOf(asked: string, values: Json | undefined, primitives: Primitives): Target {
  const { entries } = primitives.resources;
  const entry = entries.get(idOf(asked, entries) ?? '');
  const target = entry === undefined ? targetOfUri(asked, values, primitives) : targetOfEntry(entry, values);
  if (target !== null && !isDenied(target, primitives)) return target;
  throw new ContextdError('RESOURCE_NOT_FOUND', `no resource here has the id or URI ${quoted(asked)}`, {
    remedy: didYouMean(asked, entries) ?? 'Find it by what it is about: `resource_browse`.',
  });
}

/** The key of an entry for its id, also without the hash if only one entry has it. */
export function idOf(asked: string, entries: ReadonlyMap<string, object>): string | undefined {
  if (entries.has(asked)) return asked;
  const [id, ...others] = [...entries.keys()].filter((one) => withoutVersion(one) === asked);
  return others.length === 0 ? id : undefined;
}

export function didYouMean(asked: string, entries: ReadonlyMap<string, object>): string | undefined {
  const ids = [...entries.keys()];
  const several = ids.filter((id) => withoutVersion(id) === asked);
  const near = (several.length > 0 ? several : idsLike(asked, ids)).slice(0, NAMED_MAX);
  return near.length === 0 ? undefined : `Did you mean ${near.join(' or ')}?`;
}

export function quoted(asked: string): string {
  return JSON.stringify(asked.slice(0, 200));
}

function targetOfEntry({ resource, template, declared }: ResourceEntry, values: Json | undefined): Target {
  const texts = checkedTexts(values, declared, { id: resource.id, key: 'variables' });
  const uri = template === null ? resource.uri : template.expand(texts);
  if (uri !== null) return { resource, uri };
  throw new ContextdError(
    'ARGS_INVALID',
    `/variables make a URI of more than ${URI_MAX_CHARS} characters, for ${resource.id}`,
    { remedy: 'Pass shorter texts.', details: { limit: URI_MAX_CHARS } },
  );
}

/** A resource that a server lists counts before templates of any server. */
function targetOfUri(uri: string, values: Json | undefined, primitives: Primitives): Target | null {
  // An id that is unknown or denied is no URI of a template that makes everything.
  if (uri.startsWith('resource::')) return null;
  const all = [...primitives.resources.entries.values()];
  const isAllowed = ({ resource }: ResourceEntry): boolean => !isDenied({ resource, uri }, primitives);
  const listed = all.filter(({ resource }) => !resource.isTemplate && resource.uri === uri).filter(isAllowed);
  const found = listed.length > 0 ? listed : all.filter(({ template }) => template?.matches(uri)).filter(isAllowed);
  const [first] = found;
  if (first === undefined) return null;
  const servers = new Set(found.map(({ resource }) => resource.server));
  if (servers.size > 1) throw ambiguous(uri, found);
  checkedTexts(values, [], { id: uri, key: 'variables' });
  return { resource: first.resource, uri };
}

function ambiguous(uri: string, found: readonly ResourceEntry[]): ContextdError {
  const ids = found.map(({ resource }) => resource.id).slice(0, NAMED_MAX);
  return new ContextdError('ARGS_INVALID', `several MCP servers have the URI ${quoted(uri)}`, {
    remedy: `Pass the id of the one that is meant: ${ids.join(' or ')}.`,
  });
}

/**
 * Whether the server has a resource with this URI that the caller may not use. A template that the caller may not use denies
 * what other templates make, but no resource that the server lists.
 */
function isDenied({ resource: { server, isTemplate }, uri }: Target, { denied }: Primitives): boolean {
  const of = denied.get(server);
  if (of === undefined) return false;
  const key = uriKey(uri);
  if (of.keys.has(key)) return true;
  if (!isTemplate || of.templates.length === 0) return false;
  return key.length > URI_MAX_CHARS || of.templates.some((one) => one.matches(uri) || one.matches(key));
}
