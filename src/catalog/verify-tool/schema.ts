import { Ajv2020 } from 'ajv/dist/2020.js';
import { RE2JS } from 're2js';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { COMMON_OPTIONS, createArgumentCompiler } from '../arguments.ts';
import { failed, faultless, passed, TOOL_LIMITS, type ToolCheck, within } from './check.ts';
import type { FileText } from './read-tool.ts';
import { depthOf, reachOf, schemasIn } from './schema-walk.ts';

const DRAFT = 'https://json-schema.org/draft/2020-12/schema';

/** The findings on a schema. A field is null if the schema could not be read far enough. */
interface SchemaReport {
  checks: ToolCheck[];
  /** Tokens of the schema as installed, without white space. */
  tokens: number | null;
  /** The names of the arguments. */
  names: readonly string[] | null;
}

/**
 * Checks FR-2.3 and the limits of a schema that someone else wrote. A schema that is too large, too deep or endless is
 * neither compiled nor walked.
 */
export function checkSchema(
  file: FileText,
  tool: string,
  countTokens: (text: string) => number,
  whose: 'core' | 'others',
): SchemaReport {
  const schema = parse(file);
  if ('rule' in schema) return { checks: [schema], tokens: null, names: null };
  const { value, bytes } = schema;
  const checks = [within('schema.json size', bytes, TOOL_LIMITS.schemaBytes, 'Shorten the descriptions.')];
  const depth = depthOf(value);
  if (depth > TOOL_LIMITS.schemaDepth.most)
    return { checks: [...checks, depthCheck(depth)], tokens: null, names: null };
  const tokens = countTokens(JSON.stringify(value));
  checks.push(
    within(
      'schema.json cost',
      tokens,
      TOOL_LIMITS.schemaTokens,
      'Shorten the descriptions; move the rest to TOOL_EXTENDED.md.',
    ),
  );
  checks.push(...boundChecks(value, depth), ...ownRules(value, whose));
  if (checks.every((check) => check.passed || !BOUNDS.includes(check.rule))) checks.push(...compileChecks(value, tool));
  return { checks, tokens, names: Object.keys(propertiesOf(value)) };
}

function parse(file: FileText): { value: JsonObject; bytes: number } | ToolCheck {
  if (file === null) return failed('schema.json', 'it is missing', 'Write it in JSON Schema draft 2020-12.');
  if ('fault' in file) return failed('schema.json', `it ${file.fault}`, 'Make it a small plain JSON file.');
  try {
    const value: unknown = JSON.parse(file.text);
    if (isJsonObject(value)) return { value, bytes: file.bytes };
    return failed('schema.json', 'it is JSON, but not an object', 'Write a JSON Schema.');
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : 'unknown fault';
    return failed('schema.json', `it is not JSON: ${reason}`, 'Correct the file.');
  }
}

/** The rules that rule out an endless schema. */
const BOUNDS = ['schema.json depth', 'schema.json references', 'schema.json parts'];

function boundChecks(schema: JsonObject, ownDepth: number): ToolCheck[] {
  const { depth, parts, faults } = reachOf(schema);
  const properties = [...schemasIn(schema)].reduce((sum, one) => sum + Object.keys(propertiesOf(one)).length, 0);
  return [
    depthCheck(Math.max(depth, ownDepth)),
    within('schema.json parts', parts, TOOL_LIMITS.schemaParts, 'Use fewer references.'),
    within('schema.json properties', properties, TOOL_LIMITS.schemaProperties, 'Split the tool in two.'),
    faultless(
      'schema.json references',
      faults,
      'all in the file, without a cycle',
      'Replace the references by what they refer to.',
    ),
  ];
}

function depthCheck(depth: number): ToolCheck {
  return within('schema.json depth', depth, TOOL_LIMITS.schemaDepth, 'Reduce the nesting.');
}

function ownRules(schema: JsonObject, whose: 'core' | 'others'): ToolCheck[] {
  const { $schema, type, additionalProperties } = schema;
  const shape = [
    ...(type === 'object' ? [] : ['"type" must be "object"']),
    ...(additionalProperties === false ? [] : ['"additionalProperties" must be false']),
  ];
  const names = Object.keys(propertiesOf(schema));
  const repeated = whose === 'core' ? [] : COMMON_OPTIONS.filter((option) => names.includes(option));
  return [
    faultless(
      'schema.json draft',
      $schema === DRAFT ? [] : ['"$schema" is missing or names another draft'],
      '2020-12',
      `Write "$schema": "${DRAFT}".`,
    ),
    faultless('schema.json top', shape, 'a closed object', 'Correct the top of the schema.'),
    faultless(
      'schema.json names',
      repeated.map((name) => `"${name}" is an option of every tool`),
      'no common option',
      'Choose another name.',
    ),
    faultless('schema.json patterns', patternFaults(schema), 'all linear', 'Use the syntax of RE2.'),
  ];
}

/** Patterns run on a linear engine, so they must have its syntax. */
function patternFaults(schema: JsonObject): string[] {
  const patterns = [...schemasIn(schema)].flatMap(({ pattern, patternProperties }) => [
    ...(typeof pattern === 'string' ? [pattern] : []),
    ...(isJsonObject(patternProperties) ? Object.keys(patternProperties) : []),
  ]);
  const { most, unit } = TOOL_LIMITS.schemaPatterns;
  const length = patterns.reduce((sum, pattern) => sum + pattern.length, 0);
  if (length > most) return [`they have ${length} ${unit} together, the limit is ${most}`];
  return patterns.flatMap((pattern) => {
    try {
      RE2JS.compile(pattern);
      return [];
    } catch (thrown) {
      return [
        `${JSON.stringify(pattern.slice(0, 100))}: ${thrown instanceof Error ? thrown.message : 'unknown fault'}`,
      ];
    }
  });
}

/** Checks the schema against the meta-schema, and with the compiler that the daemon uses. */
function compileChecks(schema: JsonObject, tool: string): ToolCheck[] {
  const ajv = new Ajv2020({ strict: true, logger: false });
  const isValid = ajv.validateSchema({ ...schema, $schema: DRAFT });
  return [
    faultless(
      'schema.json meta-schema',
      isValid ? [] : [ajv.errorsText(ajv.errors, { dataVar: 'schema' })],
      'valid',
      'Correct the schema.',
    ),
    compiled(schema, tool),
  ];
}

function compiled(schema: JsonObject, tool: string): ToolCheck {
  try {
    createArgumentCompiler('others')(tool, schema);
    return passed('schema.json compiles', 'in strict mode');
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : 'unknown fault';
    return failed('schema.json compiles', reason, 'Correct the schema.');
  }
}

function propertiesOf({ properties }: JsonObject): Readonly<Record<string, Json>> {
  return isJsonObject(properties) ? properties : {};
}
