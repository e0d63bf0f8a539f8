import { rmSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import type { Json } from '#src/core/json.js';
import { parseArguments } from '#src/proxy/arguments.js';
import { toolOf } from './arbitraries.ts';

const TOOL = {
  command: { type: 'string' },
  head: { type: 'integer' },
  ratio: { type: 'number' },
  env: { type: 'object' },
  quiet: { type: 'boolean' },
  mode: { enum: ['fast', 'slow', 3] },
  tags: { type: 'array', items: { type: 'string' } },
  sizes: { type: 'array', items: { type: 'integer' } },
  paths: { type: ['string', 'array'], items: { type: 'string' } },
  limit: { type: ['integer', 'null'] },
  free: {},
  no_cache: { type: 'string' },
  'dash-ed': { type: 'string' },
  'twin-a_b': { type: 'string' },
  twin_a_b: { type: 'string' },
  'twin_c-d': { type: 'string' },
  'twin-c_d': { type: 'string' },
  help: { type: 'string' },
};
const tool = toolOf(TOOL);
afterAll(() => rmSync(tool.toolDir, { recursive: true }));

async function inputOf(...args: string[]): Promise<unknown> {
  const request = await parseArguments(args, tool);
  if (request.kind !== 'call' || request.source !== null) throw new Error(`${JSON.stringify(request)}`);
  return JSON.parse(request.flags);
}

describe('the input of a tool as flags', () => {
  it.each<[string[], object]>([
    [['--command', 'npm test', '--head=3'], { command: 'npm test', head: 3 }],
    [['--command', '--help'], { command: '--help' }],
    [['--command', '-'], { command: '-' }],
    [['--command=-x=1'], { command: '-x=1' }],
    [['--command='], { command: '' }],
    [['--command', '@file'], { command: '@file' }],
    [['--command', '{"a":1}'], { command: '{"a":1}' }],
    [['--command', 'true'], { command: 'true' }],
    [['--quiet'], { quiet: true }],
    [['--quiet', '--head', '1'], { quiet: true, head: 1 }],
    [['--quiet', 'false'], { quiet: false }],
    [['--quiet=true'], { quiet: true }],
    [['--no-quiet'], { quiet: false }],
    [['--no-cache', 'x'], { no_cache: 'x' }],
    [['--head', '-5'], { head: -5 }],
    [['--head', '5.0'], { head: 5 }],
    [['--ratio', '1e-3'], { ratio: 0.001 }],
    [['--ratio', '7'], { ratio: 7 }],
    [['--limit', 'null'], { limit: null }],
    [['--env', ' {"A":"b"}'], { env: { A: 'b' } }],
    [['--mode', 'slow'], { mode: 'slow' }],
    [['--mode', '3'], { mode: 3 }],
    [['--tags', '["a","b"]'], { tags: ['a', 'b'] }],
    [['--tags', 'a'], { tags: ['a'] }],
    [['--tags', '[a]', '--tags', '["b"]'], { tags: ['[a]', '["b"]'] }],
    [['--sizes', '1', '--sizes=2'], { sizes: [1, 2] }],
    [['--paths', 'a'], { paths: 'a' }],
    [['--paths', 'a', '--paths', 'b'], { paths: ['a', 'b'] }],
    [['--free', '5'], { free: 5 }],
    [['--free', 'five'], { free: 'five' }],
    [['--dash-ed', 'x'], { 'dash-ed': 'x' }],
    [['--dash_ed', 'x'], { 'dash-ed': 'x' }],
    [['--twin-a_b', 'x', '--twin_a_b', 'y'], { 'twin-a_b': 'x', twin_a_b: 'y' }],
    [['--view', '{"grep":"x"}'], { view: { grep: 'x' } }],
    [['--max_tokens', '300'], { max_tokens: 300 }],
  ])('%j', async (args, input) => {
    expect(await inputOf(...args)).toEqual(input);
  });

  it.each<[string[], RegExp, RegExp]>([
    [['--comand', 'x'], /unknown option --comand; did you mean --command\?/, /safe_bash --schema/],
    [['--max', '3'], /did you mean --max_tokens\?/, /--command, --head/],
    [['--quite'], /did you mean --quiet\?/, /./],
    [['--no-command'], /unknown option --no-command/, /./],
    [['--no-quiet=true'], /--no-quiet takes no value/, /./],
    [['-c', 'x'], /unknown option -c/, /The word after a flag is its value/],
    [['--command'], /--command needs a value/, /a text/],
    [['--command', 'a', '--command', 'b'], /--command is given twice/, /./],
    [['--max-tokens', '1', '--max_tokens', '2'], /--max_tokens is given twice/, /./],
    [['--head', 'x'], /--head does not take "x"/, /--head takes a whole number\./],
    [['--head', '1.5'], /does not take "1.5"/, /a whole number/],
    [['--head', '9007199254740993'], /does not take/, /a whole number/],
    [['--head', '05'], /does not take/, /a whole number/],
    [['--head', ''], /does not take ""/, /a whole number/],
    [['--ratio', '1e999'], /does not take/, /a number/],
    [['--ratio', 'NaN'], /does not take/, /a number/],
    [['--quiet=yes'], /--quiet does not take "yes"/, /true or false/],
    [['--env', '[1]'], /--env does not take/, /a JSON object/],
    [['--env', '{"A"'], /--env does not take/, /a JSON object/],
    [['--mode', 'slower'], /--mode does not take "slower"/, /one of "fast", "slow", 3/],
    [['--tags', '[a]'], /--tags does not take "\[a\]"/, /one element each time/],
    [['--sizes', '1', '--sizes', 'b'], /--sizes does not take "1 b"/, /./],
    [['--limit', 'none'], /--limit does not take/, /a whole number or null/],
    [['--twin_c_d', 'x'], /is ambiguous: it may mean --twin_c-d, --twin-c_d/, /exactly/],
  ])('refuses %j', async (args, message, remedy) => {
    await expect(inputOf(...args)).rejects.toThrow(
      expect.objectContaining({
        code: 'ARGS_INVALID',
        message: expect.stringMatching(message),
        remedy: expect.stringMatching(remedy),
      }),
    );
  });

  it('leaves a property to JSON if it has the name of one of its own flags', async () => {
    expect(await parseArguments(['--help', '--command', 'x'], tool)).toEqual({
      kind: 'print',
      file: 'TOOL.md',
    });
  });

  it('reads any object of a small schema back from its flags', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(member, { selector: ({ name }) => name.replaceAll('-', '_'), maxLength: 6 }),
        async (members) => {
          const declared = Object.fromEntries(members.map(({ name, schema }) => [name, schema]));
          const args = members.flatMap(({ words }) => words);
          const its = toolOf(declared);
          const request = await parseArguments(args, its);
          rmSync(its.toolDir, { recursive: true });
          if (members.length === 0) return;
          const flags = request.kind === 'call' ? request.flags : '';
          expect(JSON.parse(flags)).toEqual(
            Object.fromEntries(members.map(({ name, value }) => [name, asJson(value)])),
          );
        },
      ),
    );
  });
});

