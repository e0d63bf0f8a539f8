import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseGitConfig } from '#src/guard/git/config.js';
import { carryOver } from '#src/sandbox/git/carry-over.js';

const BASE = '[core]\n\tbare = false\n[remote "origin"]\n\turl = https://example.com/a.git\n';
const REMOTE = (name: string, url: string, fetch = `+refs/heads/*:refs/remotes/${name}/*`) =>
  `[remote "${name}"]\n\turl = ${url}\n\tfetch = ${fetch}\n`;

const GROUND = {
  given: BASE,
  host: BASE,
  hasIdentity: true,
  hadBranch: () => false,
  mayBeRepository: (path: string) => path.startsWith('/allowed/') || !path.startsWith('/'),
  areWorktreesPlain: true,
  isOfWorktree: false,
};

/** What happens to lines that a command adds to `BASE`. */
function add(
  lines: string,
  host = BASE,
  {
    hasIdentity = true,
    branches = [],
    areWorktreesPlain = true,
  }: { hasIdentity?: boolean; branches?: readonly string[]; areWorktreesPlain?: boolean } = {},
): ReturnType<typeof carryOver> {
  const hadBranch = (name: string) => branches.includes(name);
  return carryOver({ ...GROUND, left: BASE + lines, host, hasIdentity, hadBranch, areWorktreesPlain });
}

