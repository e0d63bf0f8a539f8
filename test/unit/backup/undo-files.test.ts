import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exportUndo } from '#src/backup/undo-files.js';
import { identityFor, ownUid } from '#src/sandbox/machine/identity.js';
import { openStore } from '#src/sandbox/snapshots/place.js';

const isRoot = process.getuid?.() === 0;
const OWNER = isRoot ? 64_321 : ownUid();
const NAME = 'c'.repeat(38);

let base: string;
let to: string;
let project: string;
/** The store, as its owner reaches it. */
let store: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'undo-files-'));
  [to, project] = [join(base, 'backup'), join(base, 'project')];
  mkdirSync(project);
  chownSync(project, OWNER, OWNER);
  ({ store } = openStore(join(base, 'undo'), project, identityFor(project, ownUid())));
  put('objects/ab', NAME, 'own');
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function put(dir: string, name: string, text: string, uid = OWNER): void {
  mkdirSync(join(store, dir), { recursive: true });
  writeFileSync(join(store, dir, name), text, { mode: 0o400 });
  for (const path of [dir, join(dir, name)]) chownSync(join(store, path), uid, uid);
}

/** What the backup has of the store. */
async function exported(): Promise<Record<string, string>> {
  expect(await exportUndo(to, project, join(base, 'undo'), Date.now())).toBe(true);
  const moved = join(to, 'undo', 'moved');
  if (!existsSync(moved)) return {};
  const found = readdirSync(moved, { recursive: true, withFileTypes: true }).filter((entry) => !entry.isDirectory());
  return Object.fromEntries(
    found.map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [path.slice(moved.length + 1).replace(/^[^/]*\//, ''), readFileSync(path, 'utf8')];
    }),
  );
}

describe('the store of a project in a backup', () => {
  it('NFR-2.3 has the contents and the list of files', async () => {
    put('', 'files', 'list');
    put('objects/pack', `contents-${'0'.repeat(40)}`, 'packed');
    expect(await exported()).toEqual({
      files: 'list',
      [`objects/ab/${NAME}`]: 'own',
      [`objects/pack/contents-${'0'.repeat(40)}`]: 'packed',
    });
  });

  it('SEC-1.1 has no file to which a link in the store leads', async () => {
    const victim = join(base, 'victim');
    mkdirSync(victim);
    writeFileSync(join(victim, NAME), 'of another', { mode: 0o400 });
    symlinkSync(victim, join(store, 'objects', 'cd'));
    symlinkSync(join(victim, NAME), join(store, 'objects', 'ab', 'd'.repeat(38)));
    symlinkSync(join(victim, NAME), join(store, 'files'));
    expect(await exported()).toEqual({ [`objects/ab/${NAME}`]: 'own' });
    rmSync(to, { recursive: true });
    rmSync(join(store, 'objects'), { recursive: true });
    mkdirSync(join(base, 'objects', 'ab'), { recursive: true });
    writeFileSync(join(base, 'objects', 'ab', NAME), 'of another');
    symlinkSync(join(base, 'objects'), join(store, 'objects'));
    expect(await exported()).toEqual({});
  });

  it('NFR-2.3 does not wait for a pipe', async () => {
    execFileSync('mkfifo', [join(store, 'files'), join(store, 'objects', 'ab', 'd'.repeat(38))]);
    expect(await exported()).toEqual({ [`objects/ab/${NAME}`]: 'own' });
  });

  it.skipIf(!isRoot)('SEC-1.1 has no file of another user that was moved into the store', async () => {
    put('objects/ab', 'd'.repeat(38), 'of root', 0);
    chownSync(join(store, 'objects', 'ab'), OWNER, OWNER);
    expect(await exported()).toEqual({ [`objects/ab/${NAME}`]: 'own' });
  });

  it('NFR-2.3 stays as it is if the owner goes on writing', async () => {
    expect(await exported()).toEqual({ [`objects/ab/${NAME}`]: 'own' });
    const written = join(store, 'objects', 'ab', NAME);
    chmodSync(written, 0o600);
    writeFileSync(written, 'changed');
    expect(await exported()).toEqual({ [`objects/ab/${NAME}`]: 'own' });
  });
});
