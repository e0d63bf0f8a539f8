import { execFile } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exportBranches } from '#src/backup/branch-layers.js';
import { placeOf } from '#src/sandbox/layers/place.js';

const run = promisify(execFile);
const EXPORT = join(import.meta.dirname, '../../fixtures/export-branches.ts');
const MIB = 1024 ** 2;

const isRoot = process.getuid?.() === 0;
const OWNER = 64_321;
const OTHER = 64_322;

let base: string;
let project: string;
let to: string;
let layersDir: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'branch-layers-'));
  [to, layersDir, project] = [join(base, 'backup'), join(base, 'layers'), join(base, 'project')];
  mkdirSync(project);
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function makeBranch(id: string): string {
  const { upper } = placeOf(layersDir, project, id);
  mkdirSync(upper, { recursive: true });
  writeFileSync(join(upper, 'file'), 'own\n');
  return upper;
}

const packedOf = (id: string): string =>
  join(to, 'layers', relative(layersDir, `${placeOf(layersDir, project, id).upper}.tar`));

function stateWith(...ids: string[]): DatabaseSync {
  const state = new DatabaseSync(':memory:');
  state.exec('CREATE TABLE branches (id, project, files_state)');
  for (const id of ids) state.prepare(`INSERT INTO branches VALUES (?, ?, 'open')`).run(id, project);
  return state;
}

describe('the files of branches in a backup', () => {
  it('NFR-2.3 are packed as far as their user can read them where no namespace can be made', async () => {
    makeBranch('b_1');
    const closed = join(makeBranch('b_closed'), 'closed');
    writeFileSync(closed, 'own\n');
    chmodSync(closed, 0);
    const drop = 'setpriv --inh-caps=-all --ambient-caps=-all --bounding-set=-all --';
    const none = `echo 0 >/proc/sys/user/max_user_namespaces && exec ${drop} "$@"`;
    const asUser = ['--user', '--map-user=1000', '--keep-caps', '--', 'sh', '-c', none, 'test'];
    const program = [process.execPath, '--no-warnings', EXPORT, to, layersDir, project, 'b_1', 'b_closed'];
    const { stdout } = await run('unshare', [...asUser, ...program]);
    expect(JSON.parse(stdout)).toEqual([{ id: 'b_closed', why: expect.stringContaining('Permission denied') }]);
    expect([packedOf('b_1'), packedOf('b_closed')].map((packed) => existsSync(packed))).toEqual([true, false]);
  });

  it.skipIf(!isRoot).each([
    ['the owner', OWNER, 0],
    ['root', 0, OTHER],
  ])('SEC-1.1 are left out if they hold a file that %s, who owns the project, cannot read', async (_, owner, other) => {
    chownSync(project, owner, owner);
    for (const id of ['b_own', 'b_other']) {
      const upper = makeBranch(id);
      writeFileSync(join(upper, 'key'), 'of another\n', { mode: 0o600 });
      writeFileSync(join(upper, 'closed'), 'own\n');
      for (const name of ['.', 'file', 'closed']) chownSync(join(upper, name), owner, owner);
      chmodSync(join(upper, 'closed'), 0);
      chownSync(join(upper, 'key'), id === 'b_own' ? owner : other, other);
      if (id === 'b_own') chownSync(join(upper, 'key'), owner, owner);
    }
    const left = await exportBranches(to, stateWith('b_own', 'b_other'), layersDir);
    expect(left).toEqual([{ id: 'b_other', why: expect.stringContaining('./key: Cannot open: Permission denied') }]);
    const { stdout } = await run('tar', ['-x', '-O', '-f', packedOf('b_own'), './closed', './key']);
    expect(stdout.split('\n').sort()).toEqual(['', 'of another', 'own']);
  });

  it('NFR-2.3 are left out if they are too large, and the holes of their files need no room', async () => {
    const [large, sparse] = [makeBranch('b_large'), makeBranch('b_sparse')];
    writeFileSync(join(large, 'large'), Buffer.alloc(2 * MIB, 'x'));
    writeFileSync(join(sparse, 'sparse'), '');
    truncateSync(join(sparse, 'sparse'), 1024 ** 4);
    const left = await exportBranches(to, stateWith('b_large', 'b_sparse'), layersDir, {
      maxBytes: MIB,
      withinMs: 60_000,
    });
    expect(left).toEqual([{ id: 'b_large', why: 'too large: they are more than 1 MiB' }]);
    expect(existsSync(packedOf('b_large'))).toBe(false);
    expect(statSync(packedOf('b_sparse')).size).toBeLessThan(MIB);
    const { stdout } = await run('tar', ['-t', '-v', '-f', packedOf('b_sparse')]);
    expect(stdout).toContain(String(1024 ** 4));
  });

  it('NFR-2.3 are left out if no restore could unpack them', async () => {
    const [deep, wide, fits] = [makeBranch('b_deep'), makeBranch('b_wide'), makeBranch('b_fits')];
    // `./`, 20 names of 203 bytes with their slashes, and one that makes 4,095 bytes of it, or one more.
    const nested = `for i in $(seq 20); do mkdir "$1" && cd "$1" || exit 1; done; : >"$2"`;
    const name = '\u00e4'.repeat(101);
    const last = (bytes: number): string => 'l'.repeat(bytes - 2 - 20 * 203);
    await run('bash', ['-c', `cd "$0"; ${nested}`, deep, name, last(4096)]);
    await run('bash', ['-c', `cd "$0"; ${nested}`, fits, name, last(4095)]);
    writeFileSync(join(wide, 'wide'), '');
    truncateSync(join(wide, 'wide'), 1024 ** 4 + 1);
    expect(await exportBranches(to, stateWith('b_deep', 'b_fits', 'b_wide'), layersDir)).toEqual([
      { id: 'b_deep', why: expect.stringContaining('has 4096 bytes, too many to unpack it') },
      { id: 'b_wide', why: './wide has 1099511627777 bytes, and at most 1099511627776 are unpacked' },
    ]);
    const into = join(base, 'into');
    mkdirSync(into);
    await run('tar', ['-x', '-f', packedOf('b_fits'), '-C', into]);
  });

  it('NFR-2.3 are left out if their user stops the program that packs them', async () => {
    makeBranch('b_1');
    const left = await exportBranches(to, stateWith('b_1'), layersDir, { maxBytes: MIB, withinMs: 0 });
    expect(left).toEqual([{ id: 'b_1', why: 'it took more than 0 s' }]);
    expect(existsSync(packedOf('b_1'))).toBe(false);
  });

  it('NFR-2.3 are left out if they are gone', async () => {
    expect(await exportBranches(to, stateWith('b_gone'), layersDir)).toEqual([{ id: 'b_gone', why: 'they are gone' }]);
  });
});
