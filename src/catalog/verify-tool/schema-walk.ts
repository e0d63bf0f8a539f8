import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { TOOL_LIMITS } from './check.ts';

/** Keywords of draft 2020-12 whose value is a map of schemas, a list of schemas, or one schema. */
const MAPS = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'];
const LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
const ONES = [
  'items',
  'additionalProperties',
  'unevaluatedProperties',
  'unevaluatedItems',
  'contains',
  'propertyNames',
  'not',
  'if',
  'then',
  'else',
  'contentSchema',
];

/** The size of a schema with references followed, and the faults of its references. */
export interface Reach {
  /** Levels, with references followed. */
  depth: number;
  /** Schemas, with references followed; counting stops at one more than the limit. */
  parts: number;
  faults: readonly string[];
}

/** The depth of nested objects and lists; 0 for a scalar. Not recursive, because the value may have any depth. */
export function depthOf(value: Json): number {
  let deepest = 0;
  const left: [Json, number][] = [[value, 1]];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [one, depth] = next;
    if (typeof one !== 'object' || one === null) continue;
    deepest = Math.max(deepest, depth);
    for (const inner of Object.values(one)) left.push([inner, depth + 1]);
  }
  return deepest;
}

/** Yields a schema and all schemas in it, without following references. The depth must have been checked before. */
export function* schemasIn(schema: JsonObject): Generator<JsonObject> {
  yield schema;
  for (const { value } of childrenOf(schema)) if (isJsonObject(value)) yield* schemasIn(value);
}

/** Measures a schema with references followed, up to the limit of parts. The depth must have been checked before. */
export function reachOf(root: JsonObject): Reach {
  const walk = new ReachWalk(root);
  walk.visit(root, 1, []);
  return { depth: walk.depth, parts: walk.parts, faults: [...walk.faults] };
}

class ReachWalk {
  depth = 0;
  parts = 0;
  readonly faults = new Set<string>();
  readonly #root: JsonObject;

  constructor(root: JsonObject) {
    this.#root = root;
  }

  /** `followed`: the schemas on the path to this one. */
  visit(schema: JsonObject, depth: number, followed: readonly JsonObject[]): void {
    if (this.parts > TOOL_LIMITS.schemaParts.most) return;
    this.parts += 1;
    this.depth = Math.max(this.depth, depth);
    const path = [...followed, schema];
    for (const name of ['$id', '$dynamicRef', '$recursiveRef', '$async'])
      if (name in schema)
        this.faults.add(`"${name}" is not allowed: all schemas share one compiler, and each must be self-contained`);
    if (schema.uniqueItems === true && !isListOfScalars(schema))
      this.faults.add('"uniqueItems" needs "items" with a "type" of single values: comparing objects takes too long');
    if ('$ref' in schema) this.#follow(schema.$ref, depth, path);
    for (const { value, levels } of childrenOf(schema))
      if (isJsonObject(value)) this.visit(value, depth + levels, path);
  }

  #follow(ref: Json | undefined, depth: number, path: readonly JsonObject[]): void {
    const shown = JSON.stringify(ref)?.slice(0, 100);
    const target = typeof ref === 'string' ? resolve(this.#root, ref) : undefined;
    if (target === undefined) this.faults.add(`"$ref" ${shown} has no target in this file: write it as "#/$defs/name"`);
    else if (path.includes(target)) this.faults.add(`"$ref" ${shown} leads back to itself, so the depth has no limit`);
    else this.visit(target, depth, path);
  }
}

interface Child {
  value: Json;
  /** Levels of JSON between the schema and its child. */
  levels: 1 | 2;
}

function childrenOf(schema: JsonObject): Child[] {
  const inMaps = MAPS.map((name) => schema[name]).filter(isJsonObject);
  const inLists = LISTS.map((name) => schema[name] ?? []).filter(isList);
  const far = [...inMaps, ...inLists].flatMap((holder) => Object.values(holder));
  const near = ONES.flatMap((name) => schema[name] ?? []);
  return [
    ...far.map((value) => ({ value, levels: 2 as const })),
    ...near.map((value) => ({ value, levels: 1 as const })),
  ];
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

const SCALARS = ['string', 'number', 'integer', 'boolean', 'null'];

function isListOfScalars({ items }: JsonObject): boolean {
  const type = isJsonObject(items) ? items.type : undefined;
  return [type].flat().every((one) => SCALARS.some((scalar) => scalar === one));
}

/** The target of a JSON pointer in the same file, if it is an object. A compiler reads `%62` as b, so it has none here. */
function resolve(root: JsonObject, ref: string): JsonObject | undefined {
  if ((ref !== '#' && !ref.startsWith('#/')) || ref.includes('%')) return undefined;
  let at: Json | undefined = root;
  for (const part of ref.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof at !== 'object' || at === null) return undefined;
    at = Object.entries(at).find(([key]) => key === name)?.[1];
  }
  return isJsonObject(at) ? at : undefined;
}
