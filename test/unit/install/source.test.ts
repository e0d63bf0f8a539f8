import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ContextdError } from '#src/core/errors.js';
import { FETCH_LIMITS, RATIO_FREE_BYTES } from '#src/install/limits.js';
import { type FetchSource, formatSource, parseSource } from '#src/install/source.js';
import { SOURCE_REMEDY } from '#src/install/source-forms.js';
import { propertyRuns } from '../../helpers/property-runs.ts';

const COMMIT = '0123456789abcdef0123456789abcdef01234567';
const SUM = 'ab'.repeat(32);
const git = (url: string, more: Partial<Extract<FetchSource, { kind: 'git' }>> = {}): FetchSource => ({
  kind: 'git',
  url,
  sub: '',
  ref: null,
  submodules: false,
  lfs: false,
  ...more,
});

/** A text, its source, and its canonical text if that is another. */
const SOURCES: [text: string, source: FetchSource, canonical?: string][] = [
  ['github.com/org/tool', git('https://github.com/org/tool.git')],
  ['github.com/org/tool@v1', git('https://github.com/org/tool.git', { ref: 'v1' })],
  ['github.com/org/tool.git@v1', git('https://github.com/org/tool.git', { ref: 'v1' }), 'github.com/org/tool@v1'],
  ['https://github.com/org/tool', git('https://github.com/org/tool.git'), 'github.com/org/tool'],
  ['GitHub.com/Org/Tool', git('https://github.com/Org/Tool.git'), 'github.com/Org/Tool'],
  ['github.com/org/tool//a/b@feature/x', git('https://github.com/org/tool.git', { sub: 'a/b', ref: 'feature/x' })],
  ['github.com/org/tool@pkg@1.0.0', git('https://github.com/org/tool.git', { ref: 'pkg@1.0.0' })],
  ['github.com/org/tool//p/@s/x?ref=v1', git('https://github.com/org/tool.git', { sub: 'p/@s/x', ref: 'v1' })],
  [`github.com/org/tool@${COMMIT}`, git('https://github.com/org/tool.git', { ref: COMMIT })],
  ['github.com/org/tool?ref=v1', git('https://github.com/org/tool.git', { ref: 'v1' }), 'github.com/org/tool@v1'],
  ['github.com/org/tool@v1?submodules=true', git('https://github.com/org/tool.git', { ref: 'v1', submodules: true })],
  ['gitlab.com/group/sub/tool@v1', git('https://gitlab.com/group/sub/tool.git', { ref: 'v1' })],
  ['git::https://example.com/a/b.git//c@v1', git('https://example.com/a/b.git', { sub: 'c', ref: 'v1' })],
  [
    'git::https://github.com/org/tool@v1',
    git('https://github.com/org/tool.git', { ref: 'v1' }),
    'github.com/org/tool@v1',
  ],
  ['git::https://github.com/a/b.git.git', git('https://github.com/a/b.git.git')],
  ['github.com/a/b.git.git', git('https://github.com/a/b.git.git'), 'git::https://github.com/a/b.git.git'],
  ['git::https://github.com/a/b/c', git('https://github.com/a/b/c.git'), 'git::https://github.com/a/b/c.git'],
  ['git::ssh://git@example.com:2222/a/b.git@v1', git('ssh://git@example.com:2222/a/b.git', { ref: 'v1' })],
  ['git::git@example.com:a/b.git//c@v1', git('git@example.com:a/b.git', { sub: 'c', ref: 'v1' })],
  ['git::file:///srv/tool@v1', git('file:///srv/tool', { ref: 'v1' })],
  ['git::file:///srv/me@work/tool?ref=v1', git('file:///srv/me@work/tool', { ref: 'v1' })],
  [
    'https://example.com/a/tool.tar.gz',
    { kind: 'http', url: 'https://example.com/a/tool.tar.gz', sub: '', sha256: null },
  ],
  ['https://example.com/tool.TGZ', { kind: 'http', url: 'https://example.com/tool.TGZ', sub: '', sha256: null }],
  [
    `https://example.com:8443/tool.zip//a?checksum=sha256:${SUM.toUpperCase()}`,
    { kind: 'http', url: 'https://example.com:8443/tool.zip', sub: 'a', sha256: SUM },
    `https://example.com:8443/tool.zip//a?checksum=sha256:${SUM}`,
  ],
  [
    'https://github.com/org/tool/releases/download/v1/tool.tgz',
    { kind: 'http', url: 'https://github.com/org/tool/releases/download/v1/tool.tgz', sub: '', sha256: null },
  ],
  ['s3::bucket/a/tool.zip', { kind: 's3', endpoint: null, bucket: 'bucket', key: 'a/tool.zip', sub: '', sha256: null }],
  [
    `s3::https://s3.example.com:9000/bucket/tool.tgz//x?checksum=sha256:${SUM}`,
    { kind: 's3', endpoint: 'https://s3.example.com:9000', bucket: 'bucket', key: 'tool.tgz', sub: 'x', sha256: SUM },
  ],
  ['./tool', { kind: 'folder', path: '/home/me/dir/tool' }, '/home/me/dir/tool'],
  ['.', { kind: 'folder', path: '/home/me/dir' }, '/home/me/dir'],
  ['../tool/', { kind: 'folder', path: '/home/me/tool' }, '/home/me/tool'],
  ['/srv/a b/tool', { kind: 'folder', path: '/srv/a b/tool' }],
  ['./tool.tgz', { kind: 'archive', path: '/home/me/dir/tool.tgz', sub: '', sha256: null }, '/home/me/dir/tool.tgz'],
  [`/srv/t.zip//a?checksum=sha256:${SUM}`, { kind: 'archive', path: '/srv/t.zip', sub: 'a', sha256: SUM }],
];

