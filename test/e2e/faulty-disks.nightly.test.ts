import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { canMount, canMountExt4, type Disk, fill, onExt4, onSmallDisk } from '../helpers/disks.ts';
import { type Answer, CTXD, type Installation, install } from '../helpers/installation.ts';

const MIB = 1024 * 1024;
if (!canMount) console.error('SKIPPED: a full disk under the state: only root can mount a small file system');
if (!canMountExt4) console.error('SKIPPED: a disk that turns read-only: needs root, loop devices and mkfs.ext4');

let at: Installation;
let disk: Disk | null;
let state: string;
beforeEach(async () => {
  disk = null;
  at = await install();
  state = join(at.home, 'state');
  await ctxd('server', 'stop');
});
afterEach(async () => {
  await ctxd('server', 'stop');
  disk?.unmount();
  await at.remove();
});

const ctxd = (...args: string[]) => at.run(CTXD, args);

/** Makes a call that leaves its word in the file `effects`. */
const leave = (word: string): Promise<Answer> =>
  at.ask('safe_bash', { command: `echo ${word} >> effects; echo ${word}` });

/** The words that calls left. */
function effects(): string[] {
  const file = join(at.project, 'effects');
  return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
}

/** The words of the calls on record, whatever became of them. */
async function recorded(): Promise<string[]> {
  const { stdout } = await ctxd('audit', 'search', '--json', '--tool', 'safe_bash');
  return [...stdout.matchAll(/"command":"echo (\w+) >>/g)].map(([, word = '']) => word);
}

describe.skipIf(!canMount)('the disk of the state', () => {
  it('NFR-2.1 SEC-5.1 that is full gives an error with its place and remedy, no call without a record, and after the remedy all works', async () => {
    disk = onSmallDisk(state, 64 * MIB);
    await ctxd('server', 'start');
    expect((await leave('before')).success).toBe(true);
    fill(join(state, 'ballast'));
    const answered: string[] = [];
    for (let n = 0; n < 8; n++) {
      const { success, error, data } = await leave(`full${n}`);
      if (success) answered.push(`full${n}`);
      else {
        expect(['AUDIT_FAILED', 'STORAGE_FULL']).toContain(data.error_code);
        expect(error).toContain(state);
        expect(error).toMatch(/ENOSPC|the disk is full/);
        expect(data.remediation).toContain('Free disk space');
      }
    }
    expect(answered.length).toBeLessThan(8);
    const restarted = await ctxd('server', 'restart');
    if (restarted.code !== 0) expect(restarted.stderr).toContain('Free disk space');
    rmSync(join(state, 'ballast'));
    expect((await leave('after')).data.stdout).toBe('after\n');
    expect((await ctxd('audit', 'verify')).stdout).toMatch(/^ok: /);
    const words = await recorded();
    expect(words).toEqual(expect.arrayContaining(effects()));
    expect(words).toEqual(expect.arrayContaining(['before', ...answered, 'after']));
  });
});

describe.skipIf(!canMountExt4)('the disk of the state', () => {
  it('NFR-2.1 SEC-5.1 that turns read-only under the daemon runs no call, says so to every client, and after the remedy all works', async () => {
    const ext4 = onExt4(state);
    disk = ext4;
    await ctxd('server', 'start');
    expect((await leave('before')).success).toBe(true);
    ext4.breakDown();
    const { error, data } = await leave('broken');
    expect(data.error_code).toBe('AUDIT_FAILED');
    expect(error).toContain(`${state}/audit cannot be written: EROFS`);
    expect(data.remediation).toContain('make the folder writable');
    expect((await ctxd('doctor')).code).toBe(1);
    expect((await ctxd('server', 'stop')).code).toBe(0);
    const start = await ctxd('server', 'start');
    expect(start.stderr).toContain(`${state}/daemon.log cannot be written (EROFS)`);
    expect(start.stderr).toContain('Make its disk and directory writable, then run `ctxd server start`.');
    const refused = await leave('stopped');
    expect(refused.data.error_code).toBe('DAEMON_UNAVAILABLE');
    expect(refused.error).toContain('(EROFS)');
    await ext4.repair();
    expect(await ctxd('server', 'start')).toMatchObject({ code: 0, stderr: '' });
    expect((await leave('after')).data.stdout).toBe('after\n');
    expect((await ctxd('audit', 'verify')).stdout).toMatch(/^ok: /);
    expect(effects()).toEqual(['before', 'after']);
    expect(await recorded()).toEqual(expect.arrayContaining(effects()));
  });
});
