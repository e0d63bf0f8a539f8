import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import type { RegExpEngine } from 'ajv/dist/types/index.js';
import { RE2JS } from 're2js';
import { ContextdError } from '../core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
import { isSmall, withDeadline } from './deadline.ts';
import { findSecretInputs, refusesTokens, SECRET_KEYWORD, type SecretInput } from './secret-inputs.ts';

/** Options the daemon takes on every tool (docs/answers.md). A tool's own schema must not repeat them: it would never see them. */
export const COMMON_OPTIONS = ['max_tokens', 'view', 'continuation', 'timeout_ms', 'dry_run', 'branch'] as const;

/**
 * The options that dispatch takes for a tool with these arguments. A core tool may have an argument with the name of an
 * option and takes it instead, such as the time of a branch; the schemas of other tools are refused then.
 */
export function commonOptionsOf(names: readonly string[]): readonly string[] {
  return COMMON_OPTIONS.filter((option) => !names.includes(option));
}

/** The schema keyword, at the root, for the property that plain words on the command line are the value of. */
const PRIMARY_KEYWORD = 'x-contextd-primary';

/** A tool's argument schema, compiled once. */
export interface ArgumentSchema {
  /** Throws ARGS_INVALID with the JSON pointer of each fault. */
  check(input: JsonObject): void;
  /** The inputs that accept secrets. */
  readonly secretInputs: readonly SecretInput[];
  /** Whether a token in any other input refuses the call. */
  readonly refusesTokens: boolean;
  /** The top-level properties. */
  readonly names: readonly string[];
  /** Those of them that the author marks as `deprecated`. */
  readonly deprecated: readonly string[];
  /** The property that plain words are the value of; null: the tool takes none. */
  readonly primary: string | null;
}

/** Compiles one tool's schema. SCHEMA_INVALID names the tool and the fault. */
export type CompileArguments = (tool: string, schema: JsonObject) => ArgumentSchema;

/**
 * Creates one compiler for the schemas (JSON Schema draft 2020-12) of several tools. A test checks the schemas of core tools against the meta-schema;
 * checking them at every start would cost more than everything else here. Schemas of `core` tools are known to compile, so
 * each is compiled at the first check. The patterns of `others` run in linear time (RE2), and a check ends after `checkMs`: a
 * list of a hundred thousand items and a schema of a thousand parts must not stop the daemon.
 */
export function createArgumentCompiler(whose: 'core' | 'others', checkMs = CHECK_MS): CompileArguments {
  // One of its own for each schema of others: a compilation that was ended in the middle must not harm the next.
  const newAjv = (): Ajv2020 =>
    new Ajv2020({
      // One fault is enough: many faults of long lists would fill the memory.
      ...(whose === 'core' ? { allErrors: true } : { code: { regExp: LINEAR } }),
      meta: false,
      validateSchema: false,
      strict: true,
      allowUnionTypes: true,
      keywords: [SECRET_KEYWORD, PRIMARY_KEYWORD],
    });
  const shared = newAjv();
  return (tool, schema) => {
    const ajv = whose === 'core' ? shared : newAjv();
    let validate = whose === 'core' ? undefined : compileWithin(ajv, tool, schema);
    const properties = isJsonObject(schema.properties) ? schema.properties : {};
    return {
      check(input) {
        validate ??= compile(ajv, tool, schema);
        const { errors, isValid } = whose === 'core' ? run(validate, input) : runWithin(tool, validate, input, checkMs);
        if (!isValid) throw argumentsInvalid(tool, errors, Object.keys(properties), `See \`${tool} --schema\`.`);
      },
      secretInputs: findSecretInputs(tool, schema),
      refusesTokens: refusesTokens(schema),
      names: Object.keys(properties),
      deprecated: Object.keys(properties).filter((name) => isDeprecated(properties[name])),
      primary: primaryOf(tool, schema),
    };
  };
}

/** An annotation of JSON Schema. */
function isDeprecated(property: Json | undefined): boolean {
  return isJsonObject(property) && property.deprecated === true;
}

/** Milliseconds for checking the arguments of one call, and for compiling a schema. Both take some if nothing is wrong. */
const CHECK_MS = 2_000;

interface Checked {
  isValid: boolean;
  errors: readonly ErrorObject[];
}

function run(validate: ValidateFunction, input: JsonObject): Checked {
  return { isValid: validate(input) === true, errors: validate.errors ?? [] };
}

