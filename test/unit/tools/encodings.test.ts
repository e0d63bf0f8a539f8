import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runTool } from '#src/sdk/test-harness.js';
import { type JsonObject, shownText } from '#src/sdk/tool.js';
import { charsetNamed } from '#src/text/charset.js';
import { encodeFile } from '#src/text/charset-encode.js';
import { safeRead } from '#tools/safe_read/main.js';
import { createSafeWrite } from '#tools/safe_write/main.js';
import { propertyRuns } from '../../helpers/property-runs.ts';
import { useWorkspace } from './temp-workspace.ts';

const workspace = useWorkspace();
const safeWrite = createSafeWrite();

function encoded(text: string, name: string): Buffer {
  const charset = charsetNamed(name);
  if (charset === null) throw new Error(`there is no ${name}`);
  return encodeFile(text, charset);
}

const put = (name: string, content: string | Buffer): void => writeFileSync(join(workspace.path, name), content);
const get = (name: string): Buffer => readFileSync(join(workspace.path, name));

async function read(input: JsonObject, outputMaxBytes = 1_000_000) {
  const { output } = await runTool(safeRead, input, { workspace: workspace.path, outputMaxBytes });
  const [stream] = output.streams ?? [];
  return { ...output, content: stream && shownText(stream) };
}

async function write(input: JsonObject): Promise<JsonObject> {
  return (await runTool(safeWrite, input, { workspace: workspace.path })).output.data;
}

/** Files as they are found in projects: their encoding, and a text in it. */
const FILES: readonly (readonly [encoding: string, text: string])[] = [
  ['utf-8', 'Größe\n日本\n'],
  ['utf-8-bom', '<?xml version="1.0"?>\n<größe/>\n'],
  ['utf-16le-bom', 'Windows Registry Editor Version 5.00\r\n\r\n[größe]\r\n'],
  ['utf-16be-bom', 'eins\nzwei größe\n'],
  ['utf-16le', 'one line\nanother größe\n'],
  ['iso-8859-1', '# Prüfung der Größe\nwert = 5\n'],
  ['windows-1252', 'price: 5 € – “größe”\n'],
  ['shift_jis', '// 変数の初期化をここで行う\nint x = 1;\n// 結果を返すだけです\n'],
  ['gbk', '// 这是一个用来测试编码的中文文件\nint x = 1;\n// 请确认内容是否正确\n'],
];

