import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runTool } from '#src/sdk/test-harness.js';
import { type Json, type JsonObject, shownText } from '#src/sdk/tool.js';
import { safeRead } from '#tools/safe_read/main.js';
import { propertyRuns } from '../../helpers/property-runs.ts';
import { useWorkspace } from './temp-workspace.ts';

const workspace = useWorkspace();

function put(name: string, content: string | Buffer): void {
  writeFileSync(join(workspace.path, name), content);
}

async function read(
  input: JsonObject,
  change: { outputMaxBytes?: number; signal?: AbortSignal; etagKey?: string; view?: Json | null } = {},
) {
  const { output } = await runTool(safeRead, input, { workspace: workspace.path, ...change });
  const [stream] = output.streams ?? [];
  return { ...output, content: stream && shownText(stream) };
}

/** The lines of a text with their line ends, as `content.split` would return them if it kept the line ends. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

describe('FR-4.2 safe_read', () => {
  it('returns the whole file with its facts', async () => {
    put('a.txt', 'one\ntwo\nthree');
    const { data, content, streams } = await read({ path: 'a.txt' });
    expect(data).toEqual({ path: 'a.txt', etag: expect.stringMatching(/^[0-9a-f]{16}$/), bytes: 13, lines: 3 });
    expect(content).toBe('one\ntwo\nthree');
    expect(streams).toHaveLength(1);
  });

  it('issue 30.3 advises paths for words that are several files, and a command that a shell takes for a directory', async () => {
    put('one file', 'x');
    put('b.txt', 'x');
    mkdirSync(join(workspace.path, "it's"));
    await expect(read({ path: 'b.txt  b.txt' })).rejects.toMatchObject({
      code: 'PATH_NOT_FOUND',
      remedy: `Several files are read with paths: safe_read '{"paths":["b.txt"]}'`,
    });
    await expect(read({ path: 'one file' })).resolves.toMatchObject({ content: 'x' });
    await expect(read({ path: 'b.txt none.txt' })).rejects.toMatchObject({
      remedy: expect.not.stringContaining('paths'),
    });
    const advised: unknown = await read({ path: "it's" }).catch((thrown: unknown) => thrown);
    expect(advised).toMatchObject({ remedy: `List it: safe_bash '{"command":"ls","cwd":"it'\\''s"}'` });
  });

  it('accepts an absolute path inside the workspace', async () => {
    put('abs.txt', 'x');
    await expect(read({ path: join(workspace.path, 'abs.txt') })).resolves.toMatchObject({ data: { path: 'abs.txt' } });
  });

  it('has an etag of the bytes, keyed by the session', async () => {
    put('e1', 'same');
    put('e2', 'same');
    put('e3', 'other');
    const [first, second, third] = await Promise.all(['e1', 'e2', 'e3'].map((path) => read({ path, tail: 1 })));
    expect(second?.data.etag).toBe(first?.data.etag);
    expect(third?.data.etag).not.toBe(first?.data.etag);
    const elsewhere = await read({ path: 'e1' }, { etagKey: 'ff'.repeat(32) });
    expect(elsewhere.data.etag).not.toBe(first?.data.etag);
  });

  it('returns the requested lines, head and tail, of any text', async () => {
    const text = fc
      .array(fc.constantFrom('\n', 'a', 'bc', 'é', '€\n', '\r\n'), { maxLength: 30 })
      .map((parts) => parts.join(''));
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 1, max: 12 }), fc.nat(12), async (content, first, more) => {
        put('any.txt', content);
        const lines = linesOf(content);
        const last = first + more;
        const wanted = await read({ path: 'any.txt', lines: `${first}-${last}` });
        expect(wanted.content).toBe(lines.slice(first - 1, last).join(''));
        expect(wanted.data).toMatchObject({ lines: lines.length, bytes: Buffer.byteLength(content) });
        expect((await read({ path: 'any.txt', head: first })).content).toBe(lines.slice(0, first).join(''));
        expect((await read({ path: 'any.txt', tail: first })).content).toBe(lines.slice(-first).join(''));
        expect((await read({ path: 'any.txt', lines: `${first}-` })).content).toBe(lines.slice(first - 1).join(''));
      }),
      { numRuns: propertyRuns('slow') },
    );
  });

  it('finds lines and tail across the chunks it reads', async () => {
    const lines = Array.from({ length: 90_000 }, (_, n) => `line ${n + 1}\n`);
    put('long.txt', lines.join(''));
    expect((await read({ path: 'long.txt', lines: '60000-60002' })).content).toBe(lines.slice(59_999, 60_002).join(''));
    expect(await read({ path: 'long.txt', tail: 50_000 })).toMatchObject({
      content: lines.slice(-50_000).join(''),
      data: { range: '40001-90000', lines: 90_000 },
    });
    expect((await read({ path: 'long.txt', grep: '^line 60000$', context: 1 })).content).toBe(
      '59999-line 59999\n60000:line 60000\n60001-line 60001\n',
    );
  });

  it('returns a range of bytes, without the characters that it cuts', async () => {
    put('bytes.txt', 'a€b');
    expect(await read({ path: 'bytes.txt', bytes: '0-3' })).toMatchObject({ content: 'a€', data: { range: '0-3' } });
    expect(await read({ path: 'bytes.txt', bytes: '0-2' })).toMatchObject({ content: 'a', data: { range: '0-2' } });
    expect(await read({ path: 'bytes.txt', bytes: '2-' })).toMatchObject({ content: 'b', data: { range: '2-4' } });
  });

  it('reports if the file ends before the range', async () => {
    put('short.txt', 'one\n');
    const beyond = { content: '', warnings: ['short.txt ends before the selected part: it has 1 lines, 4 bytes'] };
    expect(await read({ path: 'short.txt', lines: '5-9' })).toMatchObject(beyond);
    expect(await read({ path: 'short.txt', bytes: '4-9' })).toMatchObject(beyond);
  });

  it('searches as grep -n -C does', async () => {
    const alphabet = fc.constantFrom('foo', 'bar', 'a foo b', '');
    await fc.assert(
      fc.asyncProperty(fc.array(alphabet, { minLength: 1, maxLength: 25 }), fc.nat(3), async (lines, context) => {
        put('grep.txt', `${lines.join('\n')}\n`);
        const { content, data } = await read({ path: 'grep.txt', grep: 'f[o]{2}', context });
        const real = spawnSync('grep', ['-n', `-C${context}`, 'foo', join(workspace.path, 'grep.txt')], {
          encoding: 'utf8',
        });
        expect(content).toBe(context === 0 ? real.stdout.replaceAll('--\n', '') : real.stdout);
        expect(data.matches).toBe(lines.filter((line) => line.includes('foo')).length);
      }),
      { numRuns: propertyRuns('door') },
    );
  });

  it('searches in linear time with a pattern that would stall a backtracking engine', async () => {
    put('evil.txt', `${'a'.repeat(5000)}!\n`);
    expect((await read({ path: 'evil.txt', grep: '^(a+)+$' })).data.matches).toBe(0);
  });

  it('says what is wrong with a pattern', async () => {
    await expect(read({ path: 'a.txt', grep: '(?=x)' })).rejects.toMatchObject({
      code: 'ARGS_INVALID',
      remedy: expect.stringContaining('RE2'),
    });
  });

  it('finds a match anywhere in a line over 1 MiB, and shows a part of the line', async () => {
    const mebibyte = 1024 * 1024;
    for (const at of [0, 5, mebibyte - 20, mebibyte - 3, mebibyte, 2 * mebibyte - 4, 3 * mebibyte]) {
      const wide = `${'x '.repeat(at / 2).slice(0, at)} a needle here ${'y '.repeat(mebibyte)}`;
      put('wide.txt', `one\n${wide}\nneedle\nlast`);
      for (const grep of ['needle', 'n[e]{2}dle', 'needle h']) {
        const { data, content = '', warnings } = await read({ path: 'wide.txt', grep, context: 1 });
        const lines = content.trim().split('\n');
        expect(data.matches).toBe(grep === 'needle h' ? 1 : 2);
        expect(lines.map((line) => line.slice(0, 2))).toEqual(
          grep === 'needle h' ? ['1-', '2:', '3-'] : ['1-', '2:', '3:', '4-'],
        );
        expect(lines[1]).toMatch(/ a needle here /);
        expect(lines[1]?.length).toBeLessThan(600);
        expect(warnings).toBeUndefined();
      }
      const anchored = await read({ path: 'wide.txt', grep: '^needle' });
      expect(anchored.content).toBe('3:needle\n');
      expect(anchored.warnings?.[0]).toMatch(/only the beginning was searched/);
    }
  });

  it('SEC-1.1 shows no half of a long word at the edge of a part', async () => {
    put('wide.txt', `${'x '.repeat(600_000)}${'k'.repeat(400)} needle ${'k'.repeat(400)} ${'y '.repeat(600_000)}\n`);
    expect((await read({ path: 'wide.txt', grep: 'needle' })).content).toBe('1:… needle …\n');
  });

  it('keeps head and tail of a text that is longer than may be kept', async () => {
    put('much.txt', `${'h h '.repeat(250)}${' t t'.repeat(250)}`);
    const { content, droppedBytes } = await read({ path: 'much.txt' }, { outputMaxBytes: 100 });
    const gap = '\n… 1900 bytes were not kept by contextd, line 1 …\n';
    expect(content).toBe(`${'h h '.repeat(13).slice(0, 50)}${gap}${' t t'.repeat(13).slice(2)}`);
    expect(droppedBytes).toBe(1900);
  });

  it('SEC-1.1 lets the whole of a file be searched with a part of it, without showing it', async () => {
    const text = Array.from({ length: 4000 }, (_, i) => `line ${i + 1}\n`).join('');
    put('around.txt', text);
    for (const part of [
      { lines: '2000-2001' },
      { bytes: '20000-20010' },
      { tail: 3 },
      { grep: '^line 2000$', context: 1 },
    ]) {
      const { streams } = await read({ path: 'around.txt', ...part });
      expect(streams?.[0]?.text).toBe(text);
    }
    expect((await read({ path: 'around.txt', lines: '2000-2001' })).content).toBe('line 2000\nline 2001\n');
  });

  it('SEC-1.1 lets the text around a part of a long file be searched with it, without showing it', async () => {
    put('long.txt', Array.from({ length: 70_000 }, (_, i) => `line ${i + 1}\n`).join(''));
    const { streams, content } = await read({ path: 'long.txt', lines: '30000-30001' });
    expect(content).toBe('line 30000\nline 30001\n');
    expect(streams?.[0]?.margin).toEqual({ before: 65_536, after: 65_536 });
    expect(streams?.[0]?.text).toContain('\nline 29999\nline 30000\nline 30001\nline 30002\n');
  });

  it('SEC-1.1 lets the text around each match in a long file be searched with it, without showing it', async () => {
    put('matches.txt', Array.from({ length: 60_000 }, (_, i) => `line-${i + 1}-abcdef\n`).join(''));
    for (const grep of ['line-30000-', 'line-[36]0000-', '(?i)LINE-30000-']) {
      const { streams, content } = await read({ path: 'matches.txt', grep, context: 1 });
      expect(content).toMatch(/^29999-line-29999-abcdef\n30000:line-30000-abcdef\n30001-line-30001-abcdef\n/);
      const searched = (streams?.[0]?.text ?? '')
        .split('\n')
        .map((line) => Number(/^line-(\d+)-abcdef$/.exec(line)?.[1]));
      expect(searched).toEqual(expect.arrayContaining(Array.from({ length: 1500 }, (_, i) => 29_250 + i)));
      expect(searched.includes(59_900)).toBe(grep.includes('6'));
      expect(searched.includes(40_000)).toBe(false);
    }
  });

  it('shows no match whose surroundings it cannot return, and counts all of them', async () => {
    put(
      'spread.txt',
      Array.from({ length: 400 }, (_, i) => `match-${i}-abcdefgh\n${'other words\n'.repeat(4000)}`).join(''),
    );
    const { content, data, droppedBytes, streams } = await read(
      { path: 'spread.txt', grep: 'match' },
      { outputMaxBytes: 65_536 },
    );
    expect(data.matches).toBe(400);
    expect(droppedBytes).toBeGreaterThan(1000);
    const shown = (content ?? '').trim().split('\n').length;
    for (let i = 0; i < shown; i++) expect(streams?.[0]?.text).toContain(`match-${i}-abcdefgh\n`);
    expect(shown).toBeGreaterThan(10);
  });

  it('applies a view itself if the file is longer than may be kept', async () => {
    put('view.txt', Array.from({ length: 5000 }, (_, i) => `line ${i + 1}\n`).join(''));
    const apply = (view: Json) => read({ path: 'view.txt' }, { view, outputMaxBytes: 10_000 });
    expect(await apply({ grep: '^line 2500$', before: 1 })).toMatchObject({
      content: '2499-line 2499\n2500:line 2500\n',
      data: { matches: 1 },
      isViewApplied: true,
    });
    expect(await apply({ lines: '2500-2501' })).toMatchObject({
      content: 'line 2500\nline 2501\n',
      isViewApplied: true,
    });
    expect(await apply({ lines: 2500 })).toMatchObject({ content: 'line 2500\n', data: { range: '2500-2500' } });
    expect(await apply({ bytes: '0-5' })).toMatchObject({ content: 'line 1', isViewApplied: true });
    for (const view of [null, 'head', { tail: 2 }, { errors: true }, { grep: 'x', stream: 'stderr' }])
      expect((await apply(view)).isViewApplied).toBeUndefined();
    expect((await read({ path: 'view.txt', lines: '1-9' }, { view: { grep: 'line' } })).isViewApplied).toBeUndefined();
    expect((await read({ path: 'view.txt' }, { view: { grep: 'line' } })).isViewApplied).toBeUndefined();
    const both = await read({ paths: ['view.txt', 'around.txt'] }, { view: { lines: '2' }, outputMaxBytes: 10_000 });
    expect(both.streams?.map(shownText)).toEqual(['line 2\n', 'line 2\n']);
    expect(both.isViewApplied).toBe(true);
  });

  it('refuses binary files with their kind and size', async () => {
    put('image.png', Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(92)]));
    await expect(read({ path: 'image.png' })).rejects.toMatchObject({
      code: 'PATH_INVALID',
      message: 'not text but PNG image, 100 bytes: image.png',
      details: { path: 'image.png', kind: 'PNG image', bytes: 100 },
    });
  });

  it('replaces single bytes of a damaged UTF-8 text, and says so', async () => {
    put('damaged.txt', Buffer.concat([Buffer.from('größe '.repeat(8)), Buffer.from([0xe9, 0x0a])]));
    expect(await read({ path: 'damaged.txt' })).toMatchObject({
      content: `${'größe '.repeat(8)}\ufffd\n`,
      warnings: ['bytes of damaged.txt that are not UTF-8 were replaced by U+FFFD'],
    });
  });

  it('warns if the file is written while it is read', async () => {
    put('growing.log', 'line\n'.repeat(200_000));
    const path = join(workspace.path, 'growing.log');
    const reading = read({ path: 'growing.log', grep: 'no such line' });
    let isDone = false;
    const done = reading.finally(() => {
      isDone = true;
    });
    while (!isDone) {
      appendFileSync(path, 'line\n'.repeat(1000));
      await setImmediate();
    }
    const { data, warnings } = await done;
    expect(data.lines).toBeGreaterThanOrEqual(200_000);
    expect(warnings).toEqual(['growing.log was changed while it was read: lines and etag may not fit']);
  });

  it('reads an empty file', async () => {
    put('empty', '');
    expect(await read({ path: 'empty' })).toMatchObject({ content: '', data: { bytes: 0, lines: 0 } });
    expect(await read({ path: 'empty', tail: 3 })).toMatchObject({ content: '' });
  });

  it('refuses what is not a file of the workspace, each with its reason', async () => {
    mkdirSync(join(workspace.path, 'dir'), { recursive: true });
    put('plain', '');
    symlinkSync('/etc/passwd', join(workspace.path, 'escape'));
    symlinkSync('loop', join(workspace.path, 'loop'));
    spawnSync('mkfifo', [join(workspace.path, 'pipe')]);
    const refused = [
      ['missing.txt', 'PATH_NOT_FOUND', 'there is no missing.txt'],
      ['dir', 'PATH_INVALID', 'a directory: dir'],
      ['pipe', 'PATH_INVALID', 'not a regular file: pipe'],
      ['plain/below', 'PATH_INVALID', 'ENOTDIR'],
      ['loop', 'PATH_INVALID', 'ELOOP'],
      ['../outside', 'PATH_INVALID', 'out of the workspace'],
      ['/etc/passwd', 'PATH_INVALID', '/etc/passwd'],
      ['escape', 'PATH_INVALID', 'escape, which resolves to /etc/passwd'],
      ['a\0b', 'PATH_INVALID', 'not a path'],
      ['', 'PATH_INVALID', 'not a path'],
    ] as const;
    for (const [path, code, message] of refused)
      await expect(read({ path }), path).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
  });

  it('accepts at most one selector, and only valid ranges', async () => {
    put('a.txt', 'x');
    await expect(read({ path: 'a.txt', head: 1, tail: 1 })).rejects.toMatchObject({
      code: 'ARGS_INVALID',
      message: '/tail cannot go with head',
    });
    for (const lines of ['0-3', '9-3', 'x', '-3', '1-2-3'])
      await expect(read({ path: 'a.txt', lines }), lines).rejects.toMatchObject({ code: 'ARGS_INVALID' });
  });

  it('stops if the call is cancelled', async () => {
    put('a.txt', 'x');
    const signal = AbortSignal.abort(new Error('over'));
    await expect(read({ path: 'a.txt' }, { signal })).rejects.toThrow('over');
  });
});
