import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileGlobs } from '#src/fs/glob.js';

function matches(pattern: string, path: string, isDirectory = false): boolean {
  return compileGlobs([pattern]).match(path, isDirectory) !== null;
}

describe('deny globs', () => {
  test.each([
    ['*.pem', 'a.pem', true],
    ['*.pem', 'x/y/a.pem', true],
    ['*.pem', '.pem', true],
    ['*.pem', 'a.pem/x', false],
    ['.env', 'deep/.env', true],
    ['.env*', '.env.local', true],
    ['conf/*.key', 'conf/a.key', true],
    ['conf/*.key', 'x/conf/a.key', false],
    ['conf/*.key', 'conf/x/a.key', false],
    ['**/conf/*.key', 'x/y/conf/a.key', true],
    ['**/conf/*.key', 'conf/a.key', true],
    ['a/**/b', 'a/b', true],
    ['a/**/b', 'a/x/y/b', true],
    ['a/**/b', 'a/x/y/bb', false],
    ['a/**', 'a', false],
    ['a/**', 'a/x', true],
    ['a/**', 'a/x/y', true],
    ['**', 'anything/at/all', true],
    ['./a', 'a', true],
    ['./a', 'x/a', false],
    ['a//b', 'a/b', true],
    ['id_?sa', 'id_rsa', true],
    ['id_?sa', 'id_sa', false],
    ['?', 'é', true],
    ['?', '😀', true],
    ['[a-c]x', 'bx', true],
    ['[!a-c]x', 'bx', false],
    ['[^a-c]x', 'dx', true],
    ['[]]x', ']x', true],
    ['[a-]x', '-x', true],
    ['[a', '[a', true],
    ['\\*', '*', true],
    ['\\*', 'a', false],
    ['*.{pem,key}', 'a.key', true],
    ['*.{pem,k{e,i}y}', 'a.kiy', true],
    ['{a}', '{a}', true],
    ['\\{a,b\\}', '{a,b}', true],
    ['a*b*c', 'aXXbYYc', true],
    ['a*b*c', 'aXXcYYb', false],
    ['*a', 'ba\nca', true],
  ])('%s and %s: %s', (pattern, path, expected) => {
    expect(matches(pattern, path)).toBe(expected);
  });

  test('a slash at the end means directories only', () => {
    expect([matches('secrets/', 'x/secrets', true), matches('secrets/', 'x/secrets', false)]).toEqual([true, false]);
    expect([matches('a/b/', 'a/b', true), matches('a/b/', 'x/a/b', true)]).toEqual([true, false]);
  });

  test('a match says whether it depends on the place of its directory', () => {
    const kinds = ['*.pem', '**/*.pem', 'a/*.pem', '**/a/*.pem'].map((glob) =>
      compileGlobs([glob]).match('a/x.pem', false),
    );
    expect(kinds).toEqual(['name', 'name', 'path', 'path']);
  });

  test.each(['', '/a', '../a', 'a/../b', '!a', 'a\\', '{a,b}'.repeat(12)])('%s is refused, not ignored', (pattern) => {
    expect(() => compileGlobs([pattern])).toThrow(expect.objectContaining({ code: 'SCHEMA_INVALID' }));
  });

  test('agrees with a plain reading as a regular expression', () => {
    const segment = fc.stringMatching(/^[ab*?]{1,4}$/).filter((one) => one !== '**');
    const pattern = fc.array(fc.oneof(segment, fc.constant('**')), { minLength: 2, maxLength: 4 });
    const path = fc.array(fc.stringMatching(/^[ab]{1,4}$/), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(pattern, path, (parts, names) => {
        expect(matches(parts.join('/'), names.join('/'))).toBe(plainReading(parts).test(`/${names.join('/')}`));
      }),
    );
  });

  test('a hostile name takes no longer than any other', () => {
    const globs = compileGlobs([`${'*a'.repeat(40)}b`, `${'**/a/'.repeat(20)}b`]);
    expect(globs.match('a'.repeat(255), false)).toBeNull();
    expect(globs.match(Array.from({ length: 1000 }, () => 'a').join('/'), false)).toBeNull();
  });
});

function plainReading(parts: readonly string[]): RegExp {
  const last = parts.length - 1;
  const texts = parts.map((part, i) => {
    if (part === '**') return i === last ? '(/[^/]+)+' : '(/[^/]+)*';
    return `/${part.replace(/\*+/g, '[^/]*').replaceAll('?', '[^/]')}`;
  });
  return new RegExp(`^${texts.join('')}$`);
}
