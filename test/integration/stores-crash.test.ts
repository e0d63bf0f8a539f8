import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createAuditLog } from '#src/audit/log.js';
import { systemClock } from '#src/core/clock.js';
import { isJsonObject, type JsonObject } from '#src/core/json.js';
import { silentLogger } from '#src/core/log.js';
import { createJournal } from '#src/stores/journal.js';
import { createSessionStore } from '#src/stores/sessions.js';
import { makeTempDir, openTestArtifacts, openTestKeys, SESSION_A } from '../unit/stores/open-stores.ts';

const FIXTURES = join(import.meta.dirname, '../fixtures');

/** Runs the writer until it has acknowledged `count` calls, then kills it in the middle of the next. */
async function writeUntilKilled(dir: string, count: number): Promise<JsonObject[]> {
  const child = spawn(process.execPath, [join(FIXTURES, 'stores-write-forever.ts'), dir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const exited = once(child, 'exit');
  const acknowledged: JsonObject[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    const parsed: unknown = JSON.parse(line);
    if (isJsonObject(parsed)) acknowledged.push(parsed);
    if (acknowledged.length === count) child.kill('SIGKILL');
  }
  await exited;
  return acknowledged;
}

describe('a daemon killed between writes', () => {
  it.each([1, 37])('loses nothing it acknowledged, after %i calls', async (count) => {
    const dir = await makeTempDir();
    const acknowledged = await writeUntilKilled(dir, count);
    expect(acknowledged.length).toBeGreaterThanOrEqual(count);

    const { artifacts, database } = await openTestArtifacts(dir);
    for (const { id, text, repeat } of acknowledged) {
      const whole = String(text).repeat(Number(repeat));
      const bytes = await artifacts.read(SESSION_A, String(id), 0, whole.length);
      expect(bytes.toString() === whole).toBe(true);
    }
    expect(await readdir(join(dir, 'artifacts', 'tmp'))).toEqual([]);

    const audit = createAuditLog({ dir: join(dir, 'audit'), clock: systemClock, logger: silentLogger });
    await audit.start();
    const recorded = new Set((await audit.tail(10_000)).map((record) => record.request_id));
    expect(acknowledged.every(({ requestId }) => recorded.has(String(requestId)))).toBe(true);
    await audit.stop();

    const journal = createJournal({ database, clock: systemClock });
    expect(await journal.start()).toBeGreaterThanOrEqual(acknowledged.length);
    expect((await journal.counts()).running).toBe(0);

    const sessions = createSessionStore({ database, keys: await openTestKeys(database), clock: systemClock });
    const highest = Math.max(...acknowledged.map(({ number }) => Number(number)));
    expect(await sessions.next(SESSION_A)).toBeGreaterThan(highest);
  });
});

/** A private mount that only the fixture sees. */
const MOUNT = 'mount -t tmpfs -o size=2m,mode=700 tmpfs "$1" && exec "$2" "$3" "$1" "$4"';
const canMount = spawnSync('unshare', ['-rm', 'sh', '-c', 'mount -t tmpfs tmpfs /mnt']).status === 0;

describe.runIf(canMount)('a disk (a tmpfs of 2 MB; skipped if user namespaces cannot mount a tmpfs)', () => {
  it.each([
    [
      'full',
      [
        'artifact file: STORAGE_FULL',
        'database: STORAGE_FULL',
        'audit: AUDIT_FAILED',
        'read: ok',
        'again: ok',
        'intact: ok',
      ],
    ],
    ['read-only', ['database: PATH_INVALID', 'artifacts: PATH_INVALID', 'audit: AUDIT_FAILED']],
  ])('loses nothing and gives clear errors while it is %s', async (fault, expected) => {
    const dir = await makeTempDir();
    const program = join(FIXTURES, 'stores-bad-disk.ts');
    const args = ['-rm', 'sh', '-c', MOUNT, 'sh', dir, process.execPath, program, fault];
    const { stdout, stderr } = spawnSync('unshare', args, { encoding: 'utf8' });
    expect(stdout.trim().split('\n'), stderr).toEqual(expected);
  });
});
