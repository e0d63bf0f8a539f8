import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { readCatalog } from '#src/cli/route/catalog-file.js';
import { parseCatalogueFile } from '#src/upstream/catalogue-file.js';

const directory = mkdtempSync(join(tmpdir(), 'catalogue-'));
afterAll(() => rmSync(directory, { recursive: true }));

const TOOLS = ['publish', 'withdraw'].map((name) => ({
  name,
  description: `To ${name}.`,
  inputSchema: { type: 'object', properties: { page: { type: 'string' } } },
}));
const asLines = (tools: readonly object[]): string => tools.map((tool) => `${JSON.stringify(tool)}\n`).join('');

/** The same tools in every format. */
const FORMATS: Readonly<Record<string, string>> = {
  'a snapshot of the lists of a server': JSON.stringify({ tools: TOOLS, prompts: [{ name: 'review' }] }),
  'an indented list of tools': JSON.stringify(TOOLS, null, 2),
  'JSON lines': asLines(TOOLS),
  'JSON lines with ids and namespaces': asLines(
    TOOLS.map((tool) => ({ id: tool.name, namespace: '', tags: ['x'], ...tool })),
  ),
  'JSON lines with blank lines and no newline at the end': `\n${asLines(TOOLS).replaceAll('\n', '\r\n\r\n').trim()}`,
};

async function items(bytes: string | Buffer) {
  const file = join(directory, 'catalogue');
  writeFileSync(file, bytes);
  const { signal } = new AbortController();
  return readCatalog(file, { cwd: directory, signal } as Parameters<typeof readCatalog>[1]);
}

describe('gateway surface §9.5 a catalogue in any format', () => {
  for (const [format, text] of Object.entries(FORMATS))
    it(`is inspected and added as the same tools: ${format}`, async () => {
      for (const bytes of [text, gzipSync(text)])
        expect(await items(bytes)).toMatchObject(
          TOOLS.map(({ name, description, inputSchema }) => ({
            id: name,
            name,
            description,
            inputSchema,
            namespace: '',
          })),
        );
      const { tools, leftOut } = await parseCatalogueFile(text);
      expect(leftOut).toEqual([]);
      expect(tools.filter(({ kind = 'tool' }) => kind === 'tool').map((tool) => JSON.parse(tool.text))).toEqual(TOOLS);
    });

  it('of one line is a tool, not an object of lists', async () => {
    const [tool] = asLines(TOOLS).split('\n');
    expect(await items(tool ?? '')).toHaveLength(1);
    expect((await parseCatalogueFile(tool ?? '')).tools).toHaveLength(1);
  });

  it('without a schema gets an empty one, because lines need none', async () => {
    const { tools } = await parseCatalogueFile('{"name":"a","description":null}\n{"name":"b"}\n');
    expect(tools.map(({ text }) => JSON.parse(text))).toEqual(
      ['a', 'b'].map((name) => ({ name, inputSchema: { type: 'object' } })),
    );
  });

  for (const [text, says] of [
    ['', 'it is empty'],
    ['{', 'it is not JSON'],
    ['7', 'it is neither an object nor a list'],
    ['{"tool":[]}', 'it has the unknown key "tool"'],
    ['{"name":"a"}\n[]\n', 'is not a tool: it is not a JSON object'],
  ] as const)
    it(`is refused for the same reason by both: ${JSON.stringify(text)}`, async () => {
      const refusal = { code: 'ARGS_INVALID', message: expect.stringContaining(says) };
      await expect(items(text)).rejects.toMatchObject(refusal);
      await expect(parseCatalogueFile(text)).rejects.toMatchObject(refusal);
    });
});
