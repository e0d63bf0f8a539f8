import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findToolchains, type Search } from '#src/cli/toolchains/find.js';
import { ToolchainSettings } from '#src/features/outside/toolchain-settings.js';

let base = '';
let home = '';
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'contextd-toolchains-')));
  home = join(base, 'ann');
  mkdirSync(home);
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

/** An executable file of the home, or anywhere if `path` is absolute. */
function program(path: string, text = 'binary'): string {
  const file = path.startsWith('/') ? path : join(home, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  chmodSync(file, 0o755);
  return file;
}

function link(path: string, target: string): void {
  mkdirSync(dirname(join(home, path)), { recursive: true });
  symlinkSync(target, join(home, path));
}

/** The found mounts relative to the home, and what else was found. */
async function find(path: readonly string[], search: Partial<Search> = {}) {
  const found = await findToolchains({
    path: path.map((entry) => (entry.startsWith('/') ? entry : join(home, entry))).join(':'),
    home,
    variables: {},
    project: null,
    installRoot: '/nonexistent',
    ...search,
  });
  const short = (one: string) => one.replace(`${home}/`, '');
  const mounts = found.toolchains.flatMap((toolchain) => toolchain.mounts.map(short)).sort();
  const variables = Object.assign({}, ...found.toolchains.map((toolchain) => toolchain.variables));
  return { mounts, variables, path: found.path.map(short), names: found.toolchains.map(({ name }) => short(name)) };
}

test('of a manager only binaries and toolchains are mounted, never credentials and settings', async () => {
  program('.cargo/bin/cargo');
  program('.cargo/credentials.toml');
  program('.cargo/config.toml');
  program('.rustup/toolchains/stable/bin/rustc');
  program('.rustup/settings.toml');
  program('.nvm/versions/node/v24/bin/node');
  program('.nvm/.npmrc');
  const found = await find(['.cargo/bin', '.nvm/versions/node/v24/bin', '/usr/bin']);
  expect(found.mounts).toEqual(['.cargo/bin', '.nvm/versions', '.rustup/settings.toml', '.rustup/toolchains']);
  expect(found.variables).toEqual({ RUSTUP_HOME: join(home, '.rustup'), NVM_DIR: join(home, '.nvm') });
  expect(found.path).toEqual(['.cargo/bin', '.nvm/versions/node/v24/bin', '/usr/bin']);
});

test('links and first lines of programs lead to the toolchains that they need', async () => {
  const python = program('.local/share/uv/python/cpython-3.13/bin/python3.13');
  program('.local/share/uv/credentials/credentials.toml');
  const tool = program('.local/share/uv/tools/ruff/bin/ruff', `#!${home}/.local/share/uv/tools/ruff/bin/python\n`);
  link('.local/share/uv/tools/ruff/bin/python', python);
  link('bin/ruff', tool);
  const found = await find(['bin']);
  expect(found.mounts).toEqual(['.local/share/uv/python', '.local/share/uv/tools', 'bin']);
  expect(found.variables).toEqual({ UV_PYTHON_INSTALL_DIR: join(home, '.local/share/uv/python') });
});

test('a directory of fnm that lasts as long as its shell is replaced by what it leads to', async () => {
  program('.local/share/fnm/node-versions/v24/installation/bin/node');
  link('.local/state/fnm_multishells/1', join(home, '.local/share/fnm/node-versions/v24/installation'));
  const found = await find(['.local/state/fnm_multishells/1/bin']);
  expect(found.mounts).toEqual(['.local/share/fnm/node-versions']);
  expect(found.path).toEqual(['.local/share/fnm/node-versions/v24/installation/bin']);
});

test('the shims of mise need its settings, so the programs themselves are on PATH', async () => {
  program('.local/share/mise/shims/node');
  program('.local/share/mise/installs/node/24.1/bin/node');
  link('.local/share/mise/installs/node/latest', '24.1');
  const found = await find(['.local/share/mise/shims']);
  expect(found.path).toEqual(['.local/share/mise/shims', '.local/share/mise/installs/node/latest/bin']);
});

test('the folder of a program that no manager owns is mounted without its settings', async () => {
  for (const part of ['bin/tool', 'lib/library.so', 'etc/secret.conf', 'var/state'])
    program(join(base, 'opt/tool', part));
  program('.tool/bin/other');
  program('.tool/token');
  program('.tool/lib/x');
  const found = await find([join(base, 'opt/tool/bin'), '.tool/bin']);
  expect(found.mounts).toEqual(['.tool/bin', '.tool/lib', join(base, 'opt/tool/bin'), join(base, 'opt/tool/lib')]);
});

test('the home, directories of projects and package folders are never toolchains', async () => {
  program('project/.claude/tools/x');
  program('project/.venv/bin/python');
  program('other/bin/x');
  program('lib/node_modules/a/bin/x');
  const entries = ['.', 'project/.venv/bin', 'other/bin', 'lib/node_modules/a/bin', 'missing', '/snap/bin', '/mnt/c/x'];
  expect(await find([...entries, ''], { project: join(home, 'other') })).toMatchObject({ mounts: [], path: [] });
});

test('a virtual environment of the project leads to the interpreter of a known manager, and to nothing else', async () => {
  const python = program('.pyenv/versions/3.13/bin/python3.13');
  for (const [name, target] of [
    ['.venv', python],
    ['evil', program('.ssh/bin/id_ed25519')],
  ] as const) {
    program(`project/${name}/pyvenv.cfg`);
    link(`project/${name}/bin/python`, target);
  }
  const found = await find([], { project: join(home, 'project') });
  expect(found.mounts).toEqual(['.pyenv/versions']);
});

test('JAVA_HOME and the like are mounted and handed in; in /usr they are only handed in', async () => {
  program('jdks/21/bin/java');
  program('jdks/21/conf/security/java.security');
  const found = await find([], { variables: { JAVA_HOME: join(home, 'jdks/21'), GOROOT: '/usr/lib' } });
  expect(found.mounts).toEqual(['jdks/21/bin', 'jdks/21/conf']);
  expect(found.variables).toEqual({ JAVA_HOME: join(home, 'jdks/21'), GOROOT: realpathSync('/usr/lib') });
});

test('files in a toolchain that may hold a password are found, also new ones, so that they can be hidden', () => {
  for (const path of [
    'versions/node/v24/etc/npmrc',
    'versions/3.13/pip.conf',
    'maven/conf/settings.xml',
    'x/bin/npmrc',
  ])
    program(path);
  link('versions/link', '/etc');
  const settings = new ToolchainSettings();
  const find = () => settings.find([home, join(home, 'missing')]).map((file) => file.replace(`${home}/`, ''));
  expect(find()).toEqual(['maven/conf/settings.xml', 'versions/3.13/pip.conf', 'versions/node/v24/etc/npmrc']);
  // Long ago, so that only its directory shows that it is new.
  program('cargo/credentials.toml');
  utimesSync(join(home, 'cargo/credentials.toml'), 1, 1);
  program('versions/node/v24/etc/.npmrc');
  expect(find()).toEqual([
    'cargo/credentials.toml',
    'maven/conf/settings.xml',
    'versions/3.13/pip.conf',
    'versions/node/v24/etc/.npmrc',
    'versions/node/v24/etc/npmrc',
  ]);
});