const WRONG = [
  '',
  'tool',
  'tool.tgz',
  'x'.repeat(2049),
  'github.com/org',
  'github.com/org/tool/sub',
  'github.com/../tool',
  'github.com/org/tool@',
  'github.com/org/tool@-x',
  'github.com/org/tool@--upload-pack=evil',
  'github.com/org/tool@a..b',
  'github.com/org/tool@a b',
  'github.com/org/tool@v1^{}',
  'github.com/org/tool@refs/heads/*',
  'github.com/org/tool@v1.lock',
  'github.com/org/tool//../x',
  'github.com/org/tool//a/../../x',
  'github.com/org/tool?ref=v1&ref=v2',
  'github.com/org/tool?depth=1',
  'github.com/-org/tool',
  'git::ext::sh -c evil',
  'git::http://example.com/a',
  'git::git://example.com/a',
  'git::-oProxyCommand=evil',
  'git::ssh://-oProxyCommand=evil/a',
  'git::-u@example.com:a',
  'git::file://host/path',
  'git::/srv/tool',
  'git::https://example.com',
  'http://example.com/tool.tgz',
  'https://example.com/tool',
  'https://example.com/tool.tgz?archive=zip',
  'https://example.com/tool.tgz?checksum=md5:00',
  'https://example.com/tool.tgz?checksum=sha256:00',
  'https://example.com/tool.tgz?token=x',
  'https:///tool.tgz',
  'ftp://example.com/tool.tgz',
  's3::bucket',
  's3::bucket/key',
  's3::UPPER/tool.tgz',
  's3::http://example.com/bucket/tool.tgz',
  `./folder?checksum=sha256:${SUM}`,
  'github.com/org/to\u202eol',
  './a\nb',
];

const slashed = (parts: readonly string[]): string => parts.join('/');

/** Null: the text is refused, as it must be, with a ContextdError. */
function parsedOrNull(text: string): FetchSource | null {
  try {
    return parseSource(text, '/home/me/dir');
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(ContextdError);
    return null;
  }
}

