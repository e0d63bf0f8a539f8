import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { placeOf } from '#src/sandbox/layers/place.js';
import { Ground, identitiesHere } from '../helpers/sandbox-identities.ts';

const run = promisify(execFile);
const SPECIAL_BITS = 0o7000;

describe.each(identitiesHere())('a branch whose files a backup brought, %s', (identity) => {
  let ground: Ground;
  beforeAll(async () => {
    ground = await Ground.open(identity);
  });
  beforeEach(() => ground.newProject());
  afterAll(() => ground.close());

  const layersDir = () => join(ground.home, 'data', 'layers');
  /** A place for the files of the branch, as the daemon's user has it after a restore. */
  function restoredPlace(): { packed: string; upper: string } {
    const { dir, upper } = placeOf(layersDir(), ground.workspace, 'br_1');
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    const owner = statSync(ground.home);
    for (const made of [layersDir(), dirname(dir), dir]) chownSync(made, owner.uid, owner.gid);
    return { packed: `${upper}.tar`, upper };
  }
  function give(packed: string): void {
    const owner = statSync(ground.home);
    chownSync(packed, owner.uid, owner.gid);
    chmodSync(packed, 0o600);
  }
  /** A directory with a program that has every special bit. */
  function filesToPack(): string {
    const files = join(ground.base, 'packed-files');
    rmSync(files, { recursive: true, force: true });
    mkdirSync(join(files, 'd'), { recursive: true });
    writeFileSync(join(files, 'd', 'program'), 'own\n');
    chmodSync(join(files, 'd', 'program'), 0o6711);
    chmodSync(join(files, 'd'), 0o7775);
    return files;
  }

  test('NFR-2.3 has them when it is used, with their modes but without setuid, setgid and sticky bits', async () => {
    const { packed, upper } = restoredPlace();
    execFileSync('tar', ['-c', '-f', packed, '-C', filesToPack(), '.']);
    give(packed);
    expect(await ground.run('cat d/program; echo more >>d/program', ground.in('br_1'))).toMatchObject({
      out: 'own\n',
      exitCode: 0,
    });
    const owner = ground.owner ?? process.getuid?.();
    const found = ['d', 'd/program'].map((name) => statSync(join(upper, name)));
    expect(found.map(({ mode, uid }) => ({ bits: mode & SPECIAL_BITS, mode: mode & 0o777, uid }))).toEqual([
      { bits: 0, mode: 0o775, uid: owner },
      { bits: 0, mode: 0o711, uid: owner },
    ]);
    expect((await ground.run('cat d/program', ground.in('br_1'))).out).toBe('own\nmore\n');
  });

  test('NFR-2.3 does not wait for those of a branch in another project', async () => {
    const slow = restoredPlace();
    execFileSync('mkfifo', [slow.packed]);
    give(slow.packed);
    const waits = ground.run('cat d/program', ground.in('br_1'));
    ground.newProject();
    const { packed } = restoredPlace();
    execFileSync('tar', ['-c', '-f', packed, '-C', filesToPack(), '.']);
    give(packed);
    expect((await ground.run('cat d/program', ground.in('br_1'))).out).toBe('own\n');
    await run('tar', ['-c', '-f', slow.packed, '-C', filesToPack(), '.']);
    expect((await waits).out).toBe('own\n');
  });
});
