import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalShape, promptHash8, resourceHash8, toolHash8 } from '#src/gateway/ids/shape-hash.js';
import { propertyRuns } from '../../../helpers/property-runs.ts';

/** The functions of gateway surface §1.3 and §9.2, on lines of JSON. */
const PYTHON = `
import hashlib, json, sys

def shape(schema):
    props = sorted((schema.get("properties") or {}).keys())
    required = sorted(schema.get("required") or [])
    return json.dumps({"properties": props, "required": required}, sort_keys=True, separators=(",", ":"))

def hash8(text):
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:8]

for line in sys.stdin:
    name, schema = json.loads(line)
    required = schema.get("required") or []
    prompt = hash8("prompt\\n" + name + "\\n" + json.dumps(sorted(required), separators=(",", ":")))
    answer = {"shape": shape(schema), "tool": hash8(name + "\\n" + shape(schema)), "resource": hash8("resource\\n" + name), "prompt": prompt}
    print(json.dumps(answer))
`;

interface Hashes {
  shape: string;
  tool: string;
  resource: string;
  prompt: string;
}

interface Case {
  name: string;
  schema: { properties?: Record<string, unknown> | null; required?: string[] | null };
}

function inPython(cases: readonly Case[]): Hashes[] {
  const input = cases.map(({ name, schema }) => `${JSON.stringify([name, schema])}\n`).join('');
  const { stdout, stderr } = spawnSync('python3', ['-c', PYTHON], { input, encoding: 'utf8', maxBuffer: 1e9 });
  expect(stderr).toBe('');
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

function inOurs({ name, schema }: Case): Hashes {
  return {
    shape: canonicalShape(schema),
    tool: toolHash8(name, schema),
    resource: resourceHash8(name),
    prompt: promptHash8(name, schema.required ?? []),
  };
}

const noPython = spawnSync('python3', ['--version']).status === 0 ? null : 'python3 is not installed';
if (noPython !== null) console.warn(`shape-hash.test.ts compares nothing with Python: ${noPython}`);

describe.skipIf(noPython !== null)('compared with Python, which the specification is written in', () => {
  it('shapes and hashes are the same for any names, byte for byte', () => {
    // Lone surrogates, which JSON can hold and UTF-8 cannot, are in the shape but not in a name.
    const key = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string(),
      fc.string({ unit: fc.constantFrom('\ud83d', '\ude00', '\uff5e', '\u007f', 'a', 'b'), maxLength: 3 }),
    );
    const schema = fc.record(
      { properties: fc.dictionary(key, fc.constant({})), required: fc.array(key) },
      { requiredKeys: [] },
    );
    const name = fc.string({ unit: 'binary' }).filter((text) => text.isWellFormed());
    const cases = fc.sample(fc.record({ name, schema }), propertyRuns());
    expect(cases.map(inOurs)).toEqual(inPython(cases));
  });
});

// Made once with Python 3.11 by the function above.
describe('the shape of a schema', () => {
  it.each<[string, unknown, string]>([
    ['no schema', undefined, '{"properties":[],"required":[]}'],
    ['no properties', { type: 'object' }, '{"properties":[],"required":[]}'],
    ['null for both', { properties: null, required: null }, '{"properties":[],"required":[]}'],
    ['a list for properties', { properties: ['a'] }, '{"properties":[],"required":[]}'],
    ['a string for required', { required: 'ab' }, '{"properties":[],"required":[]}'],
    ['numbers in required', { required: [2, 'a', null] }, '{"properties":[],"required":["a"]}'],
    ['names that repeat', { required: ['b', 'a', 'b'] }, '{"properties":[],"required":["a","b","b"]}'],
    ['order of the names', { properties: { b: {}, a: {}, B: {} } }, '{"properties":["B","a","b"],"required":[]}'],
    ['names that are numbers', { properties: { 10: {}, 9: {} } }, '{"properties":["10","9"],"required":[]}'],
    ['a prefix first', { properties: { ab: {}, a: {}, '': {} } }, '{"properties":["","a","ab"],"required":[]}'],
    ['umlauts', { properties: { ä: {} } }, '{"properties":["\\u00e4"],"required":[]}'],
    [
      'controls',
      { properties: { '\n\u0001\u007f"\\/': {} } },
      '{"properties":["\\n\\u0001\\u007f\\"\\\\/"],"required":[]}',
    ],
    [
      'an emoji after U+FF5E',
      { properties: { '😀': {}, '～': {} } },
      '{"properties":["\\uff5e","\\ud83d\\ude00"],"required":[]}',
    ],
    [
      'a lone surrogate before U+FF5E',
      { properties: { '～': {}, '\ud83d': {} } },
      '{"properties":["\\ud83d","\\uff5e"],"required":[]}',
    ],
    [
      'a pair after its lone half with more behind it',
      { properties: { '\ud83d\ude00': {}, '\ud83d\ud83d\ude00': {}, '\ud83dz': {} } },
      '{"properties":["\\ud83dz","\\ud83d\\ud83d\\ude00","\\ud83d\\ude00"],"required":[]}',
    ],
  ])('%s', (_, schema, expected) => {
    expect(canonicalShape(schema)).toBe(expected);
  });

  it('has __proto__ as any other name', () => {
    expect(canonicalShape(JSON.parse('{"properties":{"__proto__":{}}}'))).toBe(
      '{"properties":["__proto__"],"required":[]}',
    );
  });
});

describe('hash8', () => {
  it('of a tool is pinned', () => {
    expect(toolHash8('read_file', { properties: { path: {} }, required: ['path'] })).toBe('85b56782');
    expect(toolHash8('größe.messen', { properties: { ä: {}, '😀': {} } })).toBe('765e15e5');
    expect(resourceHash8('file:///docs/readme.md')).toBe('a8c506b1');
    expect(promptHash8('summarize', ['repo', 'branch'])).toBe('0e474f96');
  });

  it('of two tools with the same shape differs by their upstream names', () => {
    const schema = { properties: { title: {} }, required: ['title'] };
    expect(toolHash8('github.create_issue', schema)).not.toBe(toolHash8('gitlab.create_issue', schema));
  });

  it('stays the same when prose or a type changes, and changes with a name', () => {
    const before = toolHash8('x', { properties: { a: { type: 'string', description: 'old' } }, description: 'old' });
    expect(toolHash8('x', { properties: { a: { type: 'integer', description: 'new' } } })).toBe(before);
    expect(toolHash8('x', { properties: { a: {}, b: {} } })).not.toBe(before);
    expect(toolHash8('x', { properties: { a: {} }, required: ['a'] })).not.toBe(before);
  });

  it('of a tool, a resource and a prompt with the same name differs', () => {
    expect(new Set([toolHash8('x', {}), resourceHash8('x'), promptHash8('x', [])]).size).toBe(3);
  });
});
