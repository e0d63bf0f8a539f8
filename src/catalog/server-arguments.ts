import { Ajv, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { RegExpEngine } from 'ajv/dist/types/index.js';
import { ContextdError } from '../core/errors.ts';
import { isJsonObject, type JsonObject } from '../core/json.ts';
import { type ArgumentSchema, argumentsInvalid, compileWithin, LINEAR, runWithin } from './arguments.ts';

/** RE2 for patterns that it knows. Any other pattern matches everything here: the server checks its arguments itself. */
const LENIENT_LINEAR: RegExpEngine = Object.assign(
  (pattern: string, flags: string) => {
    try {
      return LINEAR(pattern, flags);
    } catch {
      return { test: () => true };
    }
  },
  { code: 'LENIENT_LINEAR' },
);

const OPTIONS = { strict: false, validateFormats: false, code: { regExp: LENIENT_LINEAR } } as const;

/** The drafts that schemas of servers name. Without a name it is 2020-12, as MCP says. */
const DRAFTS = [
  { isNamed: (name: string) => /draft-0[3-7]/.test(name), create: (own: object) => new Ajv({ ...OPTIONS, ...own }) },
  { isNamed: () => true, create: (own: object) => new Ajv2020({ ...OPTIONS, ...own }) },
] as const;

type Draft = (typeof DRAFTS)[number];

/** Checks the schemas of many tools against their meta-schemas, each of which is compiled once. */
export class MetaSchemas {
  readonly #validators = new Map<Draft, { validateSchema(schema: object): unknown; errorsText(): string }>();

  /** Why a schema breaks its meta-schema, as a sentence; null if it fits. */
  faultOf(schema: JsonObject): string | null {
    const draft = draftOf(schema);
    const ajv = this.#validators.get(draft) ?? draft.create({});
    this.#validators.set(draft, ajv);
    const { $schema: _draft, ...rules } = schema;
    return ajv.validateSchema(rules) === true ? null : `it does not fit its meta-schema: ${ajv.errorsText()}`;
  }
}

function draftOf({ $schema: name }: JsonObject): Draft {
  return DRAFTS.find(({ isNamed }) => isNamed(typeof name === 'string' ? name : '')) ?? DRAFTS[1];
}

/**
 * The arguments of a tool of an MCP server. Its schema is compiled at the first check; keywords and formats that are not known are
 * ignored, and nothing is fetched for a `$ref`. `fault`: why no argument can be checked; a check then throws SCHEMA_INVALID.
 */
export function serverArguments(id: string, schema: JsonObject, fault: string | null): ArgumentSchema {
  const { $schema: _draft, ...rules } = schema;
  const names = Object.keys(isJsonObject(schema.properties) ? schema.properties : {});
  let validate: ValidateFunction | undefined;
  return {
    check(input) {
      if (fault !== null) throw schemaInvalid(id, fault);
      validate ??= compileWithin(draftOf(schema).create({ meta: false, validateSchema: false }), id, rules);
      const { errors, isValid } = runWithin(id, validate, input);
      if (!isValid) throw argumentsInvalid(id, errors, names, 'tool_hydrate shows its schema.');
    },
    // A server could ask for any secret: no keyword of its schema opens one.
    secretInputs: [],
    refusesTokens: false,
    names,
    deprecated: [],
    primary: null,
  };
}

function schemaInvalid(id: string, fault: string): ContextdError {
  return new ContextdError('SCHEMA_INVALID', `the argument schema of ${id} cannot be used: ${fault}`, {
    remedy: 'Its author must correct it. gateway.schemas has the limits of its size.',
  });
}
