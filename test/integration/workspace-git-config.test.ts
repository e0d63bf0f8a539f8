import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findUnsafeKey } from '#src/sandbox/workspace/git-config-keys.js';

const nowhere = () => false;

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
        expect(findUnsafeKey(readFileSync(join(dir, file), 'latin1'), nowhere)).toBeNull();
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
    expect(findUnsafeKey(config, (path) => path === '../../../sub')).toBeNull();
    expect(findUnsafeKey(config, nowhere)).toBe('core.worktree');
    for (const value of ['\t../x', '"../x"', '../x # comment', '"."./x', '.\\\n./x']) {
      expect(findUnsafeKey(`[core]\n\tworktree =${value}\n`, (path) => path === '../x')).toBeNull();
      expect(findUnsafeKey(`[core]\n\tworktree =${value}\n`, (path) => path !== '../x')).toBe('core.worktree');
    }
  });

  test('ignores comments and empty lines', () => {
    expect(findUnsafeKey('\n# [core] fsmonitor = x\n; y\n\t[core]\n  bare = true\n', nowhere)).toBeNull();
  });
});
