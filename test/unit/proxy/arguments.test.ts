import { rmSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { ContextdError } from '#src/core/errors.js';
import { guessForm, parseArguments } from '#src/proxy/arguments.js';
import { toolOf } from './arbitraries.ts';

function call(source: object | null, more: object = {}) {
  return { kind: 'call', source, flags: '', form: null, out: null, progress: false, ...more };
}

describe('the command line of a tool', () => {
  const withoutSchema = toolOf();
  const withSchema = toolOf({
    text: { type: 'string' },
    flag: { type: 'boolean' },
    list: { type: 'array' },
    any: {},
    out: { type: 'string' },
  });
  const withOneObject = toolOf({ id: { type: 'string' }, args: { type: 'object' } });
  const withMore = toolOf({ id: { type: 'string' }, args: { type: 'object' }, also: { type: 'string' } });
  afterAll(() => {
    for (const { toolDir } of [withoutSchema, withSchema, withOneObject, withMore])
      rmSync(toolDir, { recursive: true });
  });

  it.each([
    [[], call({ from: 'stdin' })],
    [['-'], call({ from: 'stdin' })],
    [['{"a":1}'], call({ from: 'argument', text: '{"a":1}' })],
    [['@in.json'], call({ from: 'file', path: 'in.json' })],
    [['{}', '--out', 'a.json'], call({ from: 'argument', text: '{}' }, { out: 'a.json' })],
    [['--out=a=b', '-'], call({ from: 'stdin' }, { out: 'a=b' })],
    [['--out', '--help', '{}'], call({ from: 'argument', text: '{}' }, { out: '--help' })],
    [['--progress', '@in.json'], call({ from: 'file', path: 'in.json' }, { progress: true })],
    [['npm test'], call({ from: 'argument', text: 'npm test' })],
    [['{ echo a; }'], call({ from: 'argument', text: '{ echo a; }' })],
    [['[1]'], call({ from: 'argument', text: '[1]' })],
    [['ls', '--max-tokens', '500'], call({ from: 'argument', text: 'ls' }, { flags: '{"max_tokens":500}' })],
    [['-', '--max-tokens', '500'], call({ from: 'stdin' }, { flags: '{"max_tokens":500}' })],
    [['--continuation', '7'], call(null, { flags: '{"continuation":"7"}' })],
    [['-h'], { kind: 'print', file: 'TOOL.md' }],
    [['--version'], { kind: 'version' }],
    [['--help'], { kind: 'print', file: 'TOOL.md' }],
    [['--help', '--extended'], { kind: 'print', file: 'TOOL_EXTENDED.md' }],
    [['--extended', '--help'], { kind: 'print', file: 'TOOL_EXTENDED.md' }],
    [['--schema'], { kind: 'print', file: 'schema.json' }],
  ])('%j', async (args, request) => {
    expect(await parseArguments(args, withoutSchema)).toEqual(request);
  });

  it('issue 34: takes a JSON object behind the words as the one property besides theirs', async () => {
    const [id, json] = ['github:create_issue#1a2b3c4d', '{"title":"it\'s"}'];
    const expected = call({ from: 'argument', text: id }, { flags: `{"args":${json}}` });
    expect(await parseArguments([id, json], withOneObject)).toEqual(expected);
    expect(await parseArguments([id, '--args', json], withOneObject)).toEqual(expected);
    const limited = await parseArguments([id, json, '--max-tokens', '9'], withOneObject);
    expect(limited).toMatchObject({ flags: `{"max_tokens":9,"args":${json}}` });
    for (const words of [
      [id, json, json],
      [id, 'x'],
      ['{}', json],
      ['-', json],
      ['@f', json],
    ])
      await expect(parseArguments(words, withOneObject)).rejects.toThrow('words were given');
    await expect(parseArguments([id, '{"a"'], withOneObject)).rejects.toThrow('--args');
    // It may be a command that was not quoted.
    await expect(parseArguments([id, json], withMore)).rejects.toThrow('2 words were given');
  });

  it.each([
    [['--helm'], /--helm; did you mean --help\?/],
    [['--help=1'], /--help takes no value/],
    [['--progress=1'], /--progress takes no value/],
    [['--'], /unknown option --/],
    [['{}', '-'], /2 words were given: "\{\}", "-"/],
    [['{}', '{}'], /2 words were given/],
    [['npm', 'test'], /2 words were given: "npm", "test"/],
    [['ls', '-la'], /2 words were given: "ls", "-la"/],
    [['git', 'log', '--oneline'], /2 words were given: "git", "log"/],
    [[''], /the argument is empty/],
    [[' \n'], /the argument is empty/],
    [['{}', '--out'], /--out needs the name of a file/],
    [['{}', '--out=a', '--out=b'], /--out is given twice/],
    [['--help', '--out', 'a'], /TOOL\.md is not an answer/],
    [['{}', '--dry-run'], /JSON and flags were given together: "\{\}", --dry-run/],
    [[' { "a', '--dry-run'], /JSON and flags were given together/],
  ])('refuses %j', async (args, message) => {
    await expect(parseArguments(args, withSchema)).rejects.toThrow(
      expect.objectContaining({ code: 'ARGS_INVALID', message: expect.stringMatching(message) }),
    );
  });

  it('accepts the common options without the schema', async () => {
    const flags = ['--max-tokens', '500', '--view=tail', '--timeout_ms', '10', '--dry-run', '--continuation', '-x'];
    const request = await parseArguments(flags, withoutSchema);
    expect(JSON.parse(request.kind === 'call' ? request.flags : '')).toEqual({
      max_tokens: 500,
      view: 'tail',
      timeout_ms: 10,
      dry_run: true,
      continuation: '-x',
    });
  });

  it('throws only errors of the table, whatever the words', async () => {
    const name = fc.constantFrom(
      'text',
      'flag',
      'list',
      'any',
      'out',
      'no-flag',
      'help',
      'view',
      'dry-run',
      '__proto__',
    );
    const word = fc.oneof(
      fc.string({ unit: 'binary' }),
      name.map((it) => `--${it}`),
      fc.tuple(name, fc.string()).map(([it, value]) => `--${it}=${value}`),
      fc.json(),
      fc.constantFrom('-', '--', '---', '--=', '--no-', '--no-no-flag', '[['.repeat(10_000), 'true', 'false', '@'),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(word, { maxLength: 8 }), async (args) => {
        try {
          const request = await parseArguments(args, withSchema);
          expect(['call', 'print', 'version']).toContain(request.kind);
        } catch (error) {
          expect(error).toBeInstanceOf(ContextdError);
          expect(error).toMatchObject({ code: 'ARGS_INVALID', remedy: expect.stringMatching(/./) });
        }
      }),
    );
  });
});

it.each([
  [['@nosuch.txt'], 'text'],
  [['q3.py', '@calc.py'], 'text'],
  [['q3.py', '--content', '-'], 'text'],
  [['--edits', '{"a":1}'], 'text'],
  [['ls', 'la'], 'text'],
  [['{"a":1}', '{}'], 'json'],
  [['{}', '--command', 'x'], 'json'],
  [['@in.json'], 'json'],
  [['@nosuch.txt', '--json'], 'json'],
  [['-'], 'json'],
  [['--progress'], 'json'],
  [[], 'json'],
] as const)('issue 30.3 an error of %j before its input is known is %s', (args, form) => {
  expect(guessForm(args)).toBe(form);
});
