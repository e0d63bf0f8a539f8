import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';

/** A directory for the tests of one file, with its real path; removed afterwards. */
export function useWorkspace(): { readonly path: string } {
  const workspace = { path: '' };
  beforeAll(() => {
    workspace.path = realpathSync(mkdtempSync(join(tmpdir(), 'contextd-tool-')));
  });
  afterAll(() => rmSync(workspace.path, { recursive: true, force: true }));
  return workspace;
}
