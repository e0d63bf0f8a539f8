import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findCredential, matches, normalPath } from '#src/egress/credential-match.js';
import type { BoundCredential } from '#src/egress/messages.js';

function bound(some: Partial<BoundCredential> = {}): BoundCredential {
  const base = { id: '1', host: 'git.example.com', port: 443, header: 'authorization', value: 'Basic eDp5' };
  return { ...base, methods: ['GET', 'HEAD'], paths: [], ...some };
}

const READ = bound({ paths: ['/org/repo.git/*'] });
const PUSH = bound({ paths: ['/org/repo.git/*'], methods: ['GET', 'HEAD', 'POST'] });

const check = (credentials: readonly BoundCredential[], method: string, target: string) =>
  findCredential(credentials, { method, target });

describe('findCredential', () => {
  it.each([
    [READ, 'GET', '/org/repo.git/info/refs?service=git-upload-pack'],
    [READ, 'POST', '/org/repo.git/git-upload-pack'],
    [READ, 'HEAD', '/org/repo.git/HEAD'],
    [PUSH, 'GET', '/org/repo.git/info/refs?service=git-receive-pack'],
    [PUSH, 'POST', '/org/repo.git/git-receive-pack'],
    [bound(), 'GET', '/anything?x=1'],
    [bound(), 'GET', '/api/v4/projects/group%2Frepo'],
    [bound({ paths: ['/@corp/*'] }), 'GET', '/@corp%2fpackage'],
  ])('accepts what the credential is for', (credential, method, target) => {
    expect(check([credential], method, target)).toEqual({ credential, target, why: null });
  });

  it.each(['/@corp%2f..', '/@corp%2f../-/admin', '/@corp%2F.', '/@corp%2f%2e%2e/x', '/@corp%2f.%2e/x'])(
    'takes %s for no package of the scope',
    (target) => {
      expect(check([bound({ paths: ['/@corp/*'] })], 'GET', target)).toMatchObject({
        credential: null,
        why: expect.stringContaining('its path holds an encoded slash'),
      });
    },
  );

  it.each([
    ['no credential for this host is bound to its path', READ, 'GET', '/org/other.git/info/refs'],
    ['no credential for this host is bound to its path', READ, 'GET', '/org/repo.gitx/info/refs'],
    ['no credential for this host is bound to its path', bound({ paths: ['/@corp/*'] }), 'GET', '/@other%2fpackage'],
    ['no credential for its path allows a push', READ, 'GET', '/org/repo.git/info/refs?service=git-receive-pack'],
    ['no credential for its path allows a push', READ, 'GET', '/org/repo.git/info/refs?a&service=git%2dreceive-pack'],
    [
      'no credential for its path allows a push',
      READ,
      'GET',
      '/org/repo.git/info/refs?service=x&service=git-upload-pack',
    ],
    ['the credential for its path is for GET and HEAD, not for POST', READ, 'POST', '/org/repo.git/git-receive-pack'],
    ['the credential for its path is for GET and HEAD, not for DELETE', bound(), 'DELETE', '/org'],
    ['the credential for its path is for GET and HEAD, not for POST', bound(), 'POST', '/a%2fgit-upload-pack'],
    [
      'the credential for its path is for GET and HEAD, not for POST',
      bound({ value: 'Bearer x' }),
      'POST',
      '/v1/git-upload-pack',
    ],
    [
      'its path holds an encoded slash, and the credentials for this host are bound to paths',
      READ,
      'GET',
      '/org%2frepo.git/x',
    ],
    ['it names its whole address instead of a path', bound(), 'GET', 'https://git.example.com/org'],
    ['it names its whole address instead of a path', bound(), 'OPTIONS', '*'],
    ['its path holds . or ..', READ, 'GET', '/org/repo.git/../other.git/info/refs'],
    ['its path holds . or ..', READ, 'GET', '/org/repo.git/%2e%2E/other.git/info/refs'],
    ['its path holds . or ..', READ, 'GET', '/org/repo.git/..;a=b/other.git/info/refs'],
    ['its path holds . or ..', READ, 'GET', '/org/repo.git/..%3ba/other.git/info/refs'],
    ['its path holds . or ..', READ, 'GET', '/org/repo.git/./x'],
    ['its path holds an encoding that is not UTF-8', READ, 'GET', '/org/repo.git/%c0%ae%c0%ae/x'],
    ['its path holds an encoding that is not UTF-8', READ, 'GET', '/org/repo.git/%e0%80%af/x'],
    ['its path holds an encoded character that servers read in different ways', READ, 'GET', '/org/repo.git/%25252fx'],
    ['its path holds an encoded character that servers read in different ways', READ, 'GET', '/org/repo.git/%00'],
    ['its path holds an empty part', READ, 'GET', '//org/repo.git/x'],
    ['its path holds an encoded character that servers read in different ways', READ, 'GET', '/org/repo.git/%5c..%5cx'],
    [
      'its path holds an encoded character that servers read in different ways',
      READ,
      'GET',
      '/org/repo.git/%252e%252e/x',
    ],
    ['its path holds an encoded character that servers read in different ways', READ, 'GET', '/org/repo.git/%0d%0ax'],
    ['its path holds characters that a URL cannot hold', READ, 'GET', '/org/repo.git/\\..\\x'],
    ['its path holds characters that a URL cannot hold', READ, 'GET', '/org/repo.git/x#y'],
    ['its path holds a broken encoding', READ, 'GET', '/org/repo.git/%2'],
    ['its query holds characters that a URL cannot hold', READ, 'GET', '/org/repo.git/x?a b'],
  ])('refuses because %s', (why, credential, method, target) => {
    const isBindable = /^(?:no credential|the credential)/.test(why);
    expect(check([credential], method, target)).toEqual({ credential: null, why, isBindable });
  });

  it('takes the credential of the path, and the one that is for the method', () => {
    const other = bound({ id: '2', paths: ['/org/other.git/*'] });
    expect(check([other, READ, PUSH], 'POST', '/org/repo.git/git-receive-pack').credential).toBe(PUSH);
    expect(check([READ, other], 'GET', '/org/other.git/HEAD').credential).toBe(other);
  });

  it('sends the host the path that was compared', () => {
    expect(check([READ], 'GET', '/org/%72epo.git/%7Ea?b=%2f')).toMatchObject({ target: '/org/repo.git/~a?b=%2f' });
  });
});

describe('normalPath', () => {
  it('leaves nothing by which the path could lead elsewhere', () => {
    const part = fc.constantFrom(
      '.',
      '..',
      '%2e',
      '%2E%2e',
      'a',
      '/',
      '//',
      ';',
      '%252e',
      '%25252e',
      '%c0%ae',
      '%3b',
      '\\',
      '%5c',
      'repo.git',
      '%00',
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const { path } = normalPath(`/${parts.join('')}`);
        if (path === null) return;
        expect(new URL(`https://git.example.com${path}`).pathname).toBe(path);
        expect(decodeURIComponent(path)).not.toMatch(/(^|\/)\.{1,2}(;|\/|$)|\/\/|\\|\0/);
      }),
    );
  });
});

describe('matches', () => {
  it.each([
    ['/a/*', '/a/', true],
    ['/a/*', '/a', false],
    ['/a/*/c', '/a/b/b/c', true],
    ['/a/*c*', '/a/bc', true],
    ['/a/*ab*b', '/a/ab', false],
    ['/a.c', '/abc', false],
    ['*', '/x', true],
  ])('%s on %s is %s', (glob, path, expected) => {
    expect(matches(glob, path)).toBe(expected);
  });
});
