import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { miscounted } from '../helpers/audit-ends.ts';
import { CTXD, type Installation, install } from '../helpers/installation.ts';

const RESTARTS = 2;
const RESTART_MAX_MS = 60_000;
const env = { CONTEXTD_SESSION_ID: 'restoring' };

let at: Installation;
beforeAll(async () => {
  at = await install();
});
afterAll(() => at.remove());

const ask = (tool: string, input: object) => at.ask(tool, input, { env });
const file = (): string => readFileSync(join(at.project, 'kept.txt'), 'utf8');

it(
  'FR-7.1 NFR-2.3: checkpoints that are saved and restored while the daemon is replaced keep the files, the words and the facts of their session',
  async () => {
    await ask('safe_write', { path: 'kept.txt', content: 'first\n' });
    await ask('safe_bash', { command: 'echo no such rule >&2; exit 3' });
    const saved = await ask('checkpoint_save', { name: 'kept', note: 'NEXT: add the entry' });
    const id = String(saved.data.checkpoint_id);
    const words = String((await ask('checkpoint_restore', { id })).data.content);
    const applied: string[] = [];
    const took: string[] = [];
    for (let made = 0; made < RESTARTS; made++) {
      let isOver = false;
      const restarted = at.runProcess(CTXD, ['server', 'restart', '--json']).finally(() => {
        isOver = true;
      });
      // The last round begins after the new daemon has the state, so that calls of the whole move are among them.
      for (let isLast = false; !isLast; ) {
        isLast = isOver;
        await ask('safe_write', { path: 'kept.txt', content: `changed ${applied.length}\n` });
        const restored = await ask('checkpoint_restore', { id, files: 'apply' });
        expect(restored, restored.error ?? '').toMatchObject({ success: true });
        expect(file()).toBe('first\n');
        expect(restored.meta.files_changed).toEqual(['M kept.txt']);
        const { undo } = (restored.data as { files: { undo: string } }).files;
        expect(restored.refs).toContain(undo);
        applied.push(undo);
        const further = await ask('checkpoint_save', { note: `after ${applied.length}` });
        took.push(String(further.data.checkpoint_id));
      }
      expect(await restarted).toMatchObject({ code: 0 });
    }
    console.log(JSON.stringify({ restarts: RESTARTS, restores: applied.length, saves: took.length }));
    expect(String((await ask('checkpoint_restore', { id })).data.content)).toBe(words);
    expect(new Set(applied).size).toBe(applied.length);
    const listed = JSON.parse((await at.run(CTXD, ['checkpoint', 'list', '--json'])).stdout) as { id: string }[];
    expect(listed.map((one) => one.id)).toEqual(expect.arrayContaining([id, ...took.slice(-10)]));
    // Each restore is one event of its session, in the log of whichever daemon.
    const { stdout } = await at.run(CTXD, ['session', 'show', 'restoring', '--json']);
    expect(stdout.split(`checkpoint ${id} applied`).length - 1).toBe(applied.length);
    const last = applied.at(-1) ?? '';
    expect(await at.run(CTXD, ['undo', last, '--yes'])).toMatchObject({ code: 0 });
    expect(file()).toBe(`changed ${applied.length - 1}\n`);
    expect(miscounted(at)).toEqual({ open: [], endedTwice: [] });
    const verified = await at.run(CTXD, ['audit', 'verify']);
    expect(verified, verified.stdout + verified.stderr).toMatchObject({ code: 0 });
  },
  (RESTARTS + 2) * RESTART_MAX_MS,
);
