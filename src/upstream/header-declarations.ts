import { isJsonObject, type Json } from '../core/json.ts';

const KEY = 'x-mcp-header';
/** RFC 9110 §5.1. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const TYPES: readonly unknown[] = ['string', 'integer', 'boolean'];
/** Keywords whose value has schemas by name. */
const MAPS: ReadonlySet<string> = new Set(['$defs', 'definitions', 'patternProperties', 'dependentSchemas']);
/** Keywords whose value is no schema. */
const VALUES: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'examples', KEY]);

/**
 * Why the arguments that a tool wants as headers are declared wrongly, as a clause; null if they are not. The revision of 2026-07-28 demands of
 * clients over HTTP that they leave such a tool out. A declaration stands at a property, which may be nested in other properties only, of the
 * type string, integer or boolean, with a name for the header that no other has. The schema must not be nested deeply.
 */
export function headerFault(inputSchema: Json): string | null {
  return faultIn(inputSchema, '', true, new Set());
}

function faultIn(schema: Json, path: string, isReachable: boolean, names: Set<string>): string | null {
  if (Array.isArray(schema)) return firstFault(Object.entries(schema), path, false, names);
  if (!isJsonObject(schema)) return null;
  const { [KEY]: header, type, properties } = schema;
  if (header !== undefined) {
    const fault = declarationFault(header, type, isReachable && path !== '', names);
    if (fault !== null) return `${KEY} at ${path === '' ? '/' : path} ${fault}`;
  }
  const own = isJsonObject(properties) ? Object.entries(properties) : [];
  return (
    firstFault(own, `${path}/properties`, isReachable, names) ??
    Object.entries(schema).reduce<string | null>((fault, [keyword, value]) => {
      if (fault !== null || keyword === 'properties' || VALUES.has(keyword)) return fault;
      const inner = MAPS.has(keyword) && isJsonObject(value) ? Object.entries(value) : null;
      if (inner !== null) return firstFault(inner, `${path}/${keyword}`, false, names);
      return faultIn(value, `${path}/${keyword}`, false, names);
    }, null)
  );
}

function firstFault(
  schemas: readonly (readonly [string, Json])[],
  path: string,
  isReachable: boolean,
  names: Set<string>,
): string | null {
  for (const [name, schema] of schemas) {
    const fault = faultIn(schema, `${path}/${name}`, isReachable, names);
    if (fault !== null) return fault;
  }
  return null;
}

function declarationFault(
  header: Json,
  type: Json | undefined,
  isReachable: boolean,
  names: Set<string>,
): string | null {
  if (!isReachable) return 'is not at a property of the arguments';
  if (typeof header !== 'string' || !TOKEN.test(header)) return 'is not the name of a header';
  if (!TYPES.includes(type)) return 'is not at a string, an integer or a boolean';
  const name = header.toLowerCase();
  if (names.has(name)) return `names ${header}, which another has`;
  names.add(name);
  return null;
}
