import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { TOOL_LIMITS } from './check.ts';

/** Keywords of draft 2020-12 that hold schemas: by name, in a list, or one. */
const MAPS = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'];
const LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
const ONES = [
  ...['items', 'additionalProperties', 'unevaluatedProperties', 'unevaluatedItems', 'contains', 'propertyNames'],
  ...['not', 'if', 'then', 'else', 'contentSchema'],
];

/** What a schema reaches, and what is wrong with its references. */
export interface Reach {
  /** Levels, with references followed. */
  depth: number;
  /** Schemas, with references followed; one more than is allowed stands for any number. */
  parts: number;
  faults: readonly string[];
}

/** Objects and lists in each other; 0 for a scalar. Without recursion: the value may be nested in any depth. */
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

/** A schema and all schemas in it, references not followed. For a value whose depth has been bounded. */
export function* schemasIn(schema: JsonObject): Generator<JsonObject> {
  yield schema;
  for (const { value } of childrenOf(schema)) if (isJsonObject(value)) yield* schemasIn(value);
}

/** Follows the references of a schema whose depth has been bounded, and stops at the limit of parts. */
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

  /** `followed`: the schemas on the way here. */
  visit(schema: JsonObject, depth: number, followed: readonly JsonObject[]): void {
    if (this.parts > TOOL_LIMITS.schemaParts.most) return;
    this.parts += 1;
    this.depth = Math.max(this.depth, depth);
    const way = [...followed, schema];
    for (const name of ['$id', '$dynamicRef', '$recursiveRef'])
      if (name in schema) this.faults.add(`"${name}" is not taken: all schemas share one compiler and stand alone`);
    if ('$ref' in schema) this.#follow(schema.$ref, depth, way);
    for (const { value, levels } of childrenOf(schema)) if (isJsonObject(value)) this.visit(value, depth + levels, way);
  }

  #follow(ref: Json | undefined, depth: number, way: readonly JsonObject[]): void {
    const shown = JSON.stringify(ref)?.slice(0, 100);
    const target = typeof ref === 'string' ? resolve(this.#root, ref) : undefined;
    if (target === undefined)
      this.faults.add(`"$ref" ${shown} leads to nothing in this file: it must be as "#/$defs/name"`);
    else if (way.includes(target)) this.faults.add(`"$ref" ${shown} leads back to itself: the depth has no end`);
    else this.visit(target, depth, way);
  }
}

interface Child {
  value: Json;
  /** Levels of JSON between the schema and this one. */
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

/** What a JSON pointer of the same file names, when it is an object. */
function resolve(root: JsonObject, ref: string): JsonObject | undefined {
  if (ref !== '#' && !ref.startsWith('#/')) return undefined;
  let at: Json | undefined = root;
  for (const part of ref.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof at !== 'object' || at === null) return undefined;
    at = Object.entries(at).find(([key]) => key === name)?.[1];
  }
  return isJsonObject(at) ? at : undefined;
}
