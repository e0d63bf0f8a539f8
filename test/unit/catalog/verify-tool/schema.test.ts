import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { COMMON_OPTIONS } from '#src/catalog/arguments.js';
import { TOOL_LIMITS } from '#src/catalog/verify-tool/check.js';
import { checkSchema } from '#src/catalog/verify-tool/schema.js';
import { COMMON_OPTIONS as PROXY_OPTIONS } from '#src/proxy/properties.js';
import { propertyRuns } from '../../../helpers/property-runs.ts';
import { countTokens, SCHEMA } from './tool-files.ts';

const RULES = [
  'schema.json size',
  'schema.json cost',
  'schema.json depth',
  'schema.json parts',
  'schema.json properties',
  'schema.json references',
  'schema.json draft',
  'schema.json top',
  'schema.json names',
  'schema.json patterns',
  'schema.json meta-schema',
  'schema.json compiles',
];

function checkText(text: string) {
  return checkSchema({ text, bytes: Buffer.byteLength(text) }, 'good_tool', countTokens, 'others');
}

function faults(schema: unknown): Record<string, string> {
  const failed = checkText(JSON.stringify(schema)).checks.filter((check) => !check.passed);
  return Object.fromEntries(failed.map(({ rule, detail }) => [rule.replace('schema.json', '').trim(), detail]));
}

/** `count` nested objects, each a property of the outer one. */
function nested(count: number): string {
  return `${'{"properties":{"a":'.repeat(count)}{}${'}}'.repeat(count)}`;
}

