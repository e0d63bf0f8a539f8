import { readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readEditable } from '#tools/safe_write/existing-file.js';
import { replaceFile } from '#tools/safe_write/replace-file.js';
import { useWorkspace } from './temp-workspace.ts';

const workspace = useWorkspace();

const at = (name: string): string => join(workspace.path, name);
const request = () => ({
  target: at('file'),
  shown: 'file',
  expectedEtag: null,
  charset: null,
  etagKey: '00'.repeat(32),
  signal: new AbortController().signal,
});

/** What happens between reading the file and writing the result. */
async function changeWhile(meanwhile: () => void): Promise<unknown> {
  rmSync(at('file'), { force: true });
  writeFileSync(at('file'), 'read');
  const editable = await readEditable(request());
  meanwhile();
  const content = Buffer.concat([editable?.bytes ?? Buffer.alloc(0), Buffer.from('+edit')]);
  return replaceFile({ ...request(), content, mode: 'overwrite', madeFrom: editable?.existing ?? null });
}

describe('FR-4.3 between reading a file and replacing it', () => {
  it('writes the change if nothing happens', async () => {
    await expect(changeWhile(() => {})).resolves.toMatchObject({ bytes: 9, created: false });
    expect(readFileSync(at('file'), 'utf8')).toBe('read+edit');
  });

  it.each([
    ['someone writes it', () => writeFileSync(at('file'), 'by someone else'), 'by someone else'],
    [
      'someone replaces it by one as long',
      () => {
        writeFileSync(at('other'), 'else');
        renameSync(at('other'), at('file'));
      },
      'else',
    ],
    [
      'someone puts a link in its place',
      () => {
        writeFileSync(at('victim'), 'victim');
        rmSync(at('file'));
        symlinkSync('victim', at('file'));
      },
      'victim',
    ],
  ])('answers CONFLICT and keeps the other version: %s', async (_what, meanwhile, left) => {
    await expect(changeWhile(meanwhile)).rejects.toMatchObject({
      code: 'CONFLICT',
      message: 'file was changed by someone else while it was being written',
    });
    expect(readFileSync(at('file'), 'utf8')).toBe(left);
    expect(readdirSync(workspace.path).filter((name) => name.startsWith('.contextd-'))).toEqual([]);
  });

  it('fails and creates no file if the file is removed', async () => {
    await expect(changeWhile(() => rmSync(at('file')))).rejects.toMatchObject({ code: 'PATH_NOT_FOUND' });
    expect(readdirSync(workspace.path)).not.toContain('file');
  });

  it('someone makes the file that was not there: CONFLICT', async () => {
    const made = {
      ...request(),
      target: at('made'),
      content: Buffer.from('x'),
      mode: 'create' as const,
      madeFrom: null,
    };
    expect(await readEditable({ ...request(), target: at('made') })).toBeNull();
    writeFileSync(at('made'), 'by someone else');
    await expect(replaceFile(made)).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(readFileSync(at('made'), 'utf8')).toBe('by someone else');
  });

  it('does not read a link that was put there before', async () => {
    writeFileSync(at('elsewhere'), 'x');
    symlinkSync('elsewhere', at('swapped'));
    await expect(readEditable({ ...request(), target: at('swapped') })).rejects.toMatchObject({ code: 'PATH_INVALID' });
  });
});
