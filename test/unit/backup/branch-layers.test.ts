import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exportBranches } from '#src/backup/branch-layers.js';
import { placeOf } from '#src/sandbox/layers/place.js';

const run = promisify(execFile);
const PROJECT = '/project';
const EXPORT = join(import.meta.dirname, '../../fixtures/export-branches.ts');
const MIB = 1024 ** 2;

let base: string;
let to: string;
let layersDir: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'branch-layers-'));
  [to, layersDir] = [join(base, 'backup'), join(base, 'layers')];
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function makeBranch(id: string): string {
  const { upper } = placeOf(layersDir, PROJECT, id);
  mkdirSync(upper, { recursive: true });
  writeFileSync(join(upper, 'file'), 'own\n');
  return upper;
}

const packedOf = (id: string): string =>
  join(to, 'layers', relative(layersDir, `${placeOf(layersDir, PROJECT, id).upper}.tar`));

function stateWith(...ids: string[]): DatabaseSync {
  const state = new DatabaseSync(':memory:');
  state.exec('CREATE TABLE branches (id, project, files_state)');
  for (const id of ids) state.prepare(`INSERT INTO branches VALUES (?, ?, 'open')`).run(id, PROJECT);
  return state;
}

describe('the files of branches in a backup', () => {
  it('NFR-2.3 are left out with the reason where no namespace can be made', async () => {
    makeBranch('b_1');
    const none = 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"';
    const asUser = ['--user', '--map-user=1000', '--keep-caps', '--', 'sh', '-c', none, 'test'];
    const program = [process.execPath, '--no-warnings', EXPORT, to, layersDir, PROJECT, 'b_1'];
    const { stdout } = await run('unshare', [...asUser, ...program]);
    expect(JSON.parse(stdout)).toEqual([{ id: 'b_1', why: expect.stringContaining('unshare') }]);
    expect(existsSync(packedOf('b_1'))).toBe(false);
  });

  it('NFR-2.3 are left out if they are too large, and the holes of their files need no room', async () => {
    const [large, sparse] = [makeBranch('b_large'), makeBranch('b_sparse')];
    writeFileSync(join(large, 'large'), Buffer.alloc(2 * MIB, 'x'));
    writeFileSync(join(sparse, 'sparse'), '');
    truncateSync(join(sparse, 'sparse'), 1024 ** 4);
    const left = await exportBranches(to, stateWith('b_large', 'b_sparse'), layersDir, MIB);
    expect(left).toEqual([{ id: 'b_large', why: 'too large: they are more than 1 MiB' }]);
    expect(existsSync(packedOf('b_large'))).toBe(false);
    expect(statSync(packedOf('b_sparse')).size).toBeLessThan(MIB);
    const { stdout } = await run('tar', ['-t', '-v', '-f', packedOf('b_sparse')]);
    expect(stdout).toContain(String(1024 ** 4));
  });

  it('NFR-2.3 are left out if they are gone', async () => {
    expect(await exportBranches(to, stateWith('b_gone'), layersDir)).toEqual([{ id: 'b_gone', why: 'they are gone' }]);
  });
});
