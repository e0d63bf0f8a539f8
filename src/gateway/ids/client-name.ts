import { createHash } from 'node:crypto';
import { ContextdError } from '../../core/errors.ts';

/**
 * Characters of a client name. Clients put the name of the server before it (`mcp__contextd__` is the longest), and some model
 * APIs refuse more than 64 characters in all.
 */
export const CLIENT_NAME_MAX_CHARS = 48;

const HASH_CHARS = 8;

/** Ids by the names under which an MCP client lists them. */
export interface ClientNames {
  /** In the order of the ids. */
  readonly names: readonly string[];
  /**
   * The id of a tool that a client or an agent names, in either form. A client name may have the prefix under which the model sees
   * it: `mcp__contextd__` or `contextd_`. Undefined for any other text.
   */
  idOf(nameOrId: string): string | undefined;
}

/**
 * The name of a tool in a `tools/list` (gateway surface §4.1): namespace and name of the id, readable, and 8 hexadecimal digits
 * of the hash of the whole id. Only letters, digits, `_` and `-`, because clients replace everything else by `_`, also the `%` of
 * a URL encoding, and then drop one of two names that became equal (decision 0093).
 */
export function clientNameOf(id: string): string {
  const hash = createHash('sha256').update(id, 'utf8').digest('hex').slice(0, HASH_CHARS);
  const readable = id.replace(/[@#~][^:]*$/, '').replace(/[^A-Za-z0-9_-]+/g, '_');
  return `${readable.slice(0, CLIENT_NAME_MAX_CHARS - HASH_CHARS - 1)}_${hash}`;
}

/**
 * The client names of a catalogue. Throws CONFLICT if two ids have the same name, which takes about 65,000 tools whose
 * readable parts are equal too.
 */
export function clientNames(ids: readonly string[]): ClientNames {
  const names = ids.map(clientNameOf);
  const known = new Map<string, string>(ids.map((id) => [id, id]));
  for (const [at, name] of names.entries()) {
    const id = ids[at] ?? '';
    const other = known.get(name);
    if (other !== undefined && other !== id) {
      throw new ContextdError('CONFLICT', `The tools ${other} and ${id} have the same name for clients, ${name}`, {
        remedy: 'Rename one of the servers, or declare another version of the tool.',
        details: { name },
      });
    }
    known.set(name, id);
  }
  const listed = new Set(names);
  return { names, idOf: (nameOrId) => known.get(nameOrId) ?? known.get(withoutPrefix(nameOrId, listed)) };
}

/** The longest end of `text`, after a `_`, that is a name. No other tool is meant, because a name ends with the hash of its id. */
function withoutPrefix(text: string, names: ReadonlySet<string>): string {
  for (let at = text.indexOf('_'); at >= 0; at = text.indexOf('_', at + 1))
    if (names.has(text.slice(at + 1))) return text.slice(at + 1);
  return text;
}
