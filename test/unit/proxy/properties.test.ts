import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ContextdError } from '#src/core/errors.js';
import { parseArguments } from '#src/proxy/arguments.js';
import { SCHEMA_MAX_BYTES } from '#src/proxy/properties.js';

describe('the schema.json that defines the flags', () => {
  let directory: string;
  let file: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'schema-'));
    file = join(directory, 'schema.json');
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  async function inputOf(...args: string[]): Promise<string | undefined> {
    const request = await parseArguments(args, { tool: 'safe_bash', toolDir: directory });
    if (request.kind !== 'call') return undefined;
    return request.source?.from === 'argument' ? request.source.text : request.flags;
  }

  function refused(words: RegExp) {
    return expect.objectContaining({
      code: 'ARGS_INVALID',
      message: expect.stringMatching(words),
      remedy: expect.stringMatching(/ctxd init.*safe_bash '\{/),
    });
  }

  it("is needed only for the tool's own flags: JSON and common options work without it", async () => {
    expect(await inputOf('{"command":"x"}')).toBe('{"command":"x"}');
    expect(await inputOf('--max-tokens', '300')).toBe('{"max_tokens":300}');
    await expect(inputOf('--command', 'x')).rejects.toThrow(refused(/schema\.json cannot be read \(ENOENT\)/));
  });

  it.each([
    ['', /is not JSON/],
    ['{"properties":', /is not JSON/],
    ['['.repeat(SCHEMA_MAX_BYTES), /is not JSON/],
    ['[]', /is not a JSON object/],
    ['null', /is not a JSON object/],
    [`{${' '.repeat(SCHEMA_MAX_BYTES)}}`, /has 262146 bytes, the limit is 262144/],
  ])('is refused if it is not a schema (%#)', async (text, words) => {
    writeFileSync(file, text);
    await expect(inputOf('--command', 'x')).rejects.toThrow(refused(words));
  });

  it('is refused if it is a directory, or a pipe without a writer', async () => {
    mkdirSync(file);
    await expect(inputOf('--command', 'x')).rejects.toThrow(refused(/is not a file/));
    rmSync(file, { recursive: true });
    execFileSync('mkfifo', [file]);
    await expect(inputOf('--command', 'x')).rejects.toThrow(refused(/is not a file/));
  });

  it('is not quoted if it is not a schema', async () => {
    writeFileSync(file, 'the words of another file');
    expect((await failure(() => inputOf('--command', 'x'))).message).not.toContain('words');
  });

  it('may nest as deeply as its size allows', async () => {
    const deep = `${'{"properties":'.repeat(8_000)}{}${'}'.repeat(8_000)}`;
    writeFileSync(file, `{"properties":{"command":${deep},"list":{"type":"array","items":${deep}}}}`);
    expect(await inputOf('--command', 'x', '--list', 'y')).toBe('{"command":"x","list":["y"]}');
  });

  it('cannot use the names of object properties to confuse the parser', async () => {
    writeFileSync(file, '{"properties":{"__proto__":{"type":"string"},"__proto__x":{"__proto__":{"type":"integer"}}}}');
    expect(await inputOf('--__proto__', 'x')).toBe('{"__proto__":"x"}');
    expect(await inputOf('--__proto__x', 'y')).toBe('{"__proto__x":"y"}');
    for (const name of ['constructor', 'toString', 'hasOwnProperty']) {
      await expect(inputOf(`--${name}`, 'x')).rejects.toThrow(/unknown option/);
    }
  });

  it('is limited in what it puts into a message', async () => {
    const names = Array.from({ length: 2_000 }, (_, i) => [`${'n'.repeat(100)}${i}`, { enum: ['v'.repeat(1000)] }]);
    writeFileSync(file, JSON.stringify({ properties: Object.fromEntries(names.slice(0, 200)) }));
    const error = await failure(() => inputOf('--other', 'x'));
    expect(`${error.message} ${error.remedy}`.length).toBeLessThan(3_000);
    const choice = await failure(() => inputOf(`--${'n'.repeat(100)}0`, 'x'));
    expect(`${choice.message} ${choice.remedy} ${JSON.stringify(choice.details)}`.length).toBeLessThan(1_000);
  });

  it('causes only faults of the table, whatever its shape', async () => {
    const value: fc.Arbitrary<unknown> = fc.oneof(
      fc.constantFrom('string', 'integer', 'boolean', 'array', 'object', ['boolean', 'null'], 'x', 5, null, [], {}),
      fc.jsonValue({ maxDepth: 2 }),
    );
    const property = fc.oneof(
      value,
      fc.record(
        { type: value, enum: value, const: value, items: fc.oneof(value, fc.record({ type: value })) },
        { requiredKeys: [] },
      ),
    );
    const schema = fc.record({ properties: fc.oneof(value, fc.record({ command: property })) }, { requiredKeys: [] });
    const texts = fc.array(fc.oneof(fc.string(), fc.json()), { minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(fc.oneof(schema, value), texts, async (hostile, values) => {
        writeFileSync(file, JSON.stringify(hostile));
        try {
          const text = (await inputOf(...values.map((it) => `--command=${it}`))) ?? '';
          expect(Object.keys(JSON.parse(text))).toEqual(['command']);
        } catch (error) {
          expect(error).toBeInstanceOf(ContextdError);
          expect(error).toMatchObject({ code: 'ARGS_INVALID' });
        }
      }),
    );
  });
});

async function failure(run: () => Promise<unknown>): Promise<ContextdError> {
  try {
    await run();
  } catch (error) {
    if (error instanceof ContextdError) return error;
  }
  throw new Error('it did not fail');
}