describe('FR-4.2 safe_read of a text in another encoding', () => {
  it.each(FILES)('%s: returns the decoded text and names the encoding: %j', async (encoding, text) => {
    put('file', encoded(text, encoding));
    const { data, content, warnings } = await read({ path: 'file' });
    expect(content).toBe(text);
    expect(data.encoding).toBe(encoding === 'utf-8' ? undefined : encoding);
    expect(data).toMatchObject({ bytes: get('file').length, lines: text.split('\n').length - 1 });
    expect(warnings).toBeUndefined();
  });

  it.each(FILES)(
    '%s: finds lines, tail and matches at their places, with the text around them: %j',
    async (encoding, text) => {
      const first = `${text}${'more words\n'.repeat(3000)}`;
      put('file', encoded(`${first}last one\n`, encoding));
      const count = first.split('\n').length;
      expect((await read({ path: 'file', lines: `${count}` })).content).toBe('last one\n');
      expect((await read({ path: 'file', tail: 1 })).content).toBe('last one\n');
      expect((await read({ path: 'file', head: 1 })).content).toBe(`${text.split('\n')[0]}\n`);
      expect((await read({ path: 'file', grep: '^last' })).content).toBe(`${count}:last one\n`);
      const { streams } = await read({ path: 'file', lines: '1000' });
      expect(streams?.[0]?.text).toMatch(/^(more words\n)|words\n/);
      expect(streams?.[0]?.margin?.before).toBeGreaterThan(4000);
    },
  );

  it.each(FILES)('%s: keeps head and tail of a text that is too long, with true lines: %j', async (encoding, text) => {
    put('file', encoded(text + 'more words\n'.repeat(3000), encoding));
    const { content = '', streams } = await read({ path: 'file' }, 9000);
    const gap = streams?.[0]?.gap;
    const [head = '', tail = ''] = content.split(/… .* by contextd.* …\n/);
    expect(Buffer.byteLength(head + tail)).toBeLessThanOrEqual(9000);
    expect(head.startsWith(text)).toBe(true);
    expect(tail).toMatch(/^(more words\n)+$/);
    expect(head.split('\n').length).toBe(gap?.firstLine);
    expect(tail.split('\n').length - 1).toBe(text.split('\n').length + 3000 - (gap?.nextLine ?? 0));
  });

  it('reads a range of bytes of the file in its encoding', async () => {
    put('file', encoded('größe\nwert\n', 'utf-16le-bom'));
    expect((await read({ path: 'file', bytes: '14-21' })).content).toBe('wert');
    expect((await read({ path: 'file', bytes: '0-5' })).content).toBe('gr');
  });

  it('takes the word of the caller for it, and refuses a name that it does not know', async () => {
    put('file', Buffer.from([0xcf, 0xf0, 0xe8, 0xe2, 0x0a]));
    expect(await read({ path: 'file', encoding: 'windows-1251' })).toMatchObject({
      content: 'Прив\n',
      data: { encoding: 'windows-1251' },
    });
    await expect(read({ path: 'file', encoding: 'klingon' })).rejects.toMatchObject({
      code: 'ARGS_INVALID',
      message: '/encoding is "klingon", which is not a known encoding',
      remedy: expect.stringContaining('windows-1252'),
    });
  });

  it('reports an image with its size in pixels, and where to see it', async () => {
    const header = '89504e470d0a1a0a0000000d494844520000028000000168080200000000000000';
    put('logo.png', Buffer.concat([Buffer.from(header, 'hex'), Buffer.alloc(40)]));
    await expect(read({ path: 'logo.png' })).rejects.toMatchObject({
      code: 'PATH_INVALID',
      message: 'not text but PNG image, 640 × 360 pixels, 73 bytes: logo.png',
      remedy: expect.stringContaining("your client's own viewer"),
      details: { width: 640, height: 360, bytes: 73, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
  });
});

describe('FR-4.3 safe_write keeps how a text is written', () => {
  it.each(FILES)('%s: an edit changes only its place: %j', async (encoding, text) => {
    const whole = `${text}value = old\nend\n`;
    put('file', encoded(whole, encoding));
    const data = await write({ path: 'file', edits: [{ old: 'value = old', new: 'value = new' }] });
    expect(get('file').equals(encoded(whole.replace('old', 'new'), encoding))).toBe(true);
    expect(data.encoding).toBe(encoding === 'utf-8' ? undefined : encoding);
    expect(data.changed).toEqual([`${text.split('\n').length}`]);
  });

  it.each(FILES)(
    '%s: content that overwrites or is appended has the encoding and the line ends: %j',
    async (encoding, text) => {
      put('file', encoded(text, encoding));
      await write({ path: 'file', content: 'added\n', mode: 'append' });
      const end = text.includes('\r') ? 'added\r\n' : 'added\n';
      expect(get('file').equals(encoded(text + end, encoding))).toBe(true);
      await write({ path: 'file', content: text.replaceAll('\r', '') });
      expect(get('file').equals(encoded(text, encoding))).toBe(true);
    },
  );

  it('a patch applies to a file in another encoding', async () => {
    put('file', encoded('eins\nzwei größe\ndrei\n', 'utf-16le-bom'));
    await write({ path: 'file', patch: '@@ -1,3 +1,3 @@\n eins\n-zwei größe\n+zwei Größe\n drei\n' });
    expect(get('file').equals(encoded('eins\nzwei Größe\ndrei\n', 'utf-16le-bom'))).toBe(true);
  });

  it('refuses a character that the encoding does not have, and writes nothing', async () => {
    const before = encoded('# Prüfung der Größe\n', 'iso-8859-1');
    put('file', before);
    for (const change of [
      { content: '5 €\n' },
      { content: '5 €\n', mode: 'append' },
      { edits: [{ old: 'der', new: '→' }] },
      { patch: '@@ -1 +1 @@\n-# Prüfung der Größe\n+# Prüfung → Größe\n' },
    ]) {
      const [name] = Object.keys(change);
      await expect(write({ path: 'file', ...change })).rejects.toMatchObject({
        code: 'ARGS_INVALID',
        message: expect.stringMatching(
          new RegExp(`^/${name} has "[€→]" \\(U\\+2(0AC|192)\\), which iso-8859-1, the encoding of file, does`),
        ),
        remedy: expect.stringContaining('"encoding":"utf-8"'),
      });
      expect(get('file').equals(before)).toBe(true);
    }
    expect(await write({ path: 'file', content: '5 €\n', encoding: 'utf-8' })).not.toHaveProperty('encoding');
    expect(get('file').toString()).toBe('5 €\n');
  });

  it('converts a file to an encoding that the caller names, and creates a new one in it', async () => {
    put('file', 'größe\n');
    expect(await write({ path: 'file', content: 'größe', encoding: 'utf-16le-bom' })).toMatchObject({
      encoding: 'utf-16le-bom',
      bytes: 12,
    });
    expect(get('file').equals(encoded('größe', 'utf-16le-bom'))).toBe(true);
    await write({ path: 'new.ini', content: 'größe\n', encoding: 'windows-1252' });
    expect(get('new.ini').equals(Buffer.from('größe\n', 'latin1'))).toBe(true);
    await expect(write({ path: 'new.ini', content: '', encoding: 'klingon' })).rejects.toMatchObject({
      code: 'ARGS_INVALID',
    });
  });

  it('keeps CRLF, and the final newline or its absence, of a file that is overwritten', async () => {
    const cases = [
      ['a\r\nb\r\n', 'x\ny\n', 'x\r\ny\r\n', { newline: 'crlf' }],
      ['a\r\nb\r\n', 'x\ny', 'x\r\ny\r\n', { newline: 'crlf', final_newline: 'added' }],
      ['a\nb\n', 'x\ny', 'x\ny\n', { final_newline: 'added' }],
      ['a\nb', 'x\ny\n', 'x\ny', { final_newline: 'removed' }],
      ['a\r\nb', 'x\r\n', 'x', { final_newline: 'removed' }],
      ['a\r\nb\n', 'x\ny\n', 'x\ny\n', {}],
      ['a\r\nb\r\n', 'x\r\ny\r\n', 'x\r\ny\r\n', {}],
      ['a\n', '', '', {}],
      ['', 'x', 'x', {}],
    ] as const;
    for (const [before, content, after, facts] of cases) {
      put('file', before);
      const { path, etag, bytes, ...kept } = await write({ path: 'file', content });
      expect([before, content, get('file').toString(), kept]).toEqual([before, content, after, facts]);
      expect([path, bytes, typeof etag]).toEqual(['file', Buffer.byteLength(after), 'string']);
    }
    put('file', 'a\r\nb\r\n');
    await write({ path: 'file', content: 'x\ny', encoding: 'utf-8' });
    expect(get('file').toString()).toBe('x\ny');
    put('file', 'a\nb');
    await write({ path: 'file', content: 'c\n', mode: 'append' });
    expect(get('file').toString()).toBe('a\nbc\n');
  });

  it('takes the line end of the lines that an edit replaces if a file has both', async () => {
    const before = 'one\r\ntwo\r\nthree\nfour\n';
    const edited = async (edits: JsonObject[]): Promise<string> => {
      put('file', before);
      await write({ path: 'file', edits });
      return get('file').toString();
    };
    expect(await edited([{ old: 'one\ntwo', new: '1\n2' }])).toBe('1\r\n2\r\nthree\nfour\n');
    expect(await edited([{ old: 'two', new: '2\n2b' }])).toBe('one\r\n2\r\n2b\r\nthree\nfour\n');
    expect(await edited([{ old: 'three\nfour', new: '3\n4' }])).toBe('one\r\ntwo\r\n3\n4\n');
    expect(await edited([{ old: 'three', new: '3\n3b' }])).toBe('one\r\ntwo\r\n3\n3b\nfour\n');
  });

  it('never changes a byte beside an edit, whatever the file is', async () => {
    const bytes = fc
      .array(
        fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 0x20, max: 0x7e }) }, fc.integer({ min: 0xa0, max: 0xff })),
        {
          maxLength: 60,
        },
      )
      .map((list) => Buffer.from(list));
    let written = 0;
    await fc.assert(
      fc.asyncProperty(bytes, bytes, async (head, tail) => {
        const [start, end] = [Buffer.concat([head, Buffer.from('\n')]), Buffer.concat([Buffer.from('\n'), tail])];
        const before = Buffer.concat([start, Buffer.from('unique marker'), end]);
        put('file', before);
        const edits = [{ old: 'unique marker', new: 'other' }];
        const data = await write({ path: 'file', edits }).catch(() => null);
        if (data !== null) written += 1;
        const expected = data === null ? before : Buffer.concat([start, Buffer.from('other'), end]);
        expect(get('file').equals(expected)).toBe(true);
      }),
      { numRuns: propertyRuns('slow') },
    );
    expect(written).toBeGreaterThan(propertyRuns('slow') / 8);
  });
});
