import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findUnsafeKey } from '#src/guard/git/config-keys.js';

const nowhere = { mayBeWorktree: () => false, mayBeRepository: () => false };
const worktreeIf = (mayBeWorktree: (path: string) => boolean) => ({ ...nowhere, mayBeWorktree });

describe('SEC-2.3 a git configuration that a run made', () => {
  test('is harmless if git itself writes it', () => {
    const dir = mkdtempSync(join(tmpdir(), 'contextd-config-'));
    try {
      const script = [
        'git init -q -b main one && cd one && git commit -q --allow-empty -m x && git checkout -qb "odd]\\"name"',
        'cd .. && git clone -q one two 2>/dev/null && cd two',
        'git remote add up https://example.invalid/a.git && git remote set-url --push up ssh://git@[::1]/a.git',
        'git branch -q --track t origin/main && git config user.email a@example.invalid && git config pull.rebase true',
        'git sparse-checkout set a && git config branch.t.description "two words; and # more"',
        'git config core.fsmonitor true && git config core.autocrlf input',
      ].join(' && ');
      const env = { PATH: '/usr/bin:/bin', HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' };
      const people = { GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a' };
      const done = spawnSync('sh', ['-ec', script], { cwd: dir, env: { ...env, ...people }, encoding: 'utf8' });
      expect(done.stderr).toBe('');
      for (const file of ['one/.git/config', 'two/.git/config', 'two/.git/config.worktree']) {
        const places = { ...nowhere, mayBeRepository: (path: string) => path === realpathSync(join(dir, 'one')) };
        expect(findUnsafeKey(readFileSync(join(dir, file), 'latin1'), places)).toBeNull();
      }
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });

  test.each([
    ['core', 'fsmonitor = ./evil'],
    ['core', 'fsmonitor'],
    ['core', 'hooksPath = x'],
    ['core', 'sshCommand = x'],
    ['core', 'pager = x'],
    ['core', 'editor = x'],
    ['core', 'askPass = x'],
    ['core', 'gitProxy = x'],
    ['core', 'alternateRefsCommand = x'],
    ['core', 'attributesFile = x'],
    ['core', 'worktree = /home/somebody'],
    ['core', 'protectNTFS = false'],
    ['diff', 'external = x'],
    ['diff "d"', 'command = x'],
    ['diff "d"', 'textconv = x'],
    ['merge "d"', 'driver = x'],
    ['filter "d"', 'clean = x'],
    ['filter "d"', 'smudge = x'],
    ['filter "d"', 'process = x'],
    ['alias', 'st = !x'],
    ['alias', 'st = rebase --exec x'],
    ['include', 'path = x'],
    ['includeIf "gitdir:/"', 'path = x'],
    ['credential', 'helper = x'],
    ['credential "https://example.invalid"', 'helper = x'],
    ['gpg', 'program = x'],
    ['gpg "ssh"', 'program = x'],
    ['gpg "ssh"', 'defaultKeyCommand = x'],
    ['uploadpack', 'packObjectsHook = x'],
    ['remote "o"', 'uploadpack = x'],
    ['remote "o"', 'receivepack = x'],
    ['remote "o"', 'vcs = x'],
    ['remote "o"', 'url = ext::sh -c x'],
    ['remote "o"', 'url = "ext::sh -c x"'],
    ['remote "o"', 'url = -oProxyCommand=x'],
    ['branch "b"', 'remote = ext::x'],
    ['submodule "s"', 'update = !x'],
    ['submodule "s"', 'url = ext::x'],
    ['sequence', 'editor = x'],
    ['pager', 'log = x'],
    ['difftool "d"', 'cmd = x'],
    ['mergetool "d"', 'cmd = x'],
    ['browser "d"', 'cmd = x'],
    ['trailer "d"', 'command = x'],
    ['sendemail', 'smtpServer = x'],
    ['gc', 'recentObjectsHook = x'],
    ['protocol', 'allow = always'],
    ['protocol "ext"', 'allow = always'],
    ['safe', 'bareRepository = all'],
    ['http', 'proxy = x'],
    ['url "x"', 'insteadOf = y'],
    ['tar "x"', 'command = x'],
    ['lfs "customtransfer.x"', 'path = x'],
    ['pull', 'twohead = mine'],
    ['remote "o"', 'url = helper://example.com/a'],
    ['remote "o"', 'promisor'],
    ['remote "o"', 'partialCloneFilter = blob:none'],
    ['extensions', 'partialClone = o'],
    ['log', 'showSignature = true'],
    ['fetch', 'bundleURI = https://example.com/a'],
    ['lfs', 'url = https://example.com/a'],
    ['remote "o"', 'lfsurl = https://example.com/a'],
    ['blame', 'ignoreRevsFile = /dev/tty'],
  ])('[%s] %s is not', (section, entry) => {
    expect(findUnsafeKey(`[${section}]\n\t${entry}\n`, nowhere)).not.toBeNull();
    expect(findUnsafeKey(`[${section.toUpperCase()}]\r\n${entry.toUpperCase()}`, nowhere)).not.toBeNull();
  });

  test.each([
    ['a header and an entry in one line', '[core] fsmonitor = x'],
    ['a header in the old form', '[remote.o]\nuploadpack = x'],
    ['a continued line', '[core]\nfsmonitor = \\\n x'],
    ['a quoted value', '[core]\nfsmonitor = "x;y"'],
    ['a comment behind a header', '[core] ; comment\n\tfsmonitor=x'],
    ['a tab behind the equals sign', '[core]\nworktree =\t/elsewhere'],
    ['a carriage return before the key', '[core]\n\r\rfsmonitor = x'],
    ['a NUL', '[user]\nname = x\0'],
    ['a byte order mark', '\u00ef\u00bb\u00bf[core]\nfsmonitor = x'],
    ['an entry before any header', 'fsmonitor = x'],
    ['what nobody understands', '[core\nbare = false'],
  ])('%s counts as unsafe', (_name, text) => {
    expect(findUnsafeKey(text, nowhere)).not.toBeNull();
  });

  test('core.worktree may only lead inside the project, and is read as git reads it', () => {
    const config = '[core]\n\tworktree = ../../../sub\n';
    expect(
      findUnsafeKey(
        config,
        worktreeIf((path) => path === '../../../sub'),
      ),
    ).toBeNull();
    expect(findUnsafeKey(config, nowhere)?.name).toBe('core.worktree');
    for (const value of ['\t../x', '"../x"', '../x # comment', '"."./x', '.\\\n./x']) {
      expect(
        findUnsafeKey(
          `[core]\n\tworktree =${value}\n`,
          worktreeIf((path) => path === '../x'),
        ),
      ).toBeNull();
      expect(
        findUnsafeKey(
          `[core]\n\tworktree =${value}\n`,
          worktreeIf((path) => path !== '../x'),
        )?.name,
      ).toBe('core.worktree');
    }
  });

  test('ignores comments and empty lines', () => {
    expect(findUnsafeKey('\n# [core] fsmonitor = x\n; y\n\t[core]\n  bare = true\n', nowhere)).toBeNull();
  });

  test('says whether git would connect because of a key, and in no other case', () => {
    const connects = (text: string) => findUnsafeKey(text, nowhere)?.connects;
    expect(connects('[remote "o"]\n\tpromisor = true\n')).toBe(true);
    expect(connects('[core]\n\tfsmonitor = x\n')).toBe(false);
  });

  test.each([
    ['an absolute path', '[remote "o"] url = /srv/a', '/srv/a'],
    ['an address for pushes', '[remote "o"] pushUrl = ../a', '../a'],
    ['a file URL', '[remote "o"] url = file:///srv/a', '/srv/a'],
    ['a file URL with escapes', '[remote "o"] url = file:///srv/%2e%2E/a%zz', '/srv/../a%zz'],
    ['a file URL with a host', '[remote "o"] url = file://srv/a', '/srv/a'],
    ['a path with a colon behind a slash', '[remote "o"] url = ./a:b', './a:b'],
    ['the home of a person', '[remote "o"] url = ~/a', '~/a'],
    ['the remote of a branch', '[branch "b"] remote = /srv/a', '/srv/a'],
    ['the remote for pushes of a branch', '[branch "b"] pushRemote = /srv/a', '/srv/a'],
    ['the remote for pushes', '[remote] pushDefault = /srv/a', '/srv/a'],
    ['the name of a remote without an address', '[remote "/srv/a"] fetch = x', '/srv/a'],
    ['a submodule', '[submodule "s"] url = /srv/a', '/srv/a'],
  ])('finds a repository on this machine in %s', (_title, text, path) => {
    const asked: string[] = [];
    const mayBeRepository = (place: string) => asked.push(place) === 0;
    expect(findUnsafeKey(text, { ...nowhere, mayBeRepository })?.name).toBe(`the address ${path}`);
    expect(asked).toEqual([path]);
  });

  test.each([
    'https://example.com/a',
    'ssh://a@example.com/~/a',
    'a@example.com:/srv/a',
    'example.com:a',
    'file:a',
    'git://example.com/a',
  ])('leaves %s alone, which names a host', (url) => {
    const text = `[remote "o"] url = ${url}\n[branch "b"] remote = o\n[branch "c"] remote = .\n`;
    expect(findUnsafeKey(text, nowhere)).toBeNull();
  });
});
