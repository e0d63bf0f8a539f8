import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Copies, nameFor } from '#src/sandbox/git/copies.js';

let base: string;
let config: string;
let copy: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'copies-')));
  config = join(base, 'project', '.git', 'config');
  copy = join(base, 'copies', nameFor(config));
  for (const dir of [join(base, 'project', '.git'), join(base, 'copies'), join(base, 'victim')])
    mkdirSync(dir, { recursive: true });
  writeFileSync(config, '[user]\n\tname = a\n');
});
afterEach(() => rmSync(base, { recursive: true }));

function seed(): void {
  const person = {
    text: '',
    ignored: '',
    attributes: '',
    person: { home: base, gitConfigs: [] },
    drivers: [],
    hasIdentity: false,
    signs: false,
  };
  const request = {
    identity: { kind: 'self' } as const,
    person,
    configs: [config],
    writable: [join(base, 'project')],
    hasProgram: () => true,
  };
  new Copies(join(base, 'copies'), request, new Set()).seed();
}

describe('a copy of a configuration', () => {
  it('SEC-2.3 has what git on the host has', () => {
    mkdirSync(copy);
    seed();
    expect(readFileSync(join(copy, 'config'), 'utf8')).toContain('name = a');
    expect(lstatSync(join(copy, 'config')).mode & 0o777).toBe(0o644);
  });

  it('SEC-2.3 is not made where a link leads that the owner put in place of its directory', () => {
    symlinkSync(join(base, 'victim'), copy);
    expect(seed).toThrow('was replaced');
    expect(existsSync(join(base, 'victim', 'config'))).toBe(false);
  });
});