describe('carries over', () => {
  test.each([
    ['a new remote', REMOTE('fork', 'https://example.com/b.git')],
    ['a remote over ssh', REMOTE('fork', 'ssh://git@example.com:22/b.git')],
    ['a remote in the short form of ssh', REMOTE('fork', 'git@example.com:team/b.git')],
    ['the branch of a known remote', '[branch "x"]\n\tremote = origin\n\tmerge = refs/heads/x\n'],
    ['a branch that tracks a local one', '[branch "x/y"]\n\tremote = .\n\tmerge = refs/heads/main\n\trebase = true\n'],
    ['a remote in an allowed directory', REMOTE('near', '/allowed/up.git')],
    ['a remote in an allowed directory by a file URL', REMOTE('near', 'file:///allowed/up.git')],
    ['a sparse checkout', '[core]\n\tsparsecheckout = true\n\tsparsecheckoutcone = true\n[index]\n\tsparse = false\n'],
    ['configurations of worktrees', '[extensions]\n\tworktreeconfig = true\n'],
    ['a submodule in an allowed directory', '[submodule "lib"]\n\tactive = true\n\turl = /allowed/lib\n'],
    ['how a submodule is updated', '[submodule "l"]\n\turl = https://example.com/l\n\tupdate = rebase\n'],
    ['a submodule', '[submodule "lib"]\n\tactive = true\n\turl = https://example.com/lib.git\n'],
  ])('%s', (_, lines) => {
    expect(add(lines)).toMatchObject({ text: lines, refused: [] });
  });

  test('a change of a sparse checkout in the place of the key, with the spelling of git (issue 30.2.5)', () => {
    const change = (host: string, left: string, given = host) => {
      const result = carryOver({ ...GROUND, given, host, left, isOfWorktree: true });
      return (result?.edited ?? '') + (result?.text ?? '');
    };
    const on = '[core]\n\tsparseCheckout = true\n\tsparseCheckoutCone = true\n';
    expect(change('', on)).toBe(on);
    const off = on.replaceAll('true', 'false');
    expect(change(on, off)).toBe(off);
    expect(change(off, on)).toBe(on);
    expect(change(on, `${on}[index]\n\tsparse = true\n`)).toBe(`${on}[index]\n\tsparse = true\n`);
    expect(change(`${on}[index]\n\tsparse = true\n`, on)).toBe(on);
    // Written by hand: on the line of its header, with a comment, in two sections, without a newline at the end.
    expect(change('[core] SPARSEcheckout = true # mine', '[core]\nsparseCheckout = false\n')).toBe(
      '[core] SPARSEcheckout = false\n',
    );
    expect(
      change('; a\n[index]\n\tsparse\n[core]\n\tsparseCheckout = true\n', '[core]\n\tsparseCheckout = true\n'),
    ).toBe('; a\n[core]\n\tsparseCheckout = true\n');
    // Left by a version that appended: the last entry counts, and stays.
    const double = `${on}[core]\n\tsparsecheckout = false\n`;
    const healed = '[core]\n\tsparseCheckoutCone = true\n[core]\n\tsparsecheckout = false\n';
    expect(change(double, healed, healed)).toBe(healed);
    expect(change(double, on, healed)).toBe(healed.replace('false', 'true'));
  });

  test('no remote under a new name, as a rename of its own beside what else is refused (issue 30.2.5)', () => {
    const tracking = (remote: string) => `[branch "main"]\n\tremote = ${remote}\n\tmerge = refs/heads/main\n`;
    const host = BASE + tracking('origin');
    const left = (BASE + tracking('up')).replace('"origin"', '"up"');
    const renamed = [{ from: 'origin', to: 'up' }];
    expect(carryOver({ ...GROUND, given: host, host, left })).toMatchObject({ text: '', refused: [], renamed });
    const more = `${left}[remote "far"]\n\turl = /srv/up.git\n[remote "rel"]\n\turl = ../up.git\n`;
    expect(carryOver({ ...GROUND, given: host, host, left: more })).toMatchObject({
      renamed,
      refused: ['remote.far', 'remote.rel'],
      leading: ['remote.far'],
      outside: ['/srv/up.git'],
    });
    const other = left.replace('a.git', 'b.git');
    expect(carryOver({ ...GROUND, given: host, host, left: other })).toMatchObject({ renamed: [] });
  });

  test('no configuration of worktrees if one of them says more than which files it has', () => {
    const lines = '[extensions]\n\tworktreeConfig = true\n';
    expect(add(lines, BASE, { areWorktreesPlain: false })?.refused).toEqual(['extensions.worktreeconfig']);
  });

  test('no key of a configuration of a worktree but those of a sparse checkout: it overrides the other one', () => {
    const ofWorktree = (lines: string) =>
      carryOver({ ...GROUND, given: '', host: '', left: lines, isOfWorktree: true });
    const sparse = '[core]\n\tsparsecheckout = true\n\tsparsecheckoutcone = true\n[index]\n\tsparse = false\n';
    expect(ofWorktree(sparse)).toMatchObject({ text: sparse, refused: [] });
    for (const [lines, refused] of [
      [REMOTE('origin', 'https://example.com/evil.git'), 'remote.origin'],
      [REMOTE('fork', 'https://example.com/b.git'), 'remote.fork'],
      ['[branch "x"]\n\tremote = .\n\tmerge = refs/heads/main\n', 'branch.x'],
      ['[submodule "lib"]\n\turl = https://example.com/lib.git\n', 'submodule.lib'],
      ['[user]\n\tname = Mallory\n', 'user.name'],
      ['[extensions]\n\tworktreeconfig = true\n', 'extensions.worktreeconfig'],
    ] as const)
      expect(ofWorktree(lines), refused).toMatchObject({ text: '', refused: [refused] });
  });

  test('no relative remote, which each worktree reads from its own top, and no scheme that git would run as a helper', () => {
    for (const url of ['./up.git', 'up.git', 'FILE:///allowed/up.git', 'File:///allowed/up.git'])
      expect(add(REMOTE('near', url))).toMatchObject({ text: '', refused: ['remote.near'] });
  });

  test('no remote that is a repository outside, whose path it returns', () => {
    for (const url of ['/srv/up.git', 'file:///srv/up.git', 'file://%2fsrv/up.git'])
      expect(add(REMOTE('near', url))).toMatchObject({ text: '', refused: ['remote.near'], outside: ['/srv/up.git'] });
    expect(add(REMOTE('near', '../up.git'))).toMatchObject({ text: '', refused: ['remote.near'], outside: [] });
    expect(add(REMOTE('near', '-x'))).toMatchObject({ text: '', refused: ['remote.near'] });
  });

  test('a new remote and a branch that tracks it, whatever their order is', () => {
    const [remote, branch] = [REMOTE('fork', 'https://example.com/b'), '[branch "x"]\n\tremote = fork\n'];
    expect(add(branch + remote)).toMatchObject({ text: remote + branch, refused: [] });
  });

  test('and says what in words', () => {
    const lines = `${REMOTE('fork', 'https://example.com/b')}[branch "x"]\n\tremote = fork\n`;
    expect(add(lines)?.carried).toEqual(['remote fork = https://example.com/b', 'branch x tracks fork']);
    expect(add('')?.carried).toEqual([]);
  });

  test('the tracking of a branch that was there only if its remote was there too', () => {
    const [remote, branch] = [REMOTE('fork', 'https://example.com/b'), '[branch "main"]\n\tremote = fork\n'];
    const merge = '\tmerge = refs/heads/main\n';
    const there = { branches: ['main'] };
    expect(add(remote + branch, BASE, there)).toMatchObject({ text: remote, refused: ['branch.main'] });
    expect(add(remote + branch + merge, BASE, there)).toMatchObject({ text: remote, refused: ['branch.main'] });
    expect(add(branch, BASE + remote, there)).toMatchObject({ text: branch, refused: [] });
    expect(add(remote + branch, BASE, { branches: ['mine'] })).toMatchObject({ text: remote + branch, refused: [] });
  });

  test('the name of a person who has none', () => {
    const lines = '[user]\n\tname = "A ü;#"\n\temail = a@example.com\n';
    expect(add(lines, BASE, { hasIdentity: false })?.text).toContain('name = "A ü;#"');
    expect(add(lines)).toMatchObject({ text: '', refused: ['user.name', 'user.email'] });
    expect(add(lines, `${BASE}[user]\n\tname = B\n`, { hasIdentity: false })?.refused).toEqual(['user.name']);
  });

  test('the mark of Git LFS, and no other key of it', () => {
    const mark = '[lfs]\n\trepositoryformatversion = 0\n';
    expect(add(mark)).toMatchObject({ text: mark, refused: [] });
    expect(add('[lfs]\n\turl = https://example.com/lfs\n')).toMatchObject({ text: '', refused: ['lfs.url'] });
    expect(add(mark, `${BASE}[lfs]\n\tconcurrenttransfers = 1\n`)).toMatchObject({ text: '' });
  });
});

