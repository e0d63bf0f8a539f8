import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ContextdError } from '#src/core/errors.js';
import { PROTECTED_NAMES } from '#src/guard/table/protected-names.js';
import { locateOut } from '#src/proxy/out-place.js';

const ROOT = '/home/ann/.work/shop';
const link = { tool: 'safe_bash', projectRoot: ROOT, toolDir: '/alias/.claude/tools/safe_bash' };

function place(given: string, cwd = ROOT) {
  const { folders, name } = locateOut(given, link, cwd);
  return [...folders, name].join('/');
}

function refused(code: string, words: RegExp) {
  return expect.objectContaining({
    code,
    message: expect.stringMatching(words),
    remedy: expect.stringMatching(/Name a file/),
  });
}

describe('the place of an answer', () => {
  it.each([
    ['a.json', ROOT, 'a.json'],
    ['out/a', ROOT, 'out/a'],
    ['./out//a', ROOT, 'out/a'],
    ['a', join(ROOT, 'sub/dir'), 'sub/dir/a'],
    ['../a', join(ROOT, 'sub'), 'a'],
    ['x/../a', ROOT, 'a'],
    [`${ROOT}/a`, '/', 'a'],
    ['/alias/out/a', '/', 'out/a'],
    ['a b…c', ROOT, 'a b…c'],
    ['-x', ROOT, '-x'],
  ])('%s in %s', (given, cwd, found) => {
    expect(place(given, cwd)).toBe(found);
  });

  it.each([
    ['', 'PATH_INVALID', /""/],
    ['-', 'PATH_INVALID', /not a file name/],
    ['a\0b', 'PATH_INVALID', /not a file name/],
    ['a/', 'PATH_INVALID', /a directory/],
    ['a/.', 'PATH_INVALID', /a directory/],
    ['a/..', 'PATH_INVALID', /a directory/],
    ['..', 'PATH_INVALID', /a directory/],
    [ROOT, 'PATH_INVALID', /outside the project/],
    ['../a', 'PATH_INVALID', /outside the project/],
    ['../shop2/a', 'PATH_INVALID', /outside the project/],
    [`${ROOT}2/a`, 'PATH_INVALID', /outside the project/],
    ['/dev/stdout', 'PATH_INVALID', /outside the project/],
    ['/', 'PATH_INVALID', /a directory/],
    ['a\nb', 'PATH_INVALID', /invisible characters/],
    ['\u200c.git/config', 'PATH_INVALID', /invisible characters/],
    ['.env', 'PERMISSION_DENIED', /\.env begins with a dot/],
    ['.git/hooks/pre-commit', 'PERMISSION_DENIED', /begins with a dot/],
    ['sub/.claude/settings.json', 'PERMISSION_DENIED', /begins with a dot/],
    ['...', 'PERMISSION_DENIED', /begins with a dot/],
    ['opencode.json', 'PERMISSION_DENIED', /trust opencode\.json/],
    ['sub/OpenCode.JSONC', 'PERMISSION_DENIED', /trust/],
    ['contextd.loc\u212a', 'PERMISSION_DENIED', /trust/],
    ['opencode.j\u017fon', 'PERMISSION_DENIED', /trust/],
    ['opencode.json/a', 'PERMISSION_DENIED', /trust/],
    ['mise.ci.local.toml', 'PERMISSION_DENIED', /trust mise/],
    ['sub/Mise/Config.ci.toml', 'PERMISSION_DENIED', /trust .* \(mise\)/],
    ['mise/conf.d/a.toml', 'PERMISSION_DENIED', /trust .* \(mise\)/],
  ])('refuses %j', (given, code, words) => {
    expect(() => place(given)).toThrow(refused(code, words));
  });

  it('refuses every name that the sandbox protects, in a directory too', () => {
    for (const name of PROTECTED_NAMES) {
      for (const given of [name, `sub/${name}`, `${name}/x`, name.toUpperCase()]) {
        expect(() => place(given)).toThrow(refused('PERMISSION_DENIED', /./));
      }
    }
  });

  it('is inside the project and has no dotted part, whatever path is given in whatever directory', () => {
    const part = fc.oneof(
      fc.constantFrom('..', '.', '', 'a', '.git', 'opencode.json', 'home', 'ann', '.work', 'shop'),
      fc.string(),
    );
    const path = fc
      .tuple(fc.constantFrom('', '/', '../', `${ROOT}/`, '/alias/'), fc.array(part))
      .map(([start, parts]) => start + parts.join('/'));
    const cwd = fc.constantFrom(ROOT, join(ROOT, 'sub'), '/', '/home');
    fc.assert(
      fc.property(path, cwd, (given, from) => {
        try {
          const { folders, name, root } = locateOut(given, link, from);
          expect(root).toBe(ROOT);
          for (const each of [...folders, name]) expect(each).toMatch(/^[^./\0][^/\0]*$/u);
        } catch (error) {
          expect(error).toBeInstanceOf(ContextdError);
        }
      }),
    );
  });
});
