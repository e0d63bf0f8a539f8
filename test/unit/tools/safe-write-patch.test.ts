import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createPatch } from 'diff';
import { describe, expect, it } from 'vitest';
import { runTool } from '#src/sdk/test-harness.js';
import { type JsonObject, shownText } from '#src/sdk/tool.js';
import { safeRead } from '#tools/safe_read/main.js';
import { createSafeWrite } from '#tools/safe_write/main.js';
import { useWorkspace } from './temp-workspace.ts';

const workspace = useWorkspace();
const tool = createSafeWrite();

function put(name: string, content: string): void {
  writeFileSync(join(workspace.path, name), content);
}

function get(name: string): string {
  return readFileSync(join(workspace.path, name), 'utf8');
}

async function run(input: JsonObject) {
  return (await runTool(tool, input, { workspace: workspace.path })).output;
}

async function apply(before: string, patch: string, more: JsonObject = {}): Promise<JsonObject> {
  put('file', before);
  const { data, failure } = await run({ path: 'file', patch, ...more });
  expect(failure).toBeUndefined();
  return data;
}

/** For a patch that does not fit: the file is unchanged, and no other file is beside it. */
async function misfit(before: string, patch: string) {
  put('file', before);
  const { failure, streams: [stream] = [] } = await run({ path: 'file', patch });
  expect(get('file')).toBe(before);
  expect(readdirSync(workspace.path).filter((name) => name.startsWith('.contextd-'))).toEqual([]);
  expect(failure).toMatchObject({ code: 'CONFLICT', remedy: expect.stringContaining('Nothing was written.') });
  return { ...failure, found: stream && shownText(stream) };
}

const numbered = (count: number, first = 1): string =>
  Array.from({ length: count }, (_, n) => `line ${first + n}\n`).join('');