describe('refuses and names', () => {
  test.each([
    ['another URL of a known remote', '[remote "origin"]\n\turl = https://example.com/evil\n', 'remote.origin.url'],
    ['pushurl', '[remote "origin"]\n\tpushurl = https://example.com/evil\n', 'remote.origin.pushurl'],
    [
      'insteadOf',
      '[url "https://example.com/evil"]\n\tinsteadOf = https://example.com/\n',
      'url.https://example.com/evil',
    ],
    ['a helper as URL', REMOTE('x', 'ext::sh -c id'), 'remote.x'],
    ['a local path as URL', REMOTE('x', '../up.git'), 'remote.x'],
    ['a URL with a password', REMOTE('x', 'https://me:token@example.com/x'), 'remote.x'],
    ['a host that is an option', REMOTE('x', 'ssh://-oProxyCommand=id/x'), 'remote.x'],
    ['plain http', REMOTE('x', 'http://example.com/x'), 'remote.x'],
    ['a name that is a path', REMOTE('../x', 'https://example.com/x'), 'remote.../x'],
    ['a name that is an option', REMOTE('-x', 'https://example.com/x'), 'remote.-x'],
    ['a branch of an unknown remote', '[branch "x"]\n\tremote = https://example.com/evil\n', 'branch.x'],
    ['a branch without its remote', '[branch "x"]\n\tmerge = refs/heads/x\n', 'branch.x'],
    ['a hook', '[core]\n\thooksPath = h\n', 'core.hookspath'],
    ['a program', '[core]\n\tfsmonitor = id\n', 'core.fsmonitor'],
    ['an alias', '[alias]\n\tst = !id\n', 'alias.st'],
    ['an include', '[include]\n\tpath = x\n', 'include.path'],
    ['remote.pushDefault', '[remote]\n\tpushDefault = x\n', 'remote.pushdefault'],
    ['a branch of an option', '[branch "-x"]\n\tremote = origin\n', 'branch.-x'],
  ])('%s', (_, lines, name) => {
    expect(add(lines)).toMatchObject({ text: '', refused: [name] });
  });

  test('parts of a new section that are not plain, and carries over the rest', () => {
    const branch = '[branch "x"]\n\tremote = origin\n\tpushRemote = https://example.com/evil\n';
    expect(add(branch)).toMatchObject({ text: '[branch "x"]\n\tremote = origin\n', refused: ['branch.x.pushremote'] });
    const mirror = REMOTE('x', 'https://example.com/x', '+refs/*:refs/*');
    expect(add(mirror)).toMatchObject({
      text: '[remote "x"]\n\turl = https://example.com/x\n',
      refused: ['remote.x.fetch'],
    });
    const submodule = '[submodule "l"]\n\turl = https://example.com/l\n\tupdate = !id\n';
    expect(add(submodule)?.refused).toEqual(['submodule.l.update']);
  });

  test('a remote whose name the host uses for a repository elsewhere', () => {
    const host = `${BASE}[branch "main"]\n\tremote = fork\n`;
    expect(add(REMOTE('fork', 'https://example.com/evil'), host)?.refused).toEqual(['remote.fork']);
  });

  test('the tracking of a branch that has one', () => {
    const host = `${BASE}[branch "main"]\n\tpushRemote = mine\n`;
    expect(add('[branch "main"]\n\tremote = origin\n', host)?.refused).toEqual(['branch.main']);
    const bare = `${BASE}[branch "main"]\n\tvscode-merge-base = origin/main\n`;
    expect(add('[branch "main"]\n\tremote = origin\n', bare)?.refused).toEqual([]);
  });

  test('what the command removed', () => {
    expect(carryOver({ ...GROUND, left: '[core]\n\tbare = false\n' })).toMatchObject({
      text: '',
      refused: ['remote.origin'],
    });
  });
});

