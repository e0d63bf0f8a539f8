import { renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findExistingFile, isUnchanged } from '#tools/safe_write/existing-file.js';
import { useWorkspace } from './temp-workspace.ts';

const workspace = useWorkspace();

it.each([
  ['is written to', (path: string) => writeFileSync(path, 'longer than before')],
  ['is written to with as many bytes', (path: string) => utimesSync(path, 1, 1)],
  ['is removed', (path: string) => rmSync(path)],
  [
    'is replaced by another',
    (path: string) => {
      writeFileSync(`${path}.new`, 'old');
      renameSync(`${path}.new`, path);
    },
  ],
])('FR-4.3 a file that %s between reading and renaming is noticed', async (_, change) => {
  const path = join(workspace.path, 'file');
  writeFileSync(path, 'old');
  const existing = await findExistingFile(path, 'file');
  if (existing === null) throw new Error('it was just written');
  expect(await isUnchanged(path, existing)).toBe(true);
  change(path);
  expect(await isUnchanged(path, existing)).toBe(false);
});
