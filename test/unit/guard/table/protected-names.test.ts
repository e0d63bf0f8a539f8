import { expect, it } from 'vitest';
import { isProtectedIn } from '#src/guard/table/protected-names.js';

it.each([
  ['', 'mise.local.toml'],
  ['sub', '.mise.local.toml'],
  ['', '.mise.foo.toml'],
  ['', 'mise.foo.local.toml'],
  ['', 'MISE.Foo.TOML'],
  ['.config', 'mise'],
  ['a/.config', 'mise.foo.toml'],
  ['.config', 'mise.toml'],
  ['mise', 'config.toml'],
  ['a/mise', 'config.foo.toml'],
  ['mise', 'conf.d'],
  ['', '.rtx.toml'],
  ['', '.rtx.foo.toml'],
  ['', '.helix'],
  ['a', '.aider.conf.yml'],
  ['', '.amazonq'],
  ['', '.lazygit.yml'],
  ['.direnv', 'flake-profile-1.rc'],
  ['', '.iex.exs'],
  ['', '.ocamlinit'],
  ['', '.octaverc'],
])('SEC-2.3 in "%s", %s is protected', (dir, name) => {
  expect(isProtectedIn(dir, name)).toBe(true);
  expect(isProtectedIn(`node_modules/${dir}`, name)).toBe(['.aider.conf.yml', '.amazonq'].includes(name));
});

it.each([
  ['', 'misetoml'],
  ['', 'promise.a.toml'],
  ['', 'mise'],
  ['', 'config.toml'],
  ['src/mise', 'main.rs'],
  ['', '.config'],
  ['.config', 'settings.json'],
  ['.direnv', 'python-3.12'],
  ['src', 'a.rc'],
  ['', '.aider.chat.history.md'],
  ['', '.aider.tags.cache.v4'],
  // The plugin that reads it asks first.
  ['', '.lvimrc'],
])('in "%s", %s is an ordinary name', (dir, name) => {
  expect(isProtectedIn(dir, name)).toBe(false);
});
