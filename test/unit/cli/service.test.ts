import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { serviceDefinition } from '#src/cli/service/definition.js';
import { removeService, writeService } from '#src/cli/service/service-file.js';
import { readEnvironment } from '#src/config/env.js';
import { findInstallRoot } from '#src/config/install-root.js';
import { resolvePaths } from '#src/config/paths.js';

const home = mkdtempSync(join(tmpdir(), 'service-'));
afterAll(() => rmSync(home, { recursive: true }));

/** Characters that systemd and XML read in their own way. */
const ODD = `${home}/a b"c%n$\{HOME}\\d<&>'é`;

function definition(platform: NodeJS.Platform, variables: Record<string, string> = {}) {
  const env = readEnvironment({ HOME: home, PATH: `/usr/bin:${ODD}`, ...variables });
  return serviceDefinition({ env, paths: resolvePaths(env, findInstallRoot()) }, platform);
}

const hasProgram = (name: string): boolean => spawnSync(name, ['--version']).status === 0;

describe('the service of the daemon', () => {
  it.skipIf(!hasProgram('systemd-analyze'))('NFR-2.3 is a unit that systemd-analyze finds no fault with', () => {
    const dir = mkdtempSync(join(home, 'unit-'));
    const file = join(dir, 'contextd.service');
    writeFileSync(file, definition('linux', { CONTEXTD_HOME: ODD }).text);
    const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--user', file], {
      encoding: 'utf8',
      env: { ...process.env, XDG_RUNTIME_DIR: dir },
    });
    expect({ status, output: stdout + stderr }).toEqual({ status: 0, output: '' });
  });

  it.skipIf(!hasProgram('systemd-analyze'))(
    'NFR-2.3 starts a program whatever its path, as systemd-analyze reads it',
    () => {
      const dir = mkdtempSync(join(home, 'odd-'));
      const env = readEnvironment({ HOME: home, PATH: '/usr/bin' });
      for (const odd of ['plain', 'a b', '$HOME', '$$x', "it's", 'say "x"', 'back\\slash', '%h', 'é', ';x', '-x']) {
        const launcher = join(dir, odd, 'contextd');
        mkdirSync(dirname(launcher));
        writeFileSync(launcher, '#!/bin/sh\nexit 0\n', { mode: 0o755 });
        const file = join(dir, 'contextd.service');
        const { text } = serviceDefinition(
          { env, paths: { ...resolvePaths(env, findInstallRoot()), launcher } },
          'linux',
        );
        writeFileSync(file, text);
        const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--user', file], {
          encoding: 'utf8',
          env: { ...process.env, XDG_RUNTIME_DIR: dir },
        });
        expect({ odd, status, output: stdout + stderr }).toEqual({ odd, status: 0, output: '' });
      }
    },
  );

  it('NFR-2.3 has the environment of a daemon that ctxd starts, and no other variable', () => {
    const { text } = definition('linux', { XDG_STATE_HOME: '/state', TOKEN: 'not for the daemon' });
    expect(text).toContain('Environment="XDG_STATE_HOME=/state"\n');
    expect(text).toContain('UnsetEnvironment=CONTEXTD_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_RUNTIME_DIR\n');
    expect(text).not.toContain('not for the daemon');
    expect(text).toMatch(/^ExecStart=".*\/bin\/contextd" serve$/m);
    expect(text).toMatch(/^Restart=on-failure$/m);
  });

  it.skipIf(!hasProgram('python3'))('NFR-2.3 is a property list with the same program and environment', () => {
    const { text, file } = definition('darwin', { CONTEXTD_HOME: ODD });
    const script = 'import json, plistlib, sys; print(json.dumps(plistlib.loads(sys.stdin.buffer.read())))';
    const read = JSON.parse(execFileSync('python3', ['-c', script], { input: text, encoding: 'utf8' }));
    expect(read).toMatchObject({
      Label: 'contextd',
      ProgramArguments: [expect.stringMatching(/\/bin\/contextd$/), 'serve'],
      EnvironmentVariables: { CONTEXTD_HOME: ODD, HOME: home, PATH: `/usr/bin:${ODD}` },
      KeepAlive: { SuccessfulExit: false },
      Umask: 0o077,
    });
    expect(file).toBe(join(home, 'Library/LaunchAgents/contextd.plist'));
  });

  it('NFR-2.3 cannot be written for a path with a line end, or for another platform', () => {
    expect(() => definition('linux', { CONTEXTD_HOME: '/a\nExecStart=/bin/sh' })).toThrow(
      'cannot be in a service file',
    );
    expect(() => definition('win32')).toThrow('contextd knows no service manager of win32');
  });

  it.each(['linux', 'darwin'] as const)(
    'NFR-2.3 is written once, replaced if it is of ctxd, and removed (%s)',
    async (platform) => {
      const first = definition(platform);
      const second = definition(platform, { XDG_DATA_HOME: '/data' });
      expect(await writeService(first)).toBe('written');
      expect(await writeService(first)).toBe('unchanged');
      expect(await writeService(second)).toBe('replaced');
      expect(readFileSync(first.file, 'utf8')).toBe(second.text);
      expect(await removeService(first)).toBe(true);
      expect(await removeService(first)).toBe(false);
      expect(existsSync(first.file)).toBe(false);
    },
  );

  it.each(['linux', 'darwin'] as const)(
    'NFR-2.3 is left alone where a person wrote or changed it (%s)',
    async (platform) => {
      const { file, text } = definition(platform);
      mkdirSync(dirname(file), { recursive: true });
      for (const [content, why] of [
        ['[Service]\nExecStart=/bin/true\n', 'was not written by ctxd'],
        [text.replace(/serve(?!r)/, 'serve --foreground'), 'was changed after ctxd wrote it'],
      ] as const) {
        writeFileSync(file, content);
        await expect(writeService({ file, text })).rejects.toMatchObject({
          code: 'CONFLICT',
          message: `${file} ${why}`,
        });
        await expect(removeService({ file, text })).rejects.toMatchObject({ code: 'CONFLICT' });
        expect(readFileSync(file, 'utf8')).toBe(content);
      }
      rmSync(file);
      symlinkSync('/dev/null', file);
      await expect(writeService({ file, text })).rejects.toMatchObject({ message: `${file} is no regular file` });
      rmSync(file);
    },
  );

  it('NFR-2.3 takes the link of systemd with it, and no link to another unit', async () => {
    const { file, text } = definition('linux');
    const wants = join(dirname(file), 'default.target.wants');
    mkdirSync(wants, { recursive: true });
    await writeService({ file, text });
    symlinkSync(file, join(wants, 'contextd.service'));
    await removeService({ file, text });
    expect(existsSync(join(wants, 'contextd.service'))).toBe(false);
    symlinkSync('/etc/hostname', join(wants, 'contextd.service'));
    await removeService({ file, text });
    expect(readFileSync(join(wants, 'contextd.service'), 'utf8')).not.toBe('');
  });
});
