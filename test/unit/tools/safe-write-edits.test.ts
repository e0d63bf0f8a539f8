import { chmodSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROTECTED_PATHS } from '#src/runner/plugin-link.js';
import { runTool } from '#src/sdk/test-harness.js';
import type { JsonObject } from '#src/sdk/tool.js';
import { safeRead } from '#tools/safe_read/main.js';
import { createSafeWrite } from '#tools/safe_write/main.js';
import { useWorkspace } from './temp-workspace.ts';

const workspace = useWorkspace();
const tool = createSafeWrite();
const LIMIT = 16 * 1024 * 1024;

function put(name: string, content: string | Buffer): void {
  writeFileSync(join(workspace.path, name), content);
}

function get(name: string): string {
  return readFileSync(join(workspace.path, name), 'utf8');
}

async function write(input: JsonObject) {
  const { output } = await runTool(tool, input, { workspace: workspace.path, protectedPaths: PROTECTED_PATHS });
  return output.data;
}

async function etagOf(path: string) {
  const { output } = await runTool(safeRead, { path }, { workspace: workspace.path });
  return output.data.etag ?? null;
}

/** A refused edit leaves the file unchanged, and no other file beside it. */
async function refusal(content: string, edits: JsonObject[], more: JsonObject = {}): Promise<unknown> {
  put('refused.txt', content);
  const refused = write({ path: 'refused.txt', edits, ...more });
  const fault = await refused.then(
    (data) => expect.unreachable(`it was written: ${JSON.stringify(data)}`),
    (thrown: unknown) => thrown,
  );
  expect(get('refused.txt')).toBe(content);
  expect(readdirSync(workspace.path).filter((name) => name.startsWith('.contextd-'))).toEqual([]);
  return fault;
}

