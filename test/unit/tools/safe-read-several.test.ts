import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runTool } from '#src/sdk/test-harness.js';
import { type JsonObject, shownText } from '#src/sdk/tool.js';
import { safeRead } from '#tools/safe_read/main.js';
import { propertyRuns } from '../../helpers/property-runs.ts';
import { useWorkspace } from './temp-workspace.ts';

const workspace = useWorkspace();

function put(name: string, content: string | Buffer): void {
  writeFileSync(join(workspace.path, name), content);
}

async function read(input: JsonObject, change: { outputMaxBytes?: number; signal?: AbortSignal } = {}) {
  const { output } = await runTool(safeRead, input, { workspace: workspace.path, ...change });
  const contents = (output.streams ?? []).map((stream) => [stream.field, shownText(stream)]);
  return { ...output, contents: Object.fromEntries(contents) as Record<string, string> };
}

describe('FR-4.2 safe_read of several files', () => {
  it('returns for each file the stream and the facts of a single read', async () => {
    put('a.txt', 'one\ntwo\n');
    put('b.txt', 'three\nfour\nfive\n');
    const { data, contents, warnings, droppedBytes } = await read({ paths: ['a.txt', 'b.txt'], lines: '2-3' });
    const alone = await Promise.all(['a.txt', 'b.txt'].map((path) => read({ path, lines: '2-3' })));
    expect(contents).toEqual({ content_1: 'two\n', content_2: 'four\nfive\n' });
    expect(data).toEqual({
      files: [
        { field: 'content_1', ...alone[0]?.data },
        { field: 'content_2', ...alone[1]?.data },
      ],
    });
    expect({ warnings, droppedBytes }).toEqual({});
  });

  it('has the same form for one path', async () => {
    put('a.txt', 'one\n');
    expect(await read({ paths: ['a.txt'] })).toMatchObject({
      data: { files: [{ path: 'a.txt', field: 'content_1', lines: 1 }] },
      contents: { content_1: 'one\n' },
    });
  });

  it('searches all of them, and counts matches per file', async () => {
    put('a.txt', 'foo\nbar\nfoo\n');
    put('b.txt', 'bar\n');
    const { data, contents } = await read({ paths: ['a.txt', 'b.txt'], grep: 'f[o]+' });
    expect(contents).toEqual({ content_1: '1:foo\n3:foo\n', content_2: '' });
    expect(data.files).toMatchObject([{ matches: 2 }, { matches: 0 }]);
  });

  it('reports a file that cannot be read, and reads the others', async () => {
    put('a.txt', 'one\n');
    put('image.png', Buffer.from('89504e470d0a1a0a0000', 'hex'));
    mkdirSync(join(workspace.path, 'dir'), { recursive: true });
    symlinkSync('/etc/passwd', join(workspace.path, 'escape'));
    const { data, contents, warnings } = await read({ paths: ['gone', 'image.png', 'a.txt', 'dir', '../x', 'escape'] });
    expect(contents).toEqual({ content_3: 'one\n' });
    expect(data.files).toEqual([
      { path: 'gone', error: { code: 'PATH_NOT_FOUND', message: 'there is no gone in the workspace' } },
      { path: 'image.png', error: { code: 'PATH_INVALID', message: 'not text but PNG image, 10 bytes: image.png' } },
      { path: 'a.txt', field: 'content_3', etag: expect.any(String), bytes: 4, lines: 1 },
      { path: 'dir', error: { code: 'PATH_INVALID', message: 'a directory: dir' } },
      { path: '../x', error: { code: 'PATH_INVALID', message: expect.stringContaining('out of the workspace') } },
      { path: 'escape', error: { code: 'PATH_INVALID', message: expect.stringContaining('out of the workspace') } },
    ]);
    // Dispatch warns with PARTIAL_FAILURE.
    expect(warnings).toBeUndefined();
  });

  it('fails with the first fault if no file can be read', async () => {
    mkdirSync(join(workspace.path, 'dir'), { recursive: true });
    await expect(read({ paths: ['gone', 'dir'] })).rejects.toMatchObject({ code: 'PATH_NOT_FOUND' });
    await expect(read({ paths: ['dir'] })).rejects.toMatchObject({ code: 'PATH_INVALID', details: { path: 'dir' } });
  });

  it('names the file that a warning belongs to', async () => {
    put('a.txt', 'one\n');
    put('b.txt', 'one\ntwo\n');
    put('damaged.txt', Buffer.concat([Buffer.from('größe\n'.repeat(10)), Buffer.from([0xe9, 0x0a])]));
    const { warnings, contents } = await read({ paths: ['a.txt', 'b.txt', 'damaged.txt'], lines: '2-' });
    expect(warnings).toEqual([
      'a.txt ends before the selected part: it has 1 lines, 4 bytes',
      'bytes of damaged.txt that are not UTF-8 were replaced by U+FFFD',
    ]);
    expect(contents).toMatchObject({ content_1: '', content_2: 'two\n' });
  });

  it('gives each file an equal share, and passes on what a file does not need', async () => {
    for (const name of ['big1', 'small', 'big2']) put(name, name === 'small' ? 'x' : 'word '.repeat(1000));
    const { data, contents, droppedBytes } = await read({ paths: ['big1', 'small', 'big2'] }, { outputMaxBytes: 600 });
    const sizes = Object.values(contents).map((content) => content.replace(/\n?… .* by contextd.* …\n/, '').length);
    expect(sizes[0]).toBeGreaterThan(150);
    expect(sizes[0]).toBeLessThanOrEqual(200);
    expect(sizes[1]).toBe(1);
    expect(sizes[2]).toBeGreaterThan(300);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(600);
    expect(droppedBytes).toBe(10_001 - sizes.reduce((sum, size) => sum + size, 0));
    expect(data.files).toMatchObject([
      { dropped_bytes: 5000 - (sizes[0] ?? 0) },
      { bytes: 1 },
      { dropped_bytes: 5000 - (sizes[2] ?? 0) },
    ]);
  });

  it('never returns more text than may be kept, whatever the files', async () => {
    const sizes = fc.array(fc.nat(3000), { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(sizes, fc.nat(6000), async (lengths, outputMaxBytes) => {
        lengths.forEach((length, n) => {
          put(`part${n}`, 'ab '.repeat(length).slice(0, length));
        });
        const paths = lengths.map((_, n) => `part${n}`);
        const { contents, droppedBytes = 0 } = await read({ paths }, { outputMaxBytes });
        const texts = Object.values(contents).map((content) => content.replace(/\n?… .* by contextd.* …\n/, ''));
        const kept = texts.join('').length;
        expect(kept).toBeLessThanOrEqual(outputMaxBytes);
        expect(kept + droppedBytes).toBe(lengths.reduce((sum, length) => sum + length, 0));
        texts.forEach((text, n) => {
          if ((lengths[n] ?? 0) <= outputMaxBytes / lengths.length) expect(text).toHaveLength(lengths[n] ?? 0);
        });
      }),
      { numRuns: propertyRuns('door') },
    );
  }, 300_000);

  it.each([
    ['/paths has 0 items', { paths: [] }],
    ['/paths has 13 items', { paths: Array.from({ length: 13 }, (_, n) => `${n}`) }],
    ['/paths/1 is "./a.txt" a second time', { paths: ['a.txt', './a.txt'] }],
    ['/paths/0 must be a string', { paths: [1] }],
    ['/paths must be a list', { paths: 'a.txt' }],
    ['/paths cannot go with path', { path: 'a.txt', paths: ['a.txt'] }],
    ['/path is missing', { lines: '1' }],
    ['/grep is not a pattern', { paths: ['gone', 'a.txt'], grep: '(' }],
  ] as const)('refuses %s', async (message, input) => {
    put('a.txt', 'one\n');
    const refused = read(input as unknown as JsonObject);
    await expect(refused).rejects.toMatchObject({ code: 'ARGS_INVALID', message: expect.stringContaining(message) });
  });

  it('stops if the call is cancelled, whatever was read', async () => {
    put('a.txt', 'one\n');
    const signal = AbortSignal.abort(new Error('over'));
    await expect(read({ paths: ['gone', 'a.txt'] }, { signal })).rejects.toThrow('over');
  });
});

it('FR-4.2 keeps head and tail of a file without a line end, and says what it left out', async () => {
  const mebibyte = 1024 * 1024;
  put('line-less', Buffer.concat([Buffer.alloc(3 * mebibyte, 'head '), Buffer.alloc(3 * mebibyte, ' tail')]));
  for (const selector of [{}, { lines: '1' }, { tail: 1 }, { head: 3 }, { bytes: '0-' }]) {
    const outcome = await read({ path: 'line-less', ...selector }, { outputMaxBytes: mebibyte });
    const { content = '' } = outcome.contents;
    const dropped = outcome.droppedBytes ?? 0;
    const gap = `\n… ${dropped} bytes were not kept by contextd, line 1 …\n`;
    expect(outcome.data).toMatchObject({ bytes: 6 * mebibyte, lines: 1 });
    expect(content.length - gap.length + dropped).toBe(6 * mebibyte);
    expect(content.length - gap.length).toBeLessThanOrEqual(mebibyte);
    expect(content.split(gap).map((part) => part.trim().slice(0, 9))).toEqual(['head head', 'tail tail']);
  }
});