describe('issue 17 part 1: the text of a source', () => {
  for (const [text, source, canonical = text] of SOURCES)
    it(`${text} is read, and has one canonical text`, () => {
      expect(parseSource(text, '/home/me/dir')).toEqual(source);
      expect(formatSource(source)).toBe(canonical);
      expect(parseSource(canonical, '/elsewhere')).toEqual(source);
    });

  for (const text of WRONG)
    it(`${JSON.stringify(text.slice(0, 60))} is ARGS_INVALID, with an example as its remedy`, () => {
      const error = faultOf(text);
      expect(error.code).toBe('ARGS_INVALID');
      expect(error.remedy).toBe(SOURCE_REMEDY);
    });

  it('credentials in a source are refused, and the message does not repeat them', () => {
    const secret = 'hunter2hunter2';
    for (const text of [
      `git::https://me:${secret}@example.com/a/b@v1`,
      `git::https://${secret}@example.com/a/b`,
      `git::ssh://me:${secret}@example.com/a/b`,
      `https://me:${secret}@example.com/tool.tgz`,
      `https://example.com/tool.tgz?token=${secret}`,
      `s3::https://me:${secret}@example.com/bucket/tool.tgz`,
    ]) {
      const error = faultOf(text);
      expect(error.code).toBe('ARGS_INVALID');
      expect(`${error.message}${error.remedy}`).not.toContain(secret);
    }
  });

  it('every text of the grammar is the same source again as its canonical text, which is canonical itself', () => {
    const name = fc.stringMatching(/^[A-Za-z0-9_][A-Za-z0-9_.~-]{0,6}(?:\.git){0,3}$/);
    const odd = fc.oneof(
      name,
      fc.constantFrom('%20', 'é', 'a@b', '@', '%2e%2e', 'a b', '.git', 'x.zip', '~me', '日本'),
    );
    const path = fc.array(fc.oneof({ weight: 4, arbitrary: name }, odd), { minLength: 1, maxLength: 4 }).map(slashed);
    const sub = fc.oneof(
      fc.constant(''),
      path.map((one) => `//${one}`),
    );
    const ref = fc.oneof(fc.constant(''), fc.constantFrom('@v1', '@a/b', '@p@1', `@${COMMIT}`, '?ref=v1', '?ref=a@b'));
    const more = fc.constantFrom('', '?submodules=true', '&lfs=true', `?checksum=sha256:${SUM}`);
    const start = fc.constantFrom(
      'github.com/',
      'gitlab.com/',
      'https://github.com/',
      'GitLab.com/',
      'git::https://github.com/',
      'git::https://gitlab.com/',
      'git::https://example.com/',
      'git::https://example.com:8443/',
      'git::file:///',
      'git::ssh://git@example.com/',
      'git::ssh://example.com:22/',
      'git::git@example.com:',
      'git::git@example.com:/',
      'https://example.com/',
      'https://[::1]:8443/',
      's3::',
      's3::https://s3.example.com/',
      './',
      '../',
      '/',
      '//',
    );
    const end = fc.constantFrom('', '.git', '.git.git', '/', '.tar.gz', '.tgz', '.zip');
    const text = fc.tuple(start, path, end, sub, ref, more).map((parts) => parts.join(''));
    const read = { git: 0, http: 0, s3: 0, folder: 0, archive: 0 };
    fc.assert(
      fc.property(text, (one) => {
        const source = parsedOrNull(one);
        if (source === null) return;
        read[source.kind] += 1;
        const canonical = formatSource(source);
        expect(parseSource(canonical, '/elsewhere'), canonical).toEqual(source);
        expect(formatSource(parseSource(canonical, '/elsewhere'))).toBe(canonical);
      }),
      // One text in 300 is of the rarest kind.
      { numRuns: propertyRuns('function', 20) },
    );
    // Few cases, as in `npm run test:unit`, have not every kind.
    const kinds = Object.values(read).filter((count) => count > 0);
    if (propertyRuns() >= 300) expect(kinds, JSON.stringify(read)).toHaveLength(5);
  });

  it('whatever the text: it is refused, or its canonical text is the same source and git can take no part of it for an option', () => {
    const word = fc.constantFrom(
      'github.com',
      'gitlab.com',
      'git::',
      's3::',
      'https://',
      'ssh://',
      'file://',
      '/',
      '//',
      '@',
      '?',
      'ref=',
      '&',
      '..',
      '.',
      'org',
      'tool',
      '.tar.gz',
      '.zip',
      'a',
      '-x',
      'git@',
      ':',
      '%20',
      'é',
      '#',
      'submodules=true',
      `checksum=sha256:${SUM}`,
    );
    fc.assert(
      fc.property(
        fc.array(word, { maxLength: 9 }).map((words) => words.join('')),
        (text) => {
          const source = parsedOrNull(text);
          if (source === null) return;
          expect(parseSource(formatSource(source), '/elsewhere')).toEqual(source);
          if (source.kind === 'git') {
            expect(source.url).not.toMatch(/^-|^[\w+.-]*::|\/\/-/);
            expect(source.ref ?? '').not.toMatch(/^-|\.\./);
          }
          if ('sub' in source) expect(source.sub.split('/')).not.toContain('..');
        },
      ),
      // Most texts are refused.
      { numRuns: propertyRuns('function', 5) },
    );
  });
});

describe('docs/sources.md', () => {
  const text = readFileSync(join(import.meta.dirname, '../../../docs/sources.md'), 'utf8');

  it('issue 17 part 2: has the limits that hold', () => {
    const values = [...text.matchAll(/^\|[^|]+\| (\d+) \|$/gm)].map(([, value]) => Number(value));
    const { bytes, files, depth, path_chars, ratio, time_ms, stall_ms } = FETCH_LIMITS;
    expect(values).toEqual([bytes, files, depth, path_chars, ratio, time_ms, stall_ms]);
    expect(text).toContain(`the first ${RATIO_FREE_BYTES / 1024 / 1024} MiB`);
  });
});

function faultOf(text: string): ContextdError {
  try {
    parseSource(text, '/home/me/dir');
  } catch (thrown) {
    if (thrown instanceof ContextdError) return thrown;
  }
  throw new Error(`${text} was taken`);
}
