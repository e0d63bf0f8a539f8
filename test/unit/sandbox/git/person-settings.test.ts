import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readPersonSettings } from '#src/sandbox/git/person-settings.js';
import type { Identity } from '#src/sandbox/machine/identity.js';

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
    person: { home: base, gitConfigs: [config] },
    text: '',
    ignored: SET_ASIDE,
    attributes: '',
    drivers: [],
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

test('passes on what decides about the content of commits: encodings, modes, attributes, filters and merge drivers', () => {
  writeFileSync(join(base, 'attributes'), '*.png filter=large');
  const { text, attributes, drivers } = read(
    [
      '[i18n]\n\tcommitEncoding = ISO-8859-1\n[core]\n\tsafecrlf = warn\n\tfileMode = false\n\tattributesFile = ~/attributes',
      '[filter "large"]\n\tclean = a\n\tclean = b %f\n\trequired\n\tother = c\n[merge "own"]\n\tdriver = true\n[merge]\n\tff = only\n',
    ].join('\n'),
  );
  expect(text).toBe(
    '[i18n]\n\tcommitencoding = "ISO-8859-1"\n[core]\n\tsafecrlf = "warn"\n[core]\n\tfilemode = "false"\n[merge]\n\tff = "only"\n',
  );
  expect(attributes).toBe('*.png filter=large\n');
  expect(drivers).toEqual([
    { kind: 'filter', name: 'large', values: { clean: 'b %f', required: null } },
    { kind: 'merge', name: 'own', values: { driver: 'true' } },
  ]);
});

test('reads the attributes beside the configuration if no key names a file', () => {
  mkdirSync(join(base, '.config/git'), { recursive: true });
  writeFileSync(join(base, '.config/git/attributes'), '*.txt eol=crlf\n');
  const person = { home: base, gitConfigs: [join(base, '.config/git/config')] };
  expect(readPersonSettings(person, { kind: 'self' }, null).attributes).toBe('*.txt eol=crlf\n');
});

test('follows includes that depend on the branch and on the addresses of remotes', () => {
  const gitDir = join(base, 'conditions/.git');
  mkdirSync(gitDir, { recursive: true });
  writeFileSync(join(gitDir, 'HEAD'), 'ref: refs/heads/team/a\n');
  writeFileSync(join(gitDir, 'config'), '[remote "o"]\n\turl = https://example.com/work/a.git\n');
  writeFileSync(join(base, 'included'), '[user]\n\tname = Included\n');
  const isIncluded = (condition: string) =>
    read(`[includeIf "${condition}"]\n\tpath = included\n`, { gitDir }).text.includes('Included');
  const conditions = [
    'onbranch:team/',
    'onbranch:team/a',
    'onbranch:**/a',
    'hasconfig:remote.*.url:https://example.com/work/**',
  ];
  const others = [
    'onbranch:a',
    'onbranch:team',
    'hasconfig:remote.*.url:https://example.com/*',
    'hasconfig:remote.*.url:a.git',
  ];
  expect(conditions.filter((one) => !isIncluded(one))).toEqual([]);
  expect(others.filter(isIncluded)).toEqual([]);
});
