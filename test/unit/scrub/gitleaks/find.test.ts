import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '#src/scrub/exact/load-config.js';
import { findBinary } from '#src/scrub/gitleaks/binary.js';
import { readOfficialConfig } from '#src/scrub/gitleaks/official-config.js';
import { programBytes, putProgram } from './gitleaks-copy.ts';

let base = '';
beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'gitleaks-')));
  for (const name of ['own', 'user', 'bin']) await mkdir(join(base, name));
});
afterEach(() => rm(base, { recursive: true, force: true }));

const places = (searchPath = join(base, 'bin')) => ({
  directories: [join(base, 'own'), join(base, 'user')],
  searchPath,
});

describe('SEC-1.1 the gitleaks program', () => {
  it('is searched for in our own folders and then on PATH, with its version', async () => {
    expect(await findBinary(places())).toBeNull();
    await putProgram(join(base, 'bin/gitleaks'), programBytes('v8.28.0'));
    expect(await findBinary(places())).toEqual({ path: join(base, 'bin/gitleaks'), version: '8.28.0' });
    for (const own of ['user', 'own']) {
      await putProgram(join(base, own, 'gitleaks'), programBytes());
      expect(await findBinary(places())).toEqual({ path: join(base, own, 'gitleaks'), version: '8.30.1' });
    }
  });

  it('is not a script of that name, a directory, or anything on a relative PATH', async () => {
    await putProgram(join(base, 'bin/gitleaks'), Buffer.from('#!/bin/sh\nexit 0\n'));
    expect(await findBinary(places())).toBeNull();
    await mkdir(join(base, 'own/gitleaks'));
    expect(await findBinary(places('bin:.:'))).toBeNull();
  });

  it('has no version if the build recorded no version', async () => {
    await putProgram(join(base, 'bin/gitleaks'), programBytes('(devel)'));
    expect((await findBinary(places()))?.version).toBeNull();
  });
});

describe('SEC-1.1 the official configuration', () => {
  it('is shipped: that of the pinned version, with all its rules', () => {
    const { rules } = loadConfig(readOfficialConfig(), { readFile: () => '', official: null });
    expect(rules.length).toBe(222);
  });

  it('is refused if a single byte of it was changed, and if it is missing', async () => {
    const file = join(base, 'gitleaks.toml');
    await writeFile(file, `${readOfficialConfig().text} `);
    expect(() => readOfficialConfig(file)).toThrow(
      new RegExp(
        `^${file} has sha256 [0-9a-f]{64}: it is not the configuration of gitleaks 8.30.1, so it is not used$`,
      ),
    );
    expect(() => readOfficialConfig(join(base, 'none.toml'))).toThrow('ENOENT');
  });
});