test('leaves alone what a person did meanwhile, also if the command did the same', () => {
  const remote = REMOTE('fork', 'https://example.com/b.git');
  expect(add(remote, BASE + remote)).toMatchObject({ text: '', refused: [] });
  expect(add('', `${BASE}[alias]\n\tst = status\n`)).toMatchObject({ text: '', refused: [] });
  expect(add(remote, BASE + REMOTE('fork', 'https://example.com/other'))?.refused).toEqual(['remote.fork']);
});

test('refuses a file that git cannot read', () => {
  expect(add('[broken\n')).toBeNull();
  expect(add('a\0b')).toBeNull();
});

test('adds only remotes, branches and submodules, whatever the command writes', () => {
  const word = fc.constantFrom(
    'remote',
    'branch',
    'core',
    'x',
    'origin',
    'url',
    'fetch',
    'merge',
    '..',
    'a"b',
    'a\\b',
    '',
  );
  const value = fc.oneof(word, fc.constantFrom('https://example.com/a', '.', 'refs/heads/x', '"', '\\', 'a\nb', '#;'));
  const line = fc.tuple(word, word, word, value).map(([section, sub, key, text]) => {
    const name = sub.replace(/[\\"]/g, '\\$&');
    return `[${section}${sub === '' ? '' : ` "${name}"`}]\n\t${key} = "${text.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n')}"\n`;
  });
  fc.assert(
    fc.property(fc.array(line, { maxLength: 6 }), (lines) => {
      const result = add(lines.join(''));
      const entries = parseGitConfig(result?.text ?? '');
      expect(entries).not.toBeNull();
      for (const { key } of entries ?? []) {
        expect(['remote.url', 'remote.fetch', 'branch.remote', 'branch.merge', 'branch.rebase']).toContain(key);
      }
    }),
  );
});
