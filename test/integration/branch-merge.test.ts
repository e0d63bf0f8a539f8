import { execFile } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { propertyRuns } from '../helpers/property-runs.ts';
import { identitiesHere } from '../helpers/sandbox-identities.ts';

const RANDOM = join(import.meta.dirname, '../fixtures/merge-random.ts');
const ORDINARY_UID = 65_534;
/** Trees that are changed, merged and compared. */
const SEEDS = Math.ceil(propertyRuns() / 5);
const run = promisify(execFile);

const namespace = ['unshare', '--mount', '--propagation', 'private', '--'];
const ordinary = ['unshare', '--user', '--map-root-user', '--mount', '--propagation', 'private', '--'];
const become = ['setpriv', `--reuid=${ORDINARY_UID}`, `--regid=${ORDINARY_UID}`, '--clear-groups', '--'];
const isRoot = process.getuid?.() === 0;
const users = [
  ...(isRoot ? [{ user: 'root', argv: namespace, uid: 0 }] : []),
  ...(identitiesHere().includes('an ordinary user')
    ? [{ user: 'an ordinary user', argv: [...(isRoot ? become : []), ...ordinary], uid: ORDINARY_UID }]
    : []),
];

it.each(users)(
  'issue 19 part 4 random changes in an overlay, merged, are what the same changes make of a plain tree; a merge that was stopped anywhere goes on, and a conflict writes nothing ($user)',
  async ({ argv, uid }) => {
    const dir = mkdtempSync(join(tmpdir(), 'merge-'));
    try {
      if (isRoot) chownSync(dir, uid, uid);
      const [command = '', ...args] = [...argv, process.execPath, '--no-warnings', RANDOM, dir, '0', String(SEEDS)];
      const { stdout } = await run(command, args, { cwd: '/', maxBuffer: 64 * 1024 * 1024 });
      const found = JSON.parse(stdout);
      expect(found.wrong).toEqual({});
      // Each outcome must have happened.
      expect(Math.min(found.merged, found.conflicts, found.stopped)).toBeGreaterThan(SEEDS / 20);
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  },
  600_000,
);