describe('FR-4.3 safe_write with edits', () => {
  it('replaces exactly, in order, and reports etag, size and the changed lines', async () => {
    put('a.ts', 'one\ntwo\nthree\nfour\nfive\n');
    const edits = [
      { old: 'two', new: 'TWO\n2' },
      { old: 'five\n', new: '' },
      { old: '2\nthree', new: '3' },
    ];
    const data = await write({ path: 'a.ts', edits, expected_etag: await etagOf('a.ts') });
    expect(get('a.ts')).toBe('one\nTWO\n3\nfour\n');
    expect(data).toEqual({
      path: 'a.ts',
      etag: await etagOf('a.ts'),
      bytes: 15,
      replacements: 3,
      changed: ['2-4'],
    });
  });

  it('reports ranges of lines separately if other lines are between them', async () => {
    put('far.txt', Array.from({ length: 60 }, (_, n) => `line ${n + 1}.\n`).join(''));
    const edits = [
      { old: 'line 50.', new: 'x' },
      { old: 'line 3.\n', new: 'a\nb\nc\n' },
      { old: 'line 20.\n', new: '' },
    ];
    expect(await write({ path: 'far.txt', edits })).toMatchObject({ changed: ['3-5', '22', '51'] });
    expect(get('far.txt').split('\n').slice(20, 23)).toEqual(['line 19.', 'line 21.', 'line 22.']);
    expect(get('far.txt').split('\n')[50]).toBe('x');
  });

  it('names at most twenty ranges, and the last one covers the rest', async () => {
    put('many.txt', 'a\nb\n'.repeat(100));
    const { changed, replacements } = await write({ path: 'many.txt', edits: [{ old: 'a', new: 'A', all: true }] });
    expect(replacements).toBe(100);
    expect(changed).toHaveLength(20);
    expect(changed).toMatchObject({ 0: '1', 18: '37', 19: '39-199' });
  });

  it('keeps the permissions, and writes the target of a link', async () => {
    put('run.sh', 'echo old\n');
    chmodSync(join(workspace.path, 'run.sh'), 0o750);
    symlinkSync('run.sh', join(workspace.path, 'run-link'));
    await write({ path: 'run-link', edits: [{ old: 'old', new: 'new' }] });
    expect(get('run.sh')).toBe('echo new\n');
    expect(statSync(join(workspace.path, 'run.sh')).mode & 0o777).toBe(0o750);
  });

  it('names the lines at which an old text occurs more than once', async () => {
    expect(
      await refusal('x = 1\ny = 2\nx = 1\n', [
        { old: 'y', new: 'z' },
        { old: 'x = 1', new: '' },
      ]),
    ).toMatchObject({
      code: 'CONFLICT',
      message: '/edits/1/old occurs 2 times in refused.txt, at lines 1, 3',
      details: { path: 'refused.txt', edit: 1, found: 2, lines: [1, 3] },
    });
    expect(await refusal('aaa', [{ old: 'aa', new: 'b' }])).toMatchObject({ details: { found: 2, lines: [1, 1] } });
    expect(await refusal('e\n'.repeat(50), [{ old: 'e', new: 'b' }])).toMatchObject({
      message: '/edits/0/old occurs more than 10 times in refused.txt, at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10',
    });
  });

  it('reports an old text that is missing because of an earlier edit', async () => {
    expect(await refusal('one\n', [{ old: 'two', new: '' }])).toMatchObject({
      code: 'CONFLICT',
      message: '/edits/0/old is not in refused.txt',
      details: { edit: 0, found: 0 },
    });
    const overlapping = [
      { old: 'abc', new: 'x' },
      { old: 'bcd', new: 'y' },
    ];
    expect(await refusal('abcd', overlapping)).toMatchObject({
      message: '/edits/1/old is not in refused.txt; an earlier edit in the list changed it',
    });
  });

  it.each([
    ['if (a) {\n\tb();\n}', 'if (a) {\n    b();\n}', 'tabs there, spaces here'],
    ['if (a) {\n    b();\n}', 'if (a) {\n\tb();\n}', 'spaces there, tabs here'],
    ['a(  b )', 'a( b )', 'the number of spaces or line breaks'],
    ['first\n\tb()', '  b()', 'tabs there, spaces here'],
    ['a\r\nb\nc', 'a\nb\nc', 'CRLF line ends there, LF here'],
    ['a\nb\nc', 'a\r\nb', 'LF there, CRLF line ends here'],
    ['a\rb\rc', 'a\nb', 'CR line ends there, LF here'],
  ])('says of %j, which differs from %j only in white space: %s', async (there, old, differs) => {
    const fault = await refusal(`head\n${there}\nfoot\n`, [{ old, new: 'x' }]);
    const line = there.startsWith('first') ? 3 : 2;
    expect(fault).toMatchObject({
      code: 'CONFLICT',
      message: `/edits/0/old is not in refused.txt; the text at line ${line} differs only in white space: ${differs}`,
      details: { nearest_line: line },
    });
  });

  it.each([
    ['a\u00a0b', 'a b', '"\u00a0" (U+00A0) there, " " (U+0020) here'],
    ['say “hello”', 'say "hello"', '"“" (U+201C) there, "\\"" (U+0022) here'],
    ["it's", 'it’s', '"\'" (U+0027) there, "’" (U+2019) here'],
    ['a – b', 'a - b', '"–" (U+2013) there, "-" (U+002D) here'],
    ['cafe\u0301', 'caf\u00e9', 'decomposed letters there, composed here'],
    ['caf\u00e9', 'cafe\u0301', 'composed letters there, decomposed here'],
    ['name', '\ufeffname', 'characters of no width around it'],
    ['na\u200bme', 'name', '"\u200b" (U+200B) there, "m" (U+006D) here'],
    ['wait…', 'wait...', '"…" (U+2026) there, "." (U+002E) here'],
  ])('issue 30: says of %j, which looks like %j: %s', async (there, old, differs) => {
    const fault = await refusal(`head\n${there}\nfoot\n`, [{ old, new: 'x' }]);
    expect(fault).toMatchObject({
      code: 'CONFLICT',
      message: `/edits/0/old is not in refused.txt; the text at line 2 differs only in characters that look the same: ${differs}`,
      details: { nearest_line: 2 },
    });
  });

  it.each(['\ud800', 'a\udc00b', '\ud83dx'])('issue 30: writes no half of a character: %j', async (text) => {
    for (const input of [
      { content: text },
      { edits: [{ old: 'a', new: text }] },
      { edits: [{ old: text, new: 'a' }] },
      { patch: `@@ -1 +1 @@\n-a\n+${text}\n` },
    ]) {
      put('half.txt', 'a\n');
      await expect(write({ path: 'half.txt', ...input })).rejects.toMatchObject({
        code: 'ARGS_INVALID',
        message: expect.stringMatching(/^\/\S+ has half of a character at offset \d+: \\u[0-9a-f]{4}$/),
      });
      expect(get('half.txt')).toBe('a\n');
    }
  });

  it('shows nothing of the file in a refusal', async () => {
    const fault = await refusal('key = k7Qm2Xw9\n', [{ old: 'key= k7Qm', new: '' }]);
    expect(JSON.stringify(fault)).not.toContain('Qm2');
    expect(fault).toMatchObject({ message: expect.not.stringContaining('k7Qm') });
  });

  it('keeps CRLF in a CRLF file and says so; an edit with CRLF is applied as it is', async () => {
    put('dos.txt', 'a\r\nb\r\nc\r\n');
    expect(await write({ path: 'dos.txt', edits: [{ old: 'a\nb\n', new: 'a\n1\n2\nb\n' }] })).toMatchObject({
      newline: 'crlf',
      changed: ['1-4'],
    });
    expect(get('dos.txt')).toBe('a\r\n1\r\n2\r\nb\r\nc\r\n');
    expect(await write({ path: 'dos.txt', edits: [{ old: '1', new: 'one' }] })).not.toHaveProperty('newline');
    await write({ path: 'dos.txt', edits: [{ old: '\r\n', new: '\n', all: true }] });
    expect(get('dos.txt')).toBe('a\none\n2\nb\nc\n');
    put('mixed.txt', 'a\r\nb\nc');
    expect(await write({ path: 'mixed.txt', edits: [{ old: 'b\nc', new: 'b\nd' }] })).not.toHaveProperty('newline');
    expect(get('mixed.txt')).toBe('a\r\nb\nd');
  });

  it('keeps a byte order mark and characters of any length', async () => {
    put('unicode.txt', '\ufeffé€\n😀 end');
    expect(await write({ path: 'unicode.txt', edits: [{ old: '€\n😀', new: '\n🎉' }] })).toMatchObject({ bytes: 14 });
    expect(readFileSync(join(workspace.path, 'unicode.txt'))).toEqual(Buffer.from('\ufeffé\n🎉 end'));
  });

  it('refuses a file that it could not write back byte by byte, and leaves it unchanged', async () => {
    const damaged = Buffer.concat([Buffer.from('größe '.repeat(1000)), Buffer.from([0xe9]), Buffer.from('b')]);
    put('damaged.txt', damaged);
    put('image.png', Buffer.from('89504e470d0a1a0a0000', 'hex'));
    for (const [path, kind] of [
      ['damaged.txt', 'text that is not UTF-8'],
      ['image.png', 'PNG image'],
    ] as const)
      await expect(write({ path, edits: [{ old: 'b', new: 'c' }] })).rejects.toMatchObject({
        code: 'PATH_INVALID',
        message: `${kind} cannot be edited: ${path}`,
      });
    expect(readFileSync(join(workspace.path, 'damaged.txt'))).toEqual(damaged);
  });

  it('changes a file of 16 MiB, and no larger file', async () => {
    put('large.txt', `${'x'.repeat(LIMIT - 4)}END\n`);
    expect(await write({ path: 'large.txt', edits: [{ old: 'END', new: 'end' }] })).toMatchObject({ bytes: LIMIT });
    expect(get('large.txt').endsWith('xend\n')).toBe(true);
    await expect(write({ path: 'large.txt', edits: [{ old: 'end', new: 'longer' }] })).rejects.toMatchObject({
      code: 'ARGS_INVALID',
      message: expect.stringContaining(`${LIMIT + 3} bytes long, the limit is ${LIMIT}`),
    });
    put('large.txt', 'x'.repeat(LIMIT + 1));
    await expect(write({ path: 'large.txt', edits: [{ old: 'end', new: '' }] })).rejects.toMatchObject({
      code: 'PATH_INVALID',
      details: { bytes: LIMIT + 1, limit: LIMIT },
    });
  });

  it('refuses to make a file too large before it builds the text', async () => {
    const edits = [{ old: 'x', new: 'y'.repeat(1_000_000), all: true }];
    expect(await refusal('x'.repeat(1_000_000), edits)).toMatchObject({ code: 'ARGS_INVALID' });
  });

  it('searches for a long text that almost matches everywhere in time linear in the file', async () => {
    const almost = `b${'a'.repeat(1_000_000)}`;
    expect(await refusal('a'.repeat(8_000_000), [{ old: almost, new: '' }])).toMatchObject({ code: 'CONFLICT' });
  });

  it('applies a thousand edits and refuses ten thousand', async () => {
    const lines = Array.from({ length: 1000 }, (_, n) => `<${n}>\n`);
    put('list.txt', lines.join(''));
    const edits = lines.map((old, n) => ({ old, new: `[${n}]\n` }));
    expect(await write({ path: 'list.txt', edits })).toMatchObject({ replacements: 1000, changed: ['1-1000'] });
    expect(get('list.txt')).toBe(edits.map((edit) => edit.new).join(''));
    const tooMany = Array.from({ length: 10_000 }, () => ({ old: 'a', new: 'b' }));
    expect(await refusal('a', tooMany)).toMatchObject({
      code: 'ARGS_INVALID',
      message: '/edits has 10000 items, the limit is 1000',
    });
  });

  it('refuses a stale etag, a missing file and a protected file', async () => {
    const edits = [{ old: 'a', new: 'b' }];
    expect(await refusal('a', edits, { expected_etag: '0'.repeat(16) })).toMatchObject({
      code: 'CONFLICT',
      details: { expected_etag: '0'.repeat(16), actual_etag: await etagOf('refused.txt') },
    });
    const gone = { path: 'gone', edits };
    await expect(write(gone)).rejects.toMatchObject({ code: 'PATH_NOT_FOUND' });
    await expect(write({ ...gone, expected_etag: 'x' })).rejects.toMatchObject({ details: { actual_etag: null } });
    put('.envrc', 'a');
    await expect(write({ path: '.envrc', edits })).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
  });

  it('loses none of many concurrent edits', async () => {
    put('counter', Array.from({ length: 20 }, (_, n) => `${n}: old\n`).join(''));
    const edit = (n: number) => ({ path: 'counter', edits: [{ old: `\n${n}: old`, new: `\n${n}: new` }] });
    await Promise.all(Array.from({ length: 19 }, (_, n) => write(edit(n + 1))));
    expect(get('counter').match(/new/g)).toHaveLength(19);
  });
});
