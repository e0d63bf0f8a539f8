import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { FetchPlace } from '../helpers/fetch-into.ts';
import { TestRepository } from '../helpers/git-servers.ts';
import { tarOf } from '../helpers/hostile-archives.ts';

const place = new FetchPlace();
const small = join(place.dir, 'small');
const isMounted = mountSmall();
afterAll(() => {
  if (isMounted) execFileSync('umount', [small]);
  place.remove();
});

/** A disk of one megabyte. Only root can have one. */
function mountSmall(): boolean {
  mkdirSync(small);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m,mode=0700', 'tmpfs', small], { stdio: 'ignore' });
    return true;
  } catch {
    console.warn('SKIPPED: no disk was filled: only root can mount a small one');
    return false;
  }
}

describe.skipIf(!isMounted)('issue 17 part 8: the disk is full half way', () => {
  const noise = randomBytes(3_000_000).toString('latin1');
  const makers: [string, () => string][] = [
    ['a folder', () => new TestRepository(join(place.dir, 'folder')).dir],
    ['an archive', () => join(place.dir, 'noise.tgz')],
    ['a repository', () => `git::file://${join(place.dir, 'folder')}`],
  ];
  for (const [name, make] of makers)
    it(`${name}: STORAGE_FULL with a remedy, and nothing stays`, async () => {
      const source = make();
      if (name === 'a folder') new TestRepository(source).commit({ noise });
      writeFileSync(join(place.dir, 'noise.tgz'), tarOf([{ path: 'noise', body: noise }]));
      const into = join(small, name.replaceAll(' ', '-'));
      mkdirSync(into, { mode: 0o700 });
      const { error, left } = await place.fetch(source, { into });
      expect([error?.code, left]).toEqual(['STORAGE_FULL', []]);
      expect(error?.remedy).toMatch(/Free disk space/);
      rmSync(into, { recursive: true });
      expect(readdirSync(small)).toEqual([]);
    });
});
