import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type DaemonCaller, openCaller } from '../helpers/daemon-caller.ts';
import { canMount, type Disk, fill, onSmallDisk } from '../helpers/disks.ts';
import { CTXD, type Installation, install } from '../helpers/installation.ts';

const MIB = 1024 * 1024;
if (!canMount) console.error('SKIPPED: full disks of checkpoints: only root can mount a small file system');

let at: Installation;
let daemon: DaemonCaller;
let mounted: Disk[] = [];
beforeEach(async () => {
  at = await install();
  daemon = await openCaller(at, 'one');
});
afterEach(async () => {
  daemon.close();
  await at.run(CTXD, ['server', 'stop']);
  for (const disk of mounted) disk.unmount();
  mounted = [];
  await at.remove();
});

const call = async (tool: string, input: object) => (await daemon.call(tool, input)).envelope;

/** Moves a directory of the daemon to a disk of its own. */
async function moveToSmallDisk(directory: string, bytes: number): Promise<void> {
  daemon.close();
  await at.run(CTXD, ['server', 'stop']);
  mounted.push(onSmallDisk(directory, bytes));
  await at.run(CTXD, ['server', 'start']);
  daemon = await openCaller(at, 'one');
}

describe.skipIf(!canMount)('issue 19 part 9: checkpoints and a full disk', () => {
  it('fail with a clear error while the disk of the state is full, and lose none that was answered', async () => {
    const state = join(at.home, 'state');
    await moveToSmallDisk(state, 64 * MIB);
    const saved = new Map<string, string>();
    const save = async (note: string): Promise<string> => {
      const { success, data } = await call('checkpoint_save', { note });
      if (!success) return String(data.error_code);
      saved.set(String(data.checkpoint_id), note);
      return '';
    };
    expect(await save('before')).toBe('');
    fill(join(state, 'ballast'));
    const codes: string[] = [];
    for (let n = 0; n < 40; n++) codes.push(await save(`full ${n} ${'x'.repeat(7_000)}`));
    expect(codes.filter((code) => code !== '').length).toBeGreaterThan(0);
    expect(['STORAGE_FULL', 'AUDIT_FAILED', '']).toEqual(expect.arrayContaining([...new Set(codes)]));
    rmSync(join(state, 'ballast'));
    expect(await save('after')).toBe('');
    const { stdout } = await at.run(CTXD, ['checkpoint', 'list', '--json']);
    const listed = JSON.parse(stdout).map(({ id }: { id: string }) => id);
    expect(listed).toEqual(expect.arrayContaining([...saved.keys()]));
    for (const [id, note] of saved)
      expect((await call('checkpoint_restore', { id })).data.content).toContain(`note: "${note.slice(0, 200)}`);
  });

  it('are saved without files if the disk of the undo store is full, and say so; no file of the project is touched', async () => {
    await call('safe_bash', { command: 'echo 1 > f; truncate -s 1G big' });
    const id = String((await call('checkpoint_save', {})).data.checkpoint_id);
    const report = await call('checkpoint_restore', { id, files: 'report' });
    expect(report.data.content).toContain('not covered: "big: larger than 16 MiB"');
    await moveToSmallDisk(join(at.home, 'data/undo'), 64 * MIB);
    await call('safe_bash', { command: 'echo 2 > f' });
    const { success, data } = await call('checkpoint_save', {});
    expect(success).toBe(true);
    expect(data.files_not_kept).toContain('the disk has less than 512 MiB left');
    for (const one of [id, String(data.checkpoint_id)])
      for (const files of ['report', 'apply']) {
        const { error } = await call('checkpoint_restore', { id: one, files });
        expect(error).toContain('the disk has less than 512 MiB left');
      }
    expect((await at.run(CTXD, ['undo', '--yes'])).stderr).toContain('the disk has less than 512 MiB left');
    expect(readFileSync(join(at.project, 'f'), 'utf8')).toBe('2\n');
  });
});