describe('FR-4.3 safe_write with a patch', () => {
  it('applies several hunks, and reports etag, size, hunks and the changed lines', async () => {
    const after = numbered(60).replace('line 5\n', 'five\n').replace('line 40\n', '').replace('line 55\n', 'a\nb\n');
    const data = await apply(numbered(60), createPatch('file', numbered(60), after));
    expect(get('file')).toBe(after);
    const { output } = await runTool(safeRead, { path: 'file' }, { workspace: workspace.path });
    const { etag, bytes } = output.data;
    expect(data).toEqual({ path: 'file', etag, bytes, hunks: 3, changed: ['5', '40', '54-55'] });
  });

  it("accepts git's output, and hunks without headers", async () => {
    const hunk = '@@ -1,2 +1,2 @@ function f()\n-a\n+A\n b\n';
    const git = `diff --git a/file b/file\nindex 0123456..89abcde 100644\n--- a/file\n+++ b/file\n${hunk}`;
    for (const patch of [hunk, git, hunk.trimEnd(), `${hunk}\n\n`, git.replaceAll('\n', '\r\n')]) {
      await apply('a\nb\n', patch);
      expect(get('file')).toBe('A\nb\n');
    }
  });

  it('accepts an empty line of context whose space was dropped', async () => {
    await apply('a\n\nb\n', '@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n');
    expect(get('file')).toBe('a\n\nc\n');
  });

  it('accepts lines that look like headers if the counts say that they are lines', async () => {
    await apply('-- a\n++ b\n', '@@ -1,2 +1,2 @@\n--- a\n ++ b\n+++ c\n');
    expect(get('file')).toBe('++ b\n++ c\n');
  });

  it.each([
    ['a\nb', 'a\nb\n'],
    ['a\nb\n', 'a\nb'],
    ['a\nb', 'A\nb'],
    ['', 'a'],
    ['a', ''],
    ['a', 'b'],
  ])('keeps whether a file ends with a newline: %j to %j', async (before, after) => {
    await apply(before, createPatch('file', before, after));
    expect(get('file')).toBe(after);
  });

  it('finds a hunk elsewhere if it occurs there once, and reports by how many lines it moved', async () => {
    const patch = createPatch('file', numbered(40), numbered(40).replace('line 10\n', 'ten\n').replace('line 30', 'X'));
    const data = await apply(`new\nnew\n${numbered(40)}`, patch);
    expect(get('file')).toBe(`new\nnew\n${numbered(40)}`.replace('line 10\n', 'ten\n').replace('line 30', 'X'));
    expect(data).toMatchObject({
      offsets: [
        { hunk: 1, lines: 2 },
        { hunk: 2, lines: 2 },
      ],
      changed: ['12', '32'],
    });
    const above = await apply(numbered(35, 6), patch);
    expect(above).toMatchObject({ offsets: [{ lines: -5 }, { lines: -5 }], changed: ['5', '25'] });
  });

  it('does not choose between two places', async () => {
    const block = '{\n  x\n}\n';
    const patch = '@@ -20,3 +20,3 @@\n {\n-  x\n+  y\n }\n';
    expect(await misfit(`${block}\n${block}`, patch)).toMatchObject({
      message:
        'in file, hunk 1 (line 1 of the patch) is not at line 20 and fits in more than one place, such as lines 1 and 5',
      details: { hunk: 1, patch_line: 1, line: 20, lines: [1, 5] },
    });
    await apply(`${block}\n${block}`, patch.replaceAll('20', '5'));
    expect(get('file')).toBe(`${block}\n${block.replace('x', 'y')}`);
  });

  it('says which hunk does not fit, where, and what is there', async () => {
    const patch = createPatch(
      'file',
      numbered(40),
      numbered(40).replace('line 10\n', 'ten\n').replace('line 30\n', ''),
    );
    const fault = await misfit(numbered(40).replace('line 28\n', 'other €\n'), patch);
    expect(fault).toMatchObject({
      message: 'in file, hunk 2 (line 16 of the patch) does not fit: line 28 is not the line it expects',
      found: 'other €',
      details: { path: 'file', hunk: 2, patch_line: 16, line: 26 },
    });
  });

  it('SEC-1.1 shows the first 300 bytes of the line, and lets the whole file be searched with it', async () => {
    put('file', `${'before\n'.repeat(2000)}${'é'.repeat(5000)}\nafter\n`);
    const { streams } = await run({ path: 'file', patch: '@@ -2001 +2001 @@\n-x\n+y\n' });
    const [stream] = streams ?? [];
    expect(stream && shownText(stream)).toBe('é'.repeat(150));
    expect(stream?.margin).toEqual({ before: 14_000, after: 4857 });
  });

  it.each([
    [
      'a\n\tb\nc\n',
      '@@ -2 +2 @@\n-    b\n+B\n',
      /line 2 is not the line .* differs only in white space: tabs there, spaces/,
    ],
    ['a\n', '@@ -7 +7 @@\n-b\n+c\n', /expected at line 7, but the file ends before this line/],
    ['a\nb', '@@ -1,2 +1,2 @@\n-a\n+A\n b\n', /ends there without a newline; add "\\ No newline at end of file"/],
    [
      'a\nb\n',
      '@@ -1 +1 @@\n-a\n+A\n\\ No newline at end of file\n',
      /says that the file ends there without a newline/,
    ],
    ['xa\nb\n', '@@ -5 +5 @@\n-a\n+c\n', /expected at line 5, but the file ends before this line/],
    ['a\n', '@@ -9,0 +10 @@\n+b\n', /has no context lines/],
    ['a\nb', '@@ -2,0 +3 @@\n+c\n', /has no context lines/],
    ['a\nb\nc\n', '@@ -3 +3 @@\n-c\n+C\n@@ -1 +1 @@\n-a\n+A\n', /hunk 2 .* the hunk before it ends after this line/],
  ])('of %j and %j says why', async (before, patch, why) => {
    expect((await misfit(before, patch)).message).toMatch(why);
  });

  it.each([
    ['is for several files', '--- a\n+++ a\n@@ -1 +1 @@\n-a\n+b\n--- c\n+++ c\n@@ -1 +1 @@\n-a\n+b\n'],
    ['is for several files', `diff --git a b\n@@ -1 +1 @@\n-a\n+b\ndiff --git c d\n@@ -1 +1 @@\n-a\n+b\n`],
    ['does more than change the text', '--- a\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n'],
    ['does more than change the text', 'diff --git a/a b/b\nrename from a\nrename to b\n'],
    ['does more than change the text', 'diff --git a/a b/a\nnew file mode 100755\n'],
    ['has no hunk', ''],
    ['is not a unified diff: its line 1 is neither', '*** Begin Patch\n@@\n-a\n+b\n'],
    ['is not a unified diff: its line 3 is neither', '--- a\n+++ a\n-a\n+b\n'],
    [
      'is truncated or miscounted: hunk 1 at its line 1 announces -2 +2 lines but has -1 +1',
      '@@ -1,2 +1,2 @@\n-a\n+b\n',
    ],
    ['is not a unified diff: its line 4 does not belong to hunk 1', '@@ -1 +1 @@\n-a\n+b\n+c\n'],
    ['is not a unified diff: its line 3 does not belong to hunk 1', '@@ -1,2 +1,2 @@\n-a\nb\n+b\n'],
    ['is not a unified diff: its line 4 does not', '@@ -1 +1,2 @@\n-a\n\\ No newline at end of file\n-b\n+c\n+d\n'],
  ])('a patch that %s is refused', async (fault, patch) => {
    put('file', 'a\n');
    const refused = run({ path: 'file', patch });
    await expect(refused).rejects.toMatchObject({ code: 'ARGS_INVALID', message: expect.stringContaining(fault) });
    expect(get('file')).toBe('a\n');
  });

  it('SEC-1.4 never takes the rest of a secret of several lines for the end of the patch', async () => {
    put('file', 'a\n');
    const pem = ['-----BEGIN KEY-----', 'MIIabc', '+xyz', '-----END KEY-----'].join('\n');
    for (const patch of [`@@ -1 +1,2 @@\n a\n+${pem}\n`, `@@ -1 +1,2 @@\n+${pem}\n a\n`])
      await expect(run({ path: 'file', patch })).rejects.toMatchObject({
        code: 'ARGS_INVALID',
        remedy: expect.stringContaining('use "edits"'),
      });
    expect(get('file')).toBe('a\n');
  });

  it('keeps CRLF in a CRLF file, unless the patch has CRLF', async () => {
    const data = await apply('a\r\nb\r\n', '@@ -1,2 +1,3 @@\n a\n+new\n b\n');
    expect(get('file')).toBe('a\r\nnew\r\nb\r\n');
    expect(data).toMatchObject({ newline: 'crlf', changed: ['2'] });
    expect(await apply('a\r\nb\r\n', '@@ -1,2 +1,2 @@\n-a\r\n+a\n b\r\n')).not.toHaveProperty('newline');
    expect(get('file')).toBe('a\nb\r\n');
  });

  it('creates a missing file, and no other', async () => {
    const made = { path: 'deep/made', patch: '--- /dev/null\n+++ b/deep/made\n@@ -0,0 +1,2 @@\n+a\n+b\n' };
    expect((await run(made)).data).toMatchObject({ created: true, hunks: 1, changed: ['1-2'], bytes: 4 });
    expect(get('deep/made')).toBe('a\nb\n');
    await expect(run(made)).rejects.toMatchObject({ code: 'CONFLICT', message: expect.stringContaining('exists') });
    await run({ path: 'made-too', patch: '@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n' });
    expect(get('made-too')).toBe('a');
    const change = { path: 'not-there', patch: '@@ -1 +1 @@\n-a\n+b\n' };
    await expect(run(change)).rejects.toMatchObject({ code: 'PATH_NOT_FOUND' });
    expect(existsSync(join(workspace.path, 'not-there'))).toBe(false);
  });

  it('applies a patch of 5 MB', async () => {
    const lines = Array.from({ length: 24_000 }, (_, n) => `line ${n}\n`);
    const hunks = lines.map((line, n) => `@@ -${n + 1} +${n + 1} @@\n-${line}+${n} ${'x'.repeat(220)}\n`);
    const patch = hunks.filter((_, n) => n % 7 < 6).join('');
    const before = lines.join('');
    const after = lines.map((line, n) => (n % 7 < 6 ? `${n} ${'x'.repeat(220)}\n` : line)).join('');
    expect(patch.length).toBeGreaterThan(5_000_000);
    expect(await apply(before, patch)).toMatchObject({ bytes: after.length });
    expect(get('file') === after).toBe(true);
  });

  it('searches for at most a thousand hunks that are not at their line', async () => {
    const text = Array.from({ length: 3000 }, (_, n) => `<${n}>\n`).join('');
    const hunks = Array.from({ length: 1500 }, (_, n) => `@@ -${4000 - n} +1 @@\n-<${2 * n}>\n+x\n`).join('');
    expect((await misfit(text, hunks)).message).toMatch(/1000 hunks before it were not at the line in their header/);
  });
});