describe('the schema of a tool', () => {
  it('FR-2.3 passes, and its cost without layout and its arguments are reported', () => {
    const report = checkText(JSON.stringify(SCHEMA, null, 8));
    expect(report.checks.map(({ rule, passed }) => [rule, passed])).toEqual(RULES.map((rule) => [rule, true]));
    expect(report).toMatchObject({ tokens: countTokens(JSON.stringify(SCHEMA)), names: ['path'] });
  });

  it.each([
    [
      'an older draft',
      { $schema: 'http://json-schema.org/draft-07/schema#' },
      { draft: '"$schema" is missing or names another draft' },
    ],
    ['no draft', { $schema: undefined }, { draft: '"$schema" is missing or names another draft' }],
    ['an open top', { additionalProperties: true }, { top: '"additionalProperties" must be false' }],
    [
      'a top for any type',
      { type: undefined },
      { top: '"type" must be "object"', compiles: expect.stringContaining('missing type') },
    ],
    ['an unknown keyword', { typo: 1 }, { compiles: expect.stringContaining('unknown keyword: "typo"') }],
    [
      'an unknown format',
      { properties: { path: { type: 'string', format: 'nope' } } },
      { compiles: expect.stringContaining('unknown format "nope"') },
    ],
    [
      'a secret input that is not a string',
      { properties: { path: { type: 'array', 'x-contextd-secret': 'file' } } },
      { compiles: expect.stringContaining('for inputs of the type "string"') },
    ],
    [
      'a keyword of the wrong type',
      { required: 'path' },
      { 'meta-schema': expect.stringContaining('schema/required must be array'), compiles: expect.any(String) },
    ],
    [
      'patterns that only a backtracking engine runs',
      { properties: { path: { type: 'string', pattern: '(?=a)b' } }, patternProperties: { '(a)\\1': true } },
      { patterns: expect.stringMatching(/^"\(a\)\\\\1": .*; "\(\?=a\)b": /), compiles: expect.any(String) },
    ],
    ['an answer that nobody waits for', { $async: true }, { references: expect.stringContaining('$async') }],
    [
      'a reference that a compiler reads as another',
      { $defs: { '%62': {}, b: { type: 'string' } }, properties: { path: { $ref: '#/$defs/%62' } } },
      expect.objectContaining({ references: expect.stringContaining('%62') }),
    ],
    [
      'lists of objects that must differ',
      { properties: { path: { type: 'array', items: { type: 'object' }, uniqueItems: true } } },
      expect.objectContaining({ references: expect.stringContaining('uniqueItems') }),
    ],
  ])('fails with %s', (_, part, expected) => {
    expect(faults({ ...SCHEMA, ...part })).toEqual(expected);
  });

  it('repeats no option that every tool has', () => {
    for (const name of COMMON_OPTIONS)
      expect(faults({ ...SCHEMA, properties: { ...SCHEMA.properties, [name]: { type: 'string' } } })).toEqual({
        names: `"${name}" is an option of every tool`,
      });
    expect([...COMMON_OPTIONS]).toEqual([...PROXY_OPTIONS.keys()]);
  });

  it('has 64 properties at most, counted in all objects', () => {
    const objects = (each: number, rest: number) => ({
      ...SCHEMA,
      properties: {
        path: { type: 'string' },
        a: { type: 'object', properties: many(each), additionalProperties: false },
        b: { type: 'object', properties: many(rest), additionalProperties: false },
      },
    });
    const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${n}`, {}]));
    expect(faults(objects(31, 30))).toEqual({});
    expect(faults(objects(31, 31))).toEqual({ properties: '65 of at most 64 properties' });
  });

  it('costs 500 tokens at most', () => {
    const described = (words: number) => ({ ...SCHEMA, description: ' a'.repeat(words) });
    const own = countTokens(JSON.stringify(described(100))) - 100;
    expect(faults(described(500 - own))).toEqual({});
    expect(faults(described(501 - own))).toEqual({ cost: '501 of at most 500 tokens' });
  });

  it('has patterns of at most 2,000 characters, all together', () => {
    const pattern = (length: number) => ({ type: 'string', pattern: 'a'.repeat(length) });
    const two = (length: number) => ({ ...SCHEMA, properties: { path: pattern(length), second: pattern(1_000) } });
    expect(faults(two(1_000))).toEqual({});
    expect(faults(two(1_001))).toEqual({ patterns: 'they have 2001 characters together, the limit is 2000' });
  });

  it('has at most 8 levels, and deeper levels are not read', () => {
    const parse = (levels: number) => checkText(nested(levels / 2 - 0.5)).checks;
    expect(parse(7).find(({ rule }) => rule === 'schema.json depth')).toMatchObject({ passed: true, figure: 7 });
    expect(parse(9).map(({ rule, figure }) => [rule, figure])).toEqual([
      ['schema.json size', expect.any(Number)],
      ['schema.json depth', 9],
    ]);
  });

  it('may be nested as deeply as its size allows without harm', () => {
    for (const text of [nested(3_000), `{"const":${'['.repeat(32_000)}${']'.repeat(32_000)}}`]) {
      const failed = checkText(text).checks.filter((check) => !check.passed);
      expect(failed.map(({ rule }) => rule)).toEqual(['schema.json depth']);
    }
    expect(checkText('['.repeat(65_536)).checks).toMatchObject([{ rule: 'schema.json', passed: false }]);
  });

  it.each([
    ['https://json-schema.org/draft/2020-12/schema', 'has no target in this file'],
    ['other.json', 'has no target in this file'],
    ['#/$defs/none', 'has no target in this file'],
    ['#/properties/constructor', 'has no target in this file'],
    ['#anchor', 'has no target in this file'],
    [7, 'has no target in this file'],
    ['#', 'leads back to itself'],
    ['#/properties/self', 'leads back to itself'],
    ['#/$defs/b', 'leads back to itself'],
  ])('fails with a reference to %j and is not compiled', ($ref, sentence) => {
    const schema = {
      ...SCHEMA,
      properties: { self: { $ref } },
      $defs: { a: { $ref: '#/$defs/b' }, b: { type: 'array', items: { $ref: '#/$defs/a' } } },
    };
    expect(faults({ ...schema, required: [] })).toEqual({ references: expect.stringContaining(sentence) });
    expect(checkText(JSON.stringify(schema)).checks.map(({ rule }) => rule)).not.toContain('schema.json compiles');
  });

  it('may refer to its own definitions, whatever their names', () => {
    const properties = {
      path: { $ref: '#/$defs/a~1b~0c' },
      second: { $ref: '#/$defs/a~1b~0c' },
      $ref: { type: 'string' },
    };
    const schema = { ...SCHEMA, properties, $defs: { 'a/b~c': { enum: ['x'] } } };
    expect(faults(schema)).toEqual({});
    expect(faults({ ...schema, default: { $ref: 'https://example.com' } })).toEqual({});
  });

  it("has no identity of its own, because another tool's schema could have the same", () => {
    expect(faults({ ...SCHEMA, $id: 'https://example.com/a' })).toEqual({
      references: expect.stringContaining('"$id"'),
    });
  });

  it('cannot multiply itself by references', () => {
    const twice = (n: number) => ({ allOf: [{ $ref: `#/$defs/d${n}` }, { $ref: `#/$defs/d${n}` }] });
    const $defs = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`d${n}`, n < 29 ? twice(n + 1) : {}]));
    expect(faults({ ...SCHEMA, properties: { path: twice(0) }, $defs })).toMatchObject({
      parts: `1001 of at most ${TOOL_LIMITS.schemaParts.most} schemas`,
      depth: expect.stringMatching(/^\d+ of at most 8 levels$/),
    });
  });

  it('fails with a sentence and never throws, whatever the text', () => {
    const word = fc.constantFrom(
      '$ref',
      '$defs',
      '$id',
      'properties',
      'items',
      'allOf',
      'type',
      'pattern',
      'enum',
      'const',
    );
    const leaf = fc.oneof(fc.constantFrom('#', '#/$defs/type', 'string', 'object', '(', '__proto__'), fc.jsonValue());
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 5 },
        leaf,
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(word, tie('tree'), { maxKeys: 4 }),
      ),
    }));
    const text = fc.oneof(
      fc.string(),
      tree.map((value) => JSON.stringify({ ...SCHEMA, ...Object(value) })),
    );
    fc.assert(
      fc.property(text, (some) => {
        for (const check of checkText(some).checks)
          expect(check.detail !== '' && check.passed === (check.remedy === '')).toBe(true);
      }),
      { numRuns: propertyRuns('slow') },
    );
  });
});
