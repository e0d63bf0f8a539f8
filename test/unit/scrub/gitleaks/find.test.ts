import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findBinary } from '#src/scrub/gitleaks/binary.js';
import { cutConfig, findOfficialConfig } from '#src/scrub/gitleaks/official-config.js';
import { GO_MODULE, PINNED_VERSION } from '#src/scrub/gitleaks/pinned.js';
import { CONFIG_TEXT, programBytes, putProgram } from './gitleaks-copy.ts';

let base = '';
beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'gitleaks-')));
  for (const name of ['own', 'bin', 'home']) await mkdir(join(base, name));
});
afterEach(() => rm(base, { recursive: true, force: true }));

const places = (searchPath = join(base, 'bin')) => ({
  gitleaksDir: join(base, 'own'),
  searchPath,
  home: join(base, 'home'),
});

describe('SEC-1.1 the gitleaks program', () => {
  it('is searched for in our own folder and then on PATH, with its version', async () => {
    expect(await findBinary(places())).toBeNull();
    await putProgram(join(base, 'bin/gitleaks'), programBytes('v8.28.0'));
    expect(await findBinary(places())).toEqual({ path: join(base, 'bin/gitleaks'), version: '8.28.0' });
    await putProgram(join(base, 'own/gitleaks'), programBytes());
    expect(await findBinary(places())).toEqual({ path: join(base, 'own/gitleaks'), version: '8.30.1' });
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

describe('SEC-1.1 the configuration inside the program', () => {
  const any = () => true;

  it.each([
    ['zeros', Buffer.alloc(16)],
    ['another text without a line end', Buffer.from('runtime: out of memory, and so on')],
    ['another text over lines', Buffer.from('usage of the program\nid twice\nregex\n')],
    ['nothing', Buffer.alloc(0)],
  ])('is cut at its end: %s after it', (_what, behind) => {
    const program = Buffer.concat([Buffer.from('xx\0'), Buffer.from(CONFIG_TEXT), behind]);
    expect(cutConfig(program, any)).toBe(CONFIG_TEXT);
  });

  it('is the first accepted candidate, or null', () => {
    const program = programBytes(
      'v8.30.1',
      `# This file has been auto-generated. Do not edit manually.\n\0${CONFIG_TEXT}`,
    );
    expect(cutConfig(program, (text) => text.includes('[[rules]]'))).toBe(CONFIG_TEXT);
    expect(cutConfig(program, () => false)).toBeNull();
    expect(cutConfig(Buffer.from('nothing of the kind'), any)).toBeNull();
  });
});

describe('SEC-1.1 the official configuration', () => {
  const put = async (file: string, text = CONFIG_TEXT) => {
    await mkdir(dirname(join(base, file)), { recursive: true });
    await writeFile(join(base, file), text);
  };

  it('is null if the file is missing or holds no configuration', async () => {
    expect(await findOfficialConfig(places())).toBeNull();
    await put('own/gitleaks.toml', 'title = "no rules"');
    expect(await findOfficialConfig(places())).toBeNull();
    await put('own/gitleaks.toml', '[[rules]\nid = ');
    expect(await findOfficialConfig(places())).toBeNull();
  });

  it('comes from our own folder, from the module cache, or from the program', async () => {
    const inModules = `pkg/mod/${GO_MODULE}@v${PINNED_VERSION}/config/gitleaks.toml`;
    await putProgram(join(base, 'bin/gitleaks'), programBytes());
    expect((await findOfficialConfig(places()))?.source).toBe(join(base, 'bin/gitleaks'));
    await put(`home/go/${inModules}`);
    expect((await findOfficialConfig(places()))?.source).toBe(join(base, 'home/go', inModules));
    await put(inModules);
    expect((await findOfficialConfig(places()))?.source).toBe(join(base, inModules));
    await put('own/gitleaks.toml');
    expect(await findOfficialConfig(places())).toEqual({
      file: { name: 'gitleaks.toml', text: CONFIG_TEXT },
      source: join(base, 'own/gitleaks.toml'),
      version: null,
    });
  });
});