const RESERVED =
  /^(help|extended|schema|version|out|progress|json|text|max_tokens|view|continuation|timeout_ms|dry_run|branch|no_.*)$/;

interface Member {
  name: string;
  schema: object;
  value: Json;
  words: string[];
}

const name = fc
  .oneof(fc.stringMatching(/^[a-z][a-z0-9_-]{0,8}$/), fc.constantFrom('__proto__', 'constructor', 'toString', 'é~/"'))
  .filter((it) => !RESERVED.test(it.replaceAll('-', '_')));
const json = fc.jsonValue() as fc.Arbitrary<Json>;

const typed: fc.Arbitrary<{ schema: object; value: Json; texts: string[] }> = fc.oneof(
  scalar({ type: 'string' }, fc.string({ unit: 'grapheme' }), (value) => value),
  scalar({ type: 'integer' }, fc.maxSafeInteger(), String),
  scalar({ type: 'number' }, fc.double({ noDefaultInfinity: true, noNaN: true }), JSON.stringify),
  scalar({ type: 'boolean' }, fc.boolean(), String),
  scalar({ enum: ['a b', 7, true, null] }, fc.constantFrom('a b', 7, true, null), String),
  scalar({ type: ['string', 'object'] }, fc.dictionary(fc.string(), json), JSON.stringify),
  scalar({ type: 'object' }, fc.dictionary(fc.string(), json), JSON.stringify),
  scalar({ type: 'array' }, fc.array(json), JSON.stringify),
  scalar({}, json, JSON.stringify),
  fc.array(fc.string(), { minLength: 2 }).map((value) => ({
    schema: { type: 'array', items: { type: 'string' } },
    value,
    texts: value,
  })),
  fc.array(json, { minLength: 2 }).map((value) => ({
    schema: { type: 'array' },
    value,
    texts: value.map((element) => JSON.stringify(element)),
  })),
);

function scalar<Value extends Json>(schema: object, value: fc.Arbitrary<Value>, print: (value: Value) => string) {
  return value.map((it) => ({ schema, value: it, texts: [print(it)] }));
}

const member: fc.Arbitrary<Member> = fc
  .record({ name, typed, dashed: fc.boolean(), attached: fc.boolean() })
  .map(({ name: plainName, typed: { schema, value, texts }, dashed, attached }) => {
    const flag = `--${dashed ? plainName.replaceAll('_', '-') : plainName}`;
    const words = texts.flatMap((text) => (attached ? [`${flag}=${text}`] : [flag, text]));
    return { name: plainName, schema, value, words };
  });

/** JSON has no negative zero. */
function asJson(value: Json): unknown {
  return JSON.parse(JSON.stringify(value));
}
