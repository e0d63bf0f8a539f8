import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';

/** Arguments after the repair, and what was done, as `rule at pointer`. */
export interface RepairedArguments {
  args: Json;
  repairs: readonly string[];
}

interface Repair {
  rule: string;
  value: Json;
}

const INTEGER = /^-?(?:0|[1-9]\d*)$/;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** By the type that a schema demands: the value that a text stands for. Undefined: it stands for none. */
const TEXT_REPAIRS = {
  integer: (text) => repaired('str_to_integer', INTEGER.test(text) && Number.isSafeInteger(Number(text)), Number(text)),
  number: (text) => repaired('str_to_number', NUMBER.test(text) && Number.isFinite(Number(text)), Number(text)),
  boolean: (text) => repaired('str_to_boolean', text === 'true' || text === 'false', text === 'true'),
  null: (text) => repaired('str_to_null', text === 'null', null),
} as const satisfies Record<string, (text: string) => Repair | undefined>;

/**
 * Repairs arguments by the fixed rules of gateway surface §4.4, each only if the schema demands the type: a property of the type string stays a
 * text. No key is renamed or dropped. Only properties at the top are looked at, as the specification says "field".
 */
export function repairArguments(given: Json, schema: JsonObject): RepairedArguments {
  const { args, repairs } = parsedObject(given);
  if (!isJsonObject(args)) return { args: given, repairs: [] };
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  const done = [...repairs];
  const entries = Object.entries(args).map(([name, value]): [string, Json] => {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const repair = typeof value === 'string' ? repairOf(value, property) : undefined;
    if (repair === undefined) return [name, value];
    done.push(`${repair.rule} at /${pointerOf(name)}`);
    return [name, repair.value];
  });
  return { args: Object.fromEntries(entries), repairs: done };
}

/** An object that was given as JSON text, with or without a byte order mark. */
function parsedObject(given: Json): RepairedArguments {
  if (typeof given !== 'string') return { args: given, repairs: [] };
  try {
    const value: Json = JSON.parse(given.replace(/^\uFEFF/, '').trim());
    if (isJsonObject(value)) return { args: value, repairs: ['parse_stringified_object at /'] };
  } catch {
    // Not JSON: the check says what is wrong with it.
  }
  return { args: given, repairs: [] };
}

function repairOf(text: string, property: Json | undefined): Repair | undefined {
  const { type } = isJsonObject(property) ? property : {};
  const types: readonly Json[] = Array.isArray(type) ? type : [type ?? ''];
  if (types.includes('string')) return undefined;
  for (const [name, repair] of Object.entries(TEXT_REPAIRS)) {
    const found = types.includes(name) ? repair(text) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function repaired(rule: string, isLiteral: boolean, value: Json): Repair | undefined {
  return isLiteral ? { rule, value } : undefined;
}

function pointerOf(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
