import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readPersonSettings } from '#src/sandbox/git/person-settings.js';
import type { Identity } from '#src/sandbox/identity.js';

const base = mkdtempSync(join(tmpdir(), 'contextd-person-'));
chmodSync(base, 0o755);
afterAll(() => rmSync(base, { recursive: true, force: true }));
const config = join(base, '.gitconfig');

const SET_ASIDE = `*.quarantined-${'[0-9a-f]'.repeat(8)}\n`;

function read(text: string, { gitDir = null, identity = { kind: 'self' } }: Options = {}) {
  writeFileSync(config, text);
  return readPersonSettings({ home: base, gitConfigs: [config] }, identity, gitDir);
}

interface Options {
  gitDir?: string | null;
  identity?: Identity;
}

test('passes on the name, the address and harmless settings', () => {
  const { text, hasIdentity } = read(
    '[user]\n\tname = "Zoë \\"Z\\" ;#"\n\temail = z@example.com\n[pull]\n\trebase\n[init]\n\tdefaultBranch = trunk\n',
  );
  expect(hasIdentity).toBe(true);
  expect(Buffer.from(text, 'latin1').toString()).toBe(
    '[user]\n\tname = "Zoë \\"Z\\" ;#"\n[user]\n\temail = "z@example.com"\n[pull]\n\trebase\n[init]\n\tdefaultbranch = "trunk"\n',
  );
});

test('passes on nothing that runs a program, includes a file, names a credential or rewrites a URL', () => {
  const dangerous = [
    '[core]\n\tpager = id\n\teditor = id\n\tsshCommand = id\n\thooksPath = h\n\tfsmonitor = true\n\tattributesFile = x',
    '[credential]\n\thelper = store\n[credential "https://example.com"]\n\tusername = u',
    '[url "https://token@example.com/"]\n\tinsteadOf = https://example.com/',
    '[alias]\n\tst = status\n[include]\n\tpath = nothing\n[commit]\n\tgpgsign = true\n\ttemplate = t',
    '[user]\n\tsigningkey = KEY\n[gpg]\n\tprogram = id\n[http]\n\textraHeader = h\n[sendemail]\n\tsmtpPass = p',
    '[user "x"]\n\tname = y\n[core]\n\tautocrlf = "input;id"',
  ];
  expect(read(`${dangerous.join('\n')}\n`)).toEqual({
    text: '',
    ignored: SET_ASIDE,
    hasIdentity: false,
    signs: true,
  });
});

test('follows includes as git does, and takes only harmless keys from them', () => {
  mkdirSync(join(base, 'work'), { recursive: true });
  writeFileSync(join(base, 'work.config'), '[user]\n\temail = work@example.com\n[core]\n\tpager = id\n');
  const text = '[user]\n\temail = me@example.com\n[includeIf "gitdir:~/work/"]\n\tpath = work.config\n';
  expect(read(text, { gitDir: join(base, 'work/a/.git') }).text).toBe('[user]\n\temail = "work@example.com"\n');
  expect(read(text, { gitDir: join(base, 'other/.git') }).text).toBe('[user]\n\temail = "me@example.com"\n');
  expect(read('[include]\n\tpath = ~/work.config\n').text).toBe('[user]\n\temail = "work@example.com"\n');
  expect(read('[include]\n\tpath = .gitconfig\n[user]\n\tname = x\n').text).toBe('[user]\n\tname = "x"\n');
});

test('follows a link, but reads nothing that the user inside could not read', () => {
  const secret = join(base, 'secret');
  writeFileSync(secret, '[user]\n\tname = root\n');
  chmodSync(secret, 0o600);
  const linked = join(base, 'linked');
  symlinkSync(secret, linked);
  const person = { home: base, gitConfigs: [linked] };
  expect(readPersonSettings(person, { kind: 'self' }, null).text).toContain('root');
  expect(readPersonSettings(person, { kind: 'owner', uid: 54321, gid: 54321 }, null).text).toBe('');
  chmodSync(secret, 0o644);
  expect(readPersonSettings(person, { kind: 'owner', uid: 54321, gid: 54321 }, null).text).toContain('root');
});

test("passes on the patterns of the person's own ignore file", () => {
  writeFileSync(join(base, 'ignored'), '.env\n.DS_Store');
  expect(read('[core]\n\texcludesFile = ~/ignored\n')).toMatchObject({
    text: '',
    ignored: `.env\n.DS_Store\n${SET_ASIDE}`,
  });
  mkdirSync(join(base, '.config/git'), { recursive: true });
  writeFileSync(join(base, '.config/git/ignore'), 'junk\n');
  const person = { home: base, gitConfigs: [join(base, '.config/git/config')] };
  expect(readPersonSettings(person, { kind: 'self' }, null).ignored).toBe(`junk\n${SET_ASIDE}`);
});
