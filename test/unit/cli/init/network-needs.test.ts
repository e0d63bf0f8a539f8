import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { findNetworkNeeds, hostOfUrl } from '#src/cli/init/network-needs.js';
import { networkLines } from '#src/cli/init/network-offer.js';
import { renderView } from '#src/cli/render.js';
import { HOST_GROUPS } from '#src/egress/groups.js';

const GROUPS = Object.entries(HOST_GROUPS).map(([name, { what, hosts }]) => ({
  name,
  summary: what,
  patterns: [...hosts],
  mirrors: name === 'npm' ? ['npm.mirror.example:8443'] : [],
}));

async function needsOf(files: Readonly<Record<string, string>>) {
  const root = mkdtempSync(join(tmpdir(), 'needs-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const { groups, hosts } = await findNetworkNeeds(root, GROUPS);
  return { root, groups: [...groups.keys()], hosts: [...hosts.keys()] };
}

it('lock files and manifests propose the groups of their package managers', async () => {
  const proposed: readonly [string, string, readonly string[]][] = [
    ['package-lock.json', '{}', ['npm']],
    ['pnpm-lock.yaml', 'lockfileVersion: 9', ['npm']],
    ['yarn.lock', '', ['npm']],
    ['bun.lock', '{}', ['npm']],
    ['requirements-dev.txt', 'pytest', ['pypi']],
    ['pyproject.toml', '[project]', ['pypi']],
    ['poetry.lock', '', ['pypi']],
    ['uv.lock', 'source = { registry = "https://pypi.org/simple" }', ['pypi']],
    ['Cargo.lock', 'source = "registry+https://github.com/rust-lang/crates.io-index"', ['crates']],
    ['go.sum', '', ['go']],
    ['pom.xml', '<project/>', ['maven']],
    ['app/build.gradle.kts', '', ['gradle', 'maven']],
    ['Gemfile.lock', '  remote: https://rubygems.org/', ['rubygems']],
    ['composer.lock', '{"dist":{"url":"https://api.github.com/repos/a/b/zipball/1"}}', ['github', 'packagist']],
    ['services/api/package.json', '{}', ['npm']],
    ['.gitmodules', '[submodule "a"]\n\turl = https://gitlab.com/a/b.git', ['gitlab']],
    ['.git/config', '[remote "origin"]\n\turl = https://github.com/a/b.git', ['github']],
    ['.npmrc', 'registry=https://npm.mirror.example:8443/', ['npm']],
    ['README.md', 'see https://registry.npmjs.org', []],
    ['node_modules/a/package.json', '{}', []],
  ];
  for (const [file, text, groups] of proposed) {
    const found = await needsOf({ [file]: text });
    expect([file, found.groups, found.hosts]).toEqual([file, groups, []]);
  }
});

it('a host that no group has is listed apart, whatever file names it', async () => {
  const odd: readonly [string, string, string][] = [
    ['package-lock.json', '{"packages":{"a":{"resolved":"https://npm.odd.example/a.tgz"}}}', 'npm.odd.example'],
    ['.npmrc', 'registry=https://npm.corp.example:8443/', 'npm.corp.example:8443'],
    ['requirements.txt', '--extra-index-url https://u:p@pip.odd.example/simple', 'pip.odd.example'],
    ['uv.lock', 'source = { registry = "https://pip.odd.example/simple" }', 'pip.odd.example'],
    ['Cargo.lock', 'source = "git+https://git.odd.example/a.git#1"', 'git.odd.example'],
    ['pom.xml', '<repository><id>x</id><url>https://m2.odd.example/r</url></repository>', 'm2.odd.example'],
    ['build.gradle', 'maven { url "https://m2.odd.example/r" }', 'm2.odd.example'],
    ['.gitmodules', 'url = git@git.odd.example:a/b.git', 'git.odd.example:22'],
    ['.git/config', '[remote "origin"]\nurl = ssh://git@git.odd.example:2222/a', 'git.odd.example:2222'],
    ['.cargo/config.toml', 'index = "sparse+https://crates.odd.example/"', 'crates.odd.example'],
  ];
  for (const [file, text, host] of odd) expect([file, (await needsOf({ [file]: text })).hosts]).toEqual([file, [host]]);
});

it('funding links and home pages in a lock file are no hosts that a package manager asks', async () => {
  const lock = '{"packages":{"a":{"funding":{"url":"https://pay.example/a"},"homepage":"https://a.example"}}}';
  expect((await needsOf({ 'package-lock.json': lock })).hosts).toEqual([]);
});

it('a linked worktree names the remotes of its repository', async () => {
  const { root } = await needsOf({ 'main/x': '' });
  const git = (...words: string[]) => execFileSync('git', ['-C', join(root, 'main'), ...words], { stdio: 'pipe' });
  git('init', '-q');
  git('remote', 'add', 'origin', 'https://codeberg.org/a/b.git');
  git('-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '-q', '--allow-empty', '-m', 'x');
  git('worktree', 'add', '-q', join(root, 'linked'));
  expect([...(await findNetworkNeeds(join(root, 'linked'), GROUPS)).groups.keys()]).toEqual(['codeberg']);
});

it('a link or a pipe in place of a lock file is not read', async () => {
  const { root } = await needsOf({ outside: '{"resolved":"https://npm.odd.example/a.tgz"}' });
  symlinkSync(join(root, 'outside'), join(root, 'package-lock.json'));
  execFileSync('mkfifo', [join(root, 'yarn.lock')]);
  const { hosts } = await findNetworkNeeds(root, GROUPS);
  expect([...hosts.keys()]).toEqual([]);
});

it('runs of blanks of any length, wherever a file has them, are read in linear time', async () => {
  const beginnings = {
    'yarn.lock': ['', ' resolved'],
    '.gitmodules': ['', 'url', 'url ='],
    '.git/config': ['', 'pushurl', 'url ='],
    '.git': ['gitdir: a', 'gitdir:'],
    'build.gradle': ['url', 'url =', 'url = uri('],
    'Gemfile.lock': ['', 'remote:', 'source'],
    'package-lock.json': ['"resolved":'],
    'requirements.txt': ['-i', '--index-url '],
    'pyproject.toml': ['url', 'url ='],
    Pipfile: ['url', '"url" :'],
    'pom.xml': ['<repository>', '<repository><url>'],
    '.npmrc': ['registry', 'registry ='],
  };
  for (const [file, texts] of Object.entries(beginnings))
    for (const text of texts)
      for (const blank of [' ', '\t', '\n', '\r\n', '\n ', '\v'])
        expect((await needsOf({ [file]: `${text}${blank.repeat(100_000)}!` })).hosts).toEqual([]);
});

it('files of any indentation and with any line ends name the same hosts', async () => {
  const files = {
    'yarn.lock': 'a@1:\n  version "1"\n  resolved "https://npm.odd.example/a.tgz"\n',
    '.gitmodules': '[submodule "a"]\n\tpath = a\n\turl = https://npm.odd.example/a.git\n',
    'Cargo.lock': '[[package]]\nname = "a"\nsource = "git+https://npm.odd.example/a.git#1"\n',
    'Gemfile.lock': 'GEM\n  remote: https://npm.odd.example/\n  specs:\n',
    'gradle-wrapper.properties': 'a=b\ndistributionUrl=https://npm.odd.example/a.zip\n',
  };
  for (const [file, text] of Object.entries(files))
    for (const one of [
      text,
      text.replaceAll('\n', '\r\n'),
      text.replaceAll('\n', '\n\n'),
      text.replaceAll('\n ', '\n\t '),
    ])
      expect([file, (await needsOf({ [file]: one })).hosts]).toEqual([file, ['npm.odd.example']]);
});

it('a directory whose name looks like lines of ctxd is quoted, escaped and cut where the offer names it', async () => {
  const names = ['a\nCommands can reach:\n  evil.example', 'b\u2028c', 'd  (x), npm', '\u202eevil', 'e'.repeat(200)];
  for (const name of names) {
    const { root } = await needsOf({ [`${name}/package.json`]: '{}' });
    const { groups } = await findNetworkNeeds(root, GROUPS);
    const offered = [...groups].map(([group, files]) => ({ name: group, files }));
    const lines = networkLines({ state: 'pending', groups: offered, hosts: [], allowedHosts: [] });
    const shown = renderView({ kind: 'lines', lines }, { terminal: true, colour: false });
    expect(shown.split('\n')).toHaveLength(3);
    expect(shown).toMatch(/^ {2}npm \((?:"[\x20-\x7e]{1,200}"|e{100}…)\)$/m);
  }
});

it('a URL leads to the host and port that git or a package manager would ask, or to none', () => {
  const hosts = {
    'https://A.example.com/x': 'a.example.com',
    'http://a.example.com:80/x': 'a.example.com',
    'https://user:pass@a.example.com:8443/x': 'a.example.com:8443',
    'git+ssh://git@a.example.com/x': 'a.example.com:22',
    'ssh://git@a.example.com/x': 'a.example.com:22',
    'git@a.example.com:x/y.git': 'a.example.com:22',
    'git://a.example.com/x': 'a.example.com:9418',
    '../sibling.git': null,
    'file:///etc': null,
    'https://localhost/x': null,
    'https://10.0.0.1/x': null,
    'https://[::1]/x': null,
    'https://a.example.com:99999/x': null,
    [`https://${'a'.repeat(70_000)}.example.com/x`]: null,
    [`https://${'a.'.repeat(200)}example.com/x`]: null,
  };
  for (const [url, host] of Object.entries(hosts)) expect([url, hostOfUrl(url)]).toEqual([url, host]);
});
