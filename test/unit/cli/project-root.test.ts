import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findProjectRoot, resolveProjectRoot } from '#src/cli/project-root.js';
import { readEnvironment } from '#src/config/env.js';
import { resolvePaths } from '#src/config/paths.js';

let base = '';
beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'contextd-root-')));
  for (const path of ['users/me/project/src', 'contextd-home/data', 'opt/contextd/bin'])
    await mkdir(join(base, path), { recursive: true });
});
afterEach(() => rm(base, { recursive: true, force: true }));

const resolve = (directory: string, cwd = base) => {
  const home = join(base, 'users', 'me');
  const env = readEnvironment({ HOME: home, CONTEXTD_HOME: join(base, 'contextd-home') });
  return resolveProjectRoot(cwd, directory, home, resolvePaths(env, join(base, 'opt', 'contextd')));
};

describe('a project root', () => {
  it('is the directory itself with links resolved', async () => {
    await symlink(join(base, 'users/me/project'), join(base, 'link'));
    expect(await resolve('link')).toBe(join(base, 'users/me/project'));
    expect(await resolve('.', join(base, 'users/me/project'))).toBe(join(base, 'users/me/project'));
  });

  it.each([
    ['/', 'it is the root of the file system'],
    ['users/me', 'it is your home directory'],
    ['users', 'it holds your home directory'],
    ['.', 'it holds your home directory'],
    ['contextd-home', "it holds contextd's own directory"],
    ['contextd-home/data', "it holds contextd's own directory"],
    ['opt', 'it holds the installation of contextd'],
    ['opt/contextd', 'it holds the installation of contextd'],
  ])('is never %s', async (directory, reason) => {
    await expect(resolve(directory)).rejects.toMatchObject({
      code: 'PATH_INVALID',
      message: expect.stringContaining(reason),
    });
  });

  it('is never inside a directory of contextd', async () => {
    await mkdir(join(base, 'contextd-home/data/artifacts'), { recursive: true });
    await expect(resolve('contextd-home/data/artifacts')).rejects.toMatchObject({
      message: expect.stringContaining("it lies in contextd's own directory"),
    });
  });

  it('is an existing directory whose path can be printed', async () => {
    await writeFile(join(base, 'file'), '');
    await mkdir(join(base, 'new\nline'));
    await expect(resolve('file')).rejects.toMatchObject({ code: 'PATH_NOT_FOUND' });
    await expect(resolve('absent')).rejects.toMatchObject({ code: 'PATH_NOT_FOUND' });
    await expect(resolve('new\nline')).rejects.toMatchObject({
      message: expect.stringContaining('control characters'),
    });
  });

  it('is found from any directory below it', async () => {
    expect(await findProjectRoot(join(base, 'users/me/project/src'))).toBeUndefined();
    await mkdir(join(base, 'users/me/project/.claude/tools'), { recursive: true });
    expect(await findProjectRoot(join(base, 'users/me/project/src'))).toBe(join(base, 'users/me/project'));
  });
});
