import { chmod, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readEnvironment } from '#src/config/env.js';
import { findInstallRoot, readVersion } from '#src/config/install-root.js';
import { ensureDirectories, resolvePaths } from '#src/config/paths.js';

const resolve = (variables: Record<string, string>, platform: NodeJS.Platform = 'linux') =>
  resolvePaths(readEnvironment({ HOME: '/home/me', ...variables }), '/opt/contextd', platform);

describe('paths', () => {
  it('are in CONTEXTD_HOME if it is set', () => {
    const paths = resolve({ CONTEXTD_HOME: '/c/', XDG_STATE_HOME: '/elsewhere', XDG_RUNTIME_DIR: '/run/user/1' });
    expect(paths).toMatchObject({
      configFile: '/c/config/config.json',
      dataDir: '/c/data',
      stateDb: '/c/state/contextd.db',
      socket: '/c/run/contextd.sock',
      certsDir: '/c/state/certs',
      logFile: '/c/state/daemon.log',
      projectsDir: '/c/state/projects',
      proxyBinary: '/opt/contextd/bin/contextd-proxy',
    });
  });

  it('are in the XDG directories otherwise, with the standard ones for unset variables', () => {
    expect(resolve({})).toMatchObject({
      configDir: '/home/me/.config/contextd',
      dataDir: '/home/me/.local/share/contextd',
      stateDir: '/home/me/.local/state/contextd',
      socket: '/home/me/.local/state/contextd/run/contextd.sock',
    });
    const given = { XDG_CONFIG_HOME: '/a', XDG_DATA_HOME: '/b', XDG_STATE_HOME: '/c', XDG_RUNTIME_DIR: '/run/user/1' };
    expect(resolve(given)).toMatchObject({
      configDir: '/a/contextd',
      dataDir: '/b/contextd',
      stateDir: '/c/contextd',
      socket: '/run/user/1/contextd/contextd.sock',
    });
  });

  it('ignore a relative XDG directory and refuse a relative CONTEXTD_HOME', () => {
    expect(resolve({ XDG_STATE_HOME: 'state', XDG_RUNTIME_DIR: '.' }).runDir).toBe(
      '/home/me/.local/state/contextd/run',
    );
    expect(() => resolve({ CONTEXTD_HOME: 'c' })).toThrow(
      expect.objectContaining({ code: 'PATH_INVALID', message: expect.stringContaining('not an absolute path: c') }),
    );
  });

  it.each([
    ['linux', 107],
    ['darwin', 103],
  ] as const)('refuse a socket path over the limit of %s, %i bytes, and name the limit', (platform, limit) => {
    const home = (size: number) => ({
      CONTEXTD_HOME: `/${'ü'.repeat(10)}${'x'.repeat(size - '/run/contextd.sock'.length - 21)}`,
    });
    expect(Buffer.byteLength(resolve(home(limit), platform).socket)).toBe(limit);
    expect(() => resolve(home(limit + 1), platform)).toThrow(
      expect.objectContaining({
        code: 'PATH_INVALID',
        message: expect.stringContaining(`${limit + 1} bytes, the system's limit is ${limit}`),
        remedy: expect.stringContaining('CONTEXTD_HOME'),
      }),
    );
  });
});

describe('the directories', () => {
  let home = '';
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'contextd-paths-'));
  });
  afterEach(() => rm(home, { recursive: true, force: true }));

  it('are created with mode 0700, and a wider mode is narrowed', async () => {
    const paths = resolve({ CONTEXTD_HOME: join(home, 'c') });
    await mkdir(paths.runDir, { recursive: true });
    await chmod(paths.runDir, 0o755);
    await ensureDirectories(paths);
    const made = [paths.configDir, paths.runDir, paths.certsDir, paths.artifactsDir, paths.auditDir, paths.projectsDir];
    for (const directory of made) expect((await stat(directory)).mode & 0o777, directory).toBe(0o700);
  });

  it('report the place and the remedy if they cannot be created', async () => {
    await writeFile(join(home, 'c'), 'a file');
    await expect(ensureDirectories(resolve({ CONTEXTD_HOME: join(home, 'c') }))).rejects.toMatchObject({
      code: 'PATH_INVALID',
      message: `cannot prepare the directory ${join(home, 'c', 'config')} (ENOTDIR)`,
      remedy: expect.stringContaining('CONTEXTD_HOME'),
    });
  });
});

it('finds the installation from the program itself, with its version', () => {
  const root = findInstallRoot();
  expect(root).toBe(join(import.meta.dirname, '..', '..', '..'));
  expect(readVersion(root)).toMatch(/^\d+\.\d+\.\d+/);
});