/** Throws PAYLOAD_TOO_LARGE if the schema makes checking this input slow. */
export function runWithin(tool: string, validate: ValidateFunction, input: JsonObject, checkMs = CHECK_MS): Checked {
  if (isSmall(input)) return run(validate, input);
  return withDeadline(
    checkMs,
    () => run(validate, input),
    () => {
      throw new ContextdError(
        'PAYLOAD_TOO_LARGE',
        `the arguments of ${tool} take more than ${checkMs / 1_000} s to check`,
        {
          remedy: 'Send less in one call, or ask the author of the tool for a simpler schema.',
        },
      );
    },
  );
}

/** RE2 has no look-around and no back-references; a pattern that has one does not compile. `code` names it in generated code. */
export const LINEAR: RegExpEngine = Object.assign(
  (pattern: string) => {
    const compiled = RE2JS.compile(pattern);
    return { test: (text: string) => compiled.matcher(text).find() };
  },
  { code: 'LINEAR' },
);

/**
 * Without the keyword it is the only property or the only required one, if that is a string. Throws SCHEMA_INVALID if the keyword names
 * anything but a top-level property whose type is string.
 */
function primaryOf(tool: string, { [PRIMARY_KEYWORD]: named, properties, required }: JsonObject): string | null {
  const names = isJsonObject(properties) ? Object.keys(properties) : [];
  const [only, ...others] = names.length === 1 || !Array.isArray(required) ? names : required;
  const primary = named ?? (others.length === 0 ? only : undefined);
  if (primary === undefined) return null;
  const property = isJsonObject(properties) && typeof primary === 'string' ? properties[primary] : undefined;
  if (typeof primary === 'string' && isJsonObject(property) && property.type === 'string') return primary;
  if (named === undefined) return null;
  throw new ContextdError(
    'SCHEMA_INVALID',
    `${PRIMARY_KEYWORD} of ${tool} is ${JSON.stringify(primary)}, which is not a property of type string`,
    { remedy: `Name a top-level property whose "type" is "string", or leave ${PRIMARY_KEYWORD} out.` },
  );
}

/** Ajv for one draft of JSON Schema. */
type Compiler = Pick<Ajv2020, 'compile'>;

/** Throws SCHEMA_INVALID if the schema does not compile, or not in time. */
export function compileWithin(ajv: Compiler, tool: string, schema: JsonObject): ValidateFunction {
  return withDeadline(
    CHECK_MS,
    () => compile(ajv, tool, schema),
    () => {
      throw new ContextdError(
        'SCHEMA_INVALID',
        `the argument schema of ${tool} takes more than ${CHECK_MS / 1_000} s to compile`,
        {
          remedy: 'Make it simpler: fewer parts and shorter patterns.',
        },
      );
    },
  );
}

function compile(ajv: Compiler, tool: string, schema: JsonObject): ValidateFunction {
  try {
    const validate = ajv.compile(schema);
    // An asynchronous validation answers with a promise, which no caller waits for.
    if (!('$async' in validate) || validate.$async !== true) return validate;
    throw new Error('"$async" is not supported');
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : 'unknown fault';
    throw new ContextdError('SCHEMA_INVALID', `the argument schema of ${tool} does not compile: ${reason}`, {
      remedy: 'Its author must correct the schema (JSON Schema draft 2020-12).',
      cause,
    });
  }
}

/** Faults that one answer names: alternatives give one each. */
const FAULTS_MAX = 20;
/** Properties that a remedy names. */
const NAMED_MAX = 100;

export function argumentsInvalid(
  tool: string,
  errors: readonly ErrorObject[],
  known: readonly string[],
  howToSee: string,
): ContextdError {
  const faults = errors
    .slice(0, FAULTS_MAX)
    .map((error) => ({ pointer: error.instancePath || '/', fault: describe(error) }));
  const sentence = faults.map(({ pointer, fault }) => `${pointer} ${fault}`).join('; ');
  return new ContextdError('ARGS_INVALID', `the arguments of ${tool} do not fit its schema: ${sentence}`, {
    remedy: `Known properties: ${known.slice(0, NAMED_MAX).join(', ')}. ${howToSee}`,
    details: { faults },
  });
}

function describe(error: ErrorObject): string {
  switch (error.keyword) {
    case 'additionalProperties':
      return `has the unknown property "${String(error.params.additionalProperty)}"`;
    case 'enum':
      return `must be one of ${JSON.stringify(error.params.allowedValues)}`;
    default:
      return error.message ?? 'is invalid';
  }
}
