import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type HashBytes, isSoundIndex } from '#src/guard/git/index-file.js';
import { isIndexedPath } from '#src/guard/git/names.js';
import { propertyRuns } from '../../../helpers/property-runs.ts';

const SIZES: readonly HashBytes[] = [20, 32];
const MANY = 25_000;

describe('an index that git wrote', () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'index-'));
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  const git = (args: string[], input = '') =>
    execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.com', ...args], {
      cwd: dir,
      input,
      env: { PATH: process.env.PATH, HOME: dir, GIT_CONFIG_NOSYSTEM: '1' },
      maxBuffer: 1 << 26,
    }).toString();

  /** Fills a new repository with `paths`, with the settings that are given. */
  function make(format: string, settings: string[], paths: string[]): void {
    git(['init', '-q', `--object-format=${format}`]);
    for (const setting of settings) git(['config', ...setting.split('=')]);
    const blob = git(['hash-object', '-w', '--stdin'], 'x').trim();
    git(['update-index', '--index-info'], paths.map((path) => `100644 ${blob}\t${path}\n`).join(''));
  }

  const ODD = ['a', 'lib/.github/x', 'lib/x.git/HEAD', 'ünïcode/é', '..x/y..', 'a b/c', '.gitignore', 'n'.repeat(5000)];

  it.each(['sha1', 'sha256'].flatMap((format) => ['2', '3', '4'].map((version) => ({ format, version }))))(
    'is sound: version $version, $format',
    ({ format, version }) => {
      make(format, [`index.version=${version}`], ODD);
      if (version !== '2') git(['update-index', '--skip-worktree', 'a']);
      const index = readFileSync(join(dir, '.git/index'));
      expect(isSoundIndex(index, format === 'sha1' ? 20 : 32)).toBe(true);
      expect(isSoundIndex(index, format === 'sha1' ? 32 : 20)).toBe(false);
    },
  );

  it.each(['2', '4'])(
    'is sound if it is read in several threads, and not if these read something else: version %s',
    (version) => {
      const paths = Array.from({ length: MANY }, (_, i) => `d${i % 100}/f${i}`);
      make('sha1', [`index.version=${version}`, 'index.threads=2'], paths);
      const index = readFileSync(join(dir, '.git/index'));
      expect(isSoundIndex(index, 20)).toBe(true);
      const table = index.lastIndexOf('IEOT') + 12;
      for (const at of [table, table + 4]) {
        const changed = Buffer.from(index);
        changed.writeUInt32BE(changed.readUInt32BE(at) + 72, at);
        expect(isSoundIndex(changed, 20)).toBe(false);
      }
      const moved = Buffer.from(index);
      moved.writeUInt32BE(12, moved.lastIndexOf('EOIE') + 8);
      expect(isSoundIndex(moved, 20)).toBe(false);
    },
  );

  it('is sound with all that git adds: trees, conflicts, resolved conflicts, untracked files', () => {
    make('sha1', ['core.untrackedCache=true'], ['a']);
    writeFileSync(join(dir, 'a'), 'x');
    git(['commit', '-qm', 'one']);
    git(['checkout', '-qb', 'side']);
    writeFileSync(join(dir, 'a'), 'side');
    git(['commit', '-qam', 'side']);
    git(['checkout', '-q', '-']);
    writeFileSync(join(dir, 'a'), 'main');
    git(['commit', '-qam', 'main']);
    expect(() => git(['merge', '-q', 'side'])).toThrow();
    const index = () => readFileSync(join(dir, '.git/index'));
    expect(isSoundIndex(index(), 20)).toBe(true);
    git(['add', 'a']);
    writeFileSync(join(dir, 'new'), 'x');
    git(['update-index', '--untracked-cache']);
    git(['status']);
    for (const name of ['REUC', 'UNTR']) expect(index().includes(name)).toBe(true);
    expect(isSoundIndex(index(), 20)).toBe(true);
  });

  it('is sound if it is split or sparse', () => {
    make('sha1', ['splitIndex.maxPercentChange=100'], ['a', 'b', 'c/d', 'e/f']);
    git(['commit', '-qm', 'one']);
    git(['update-index', '--split-index']);
    git(['update-index', '--force-remove', 'a']);
    git(['checkout', '-q', '--', 'b']);
    git(['update-index', '--chmod=+x', 'b']);
    const parts = readdirSync(join(dir, '.git')).filter((name) => /^(shared)?index/.test(name));
    expect(parts.length).toBe(2);
    for (const name of parts) expect(isSoundIndex(readFileSync(join(dir, '.git', name)), 20)).toBe(true);
    git(['reset', '-q', '--hard']);
    git(['update-index', '--no-split-index']);
    git(['sparse-checkout', 'set', '--cone', '--sparse-index', 'c']);
    const index = readFileSync(join(dir, '.git/index'));
    expect(index.includes('sdir')).toBe(true);
    expect(isSoundIndex(index, 20)).toBe(true);
  });
});

interface Made {
  readonly version: 2 | 3 | 4;
  readonly hashBytes: HashBytes;
  readonly names: readonly string[];
  readonly extensions?: readonly Buffer[];
}

/** An index with these names, as git would write it. */
function write({ version, hashBytes, names, extensions = [] }: Made): Buffer {
  const header = Buffer.from(`DIRC${'\0'.repeat(8)}`);
  header.writeUInt32BE(version, 4);
  header.writeUInt32BE(names.length, 8);
  let previous = '';
  const entries = names.map((name) => {
    const fixed = Buffer.alloc(40 + hashBytes + 2);
    fixed.writeUInt32BE(0o100644, 24);
    fixed.writeUInt16BE(Math.min(name.length, 0xfff), 40 + hashBytes);
    let common = 0;
    while (common < Math.min(previous.length, name.length) && previous[common] === name[common]) common++;
    const strip = previous.length - common;
    previous = name;
    if (version === 4)
      return Buffer.concat([fixed, Buffer.from([strip]), Buffer.from(`${name.slice(common)}\0`, 'latin1')]);
    const length = fixed.length + name.length;
    return Buffer.concat([fixed, Buffer.from(name, 'latin1'), Buffer.alloc(((length + 8) & ~7) - length)]);
  });
  return Buffer.concat([header, ...entries, ...extensions, Buffer.alloc(hashBytes)]);
}

function extension(name: string, data: Buffer): Buffer {
  const header = Buffer.from(`${name}\0\0\0\0`);
  header.writeUInt32BE(data.length, 4);
  return Buffer.concat([header, data]);
}

const form = fc.record({
  version: fc.constantFrom(2, 3, 4) as fc.Arbitrary<2 | 3 | 4>,
  hashBytes: fc.constantFrom(...SIZES),
});
const plain = fc.stringMatching(/^[a-z]{1,8}(\/[a-z.]{0,3}[a-z]{1,4}){0,3}$/);
const DOT_GIT = [
  '.git',
  '.GIT',
  '.Git',
  'git~1',
  '.git.',
  '.git ',
  '.git . .',
  '.git:x',
  '.git::$INDEX_ALLOCATION',
  '.g\u200cit',
];
/** A component that git never adds, anywhere in a path. */
const refused = fc
  .tuple(
    fc.constantFrom('.', '..', '', ...DOT_GIT.map((name) => Buffer.from(name).toString('latin1'))),
    fc.array(plain, { maxLength: 2 }),
    fc.array(plain, { minLength: 1, maxLength: 2 }),
  )
  .map(([name, before, after]) => [...before, name, ...after].join('/'));

describe('an index that a command wrote', () => {
  it('is sound with ordinary names', () => {
    fc.assert(
      fc.property(form, fc.array(plain), (shape, names) => {
        expect(isSoundIndex(write({ ...shape, names }), shape.hashBytes)).toBe(true);
      }),
    );
  });

  it('SEC-2.3 is not sound if a few bytes stand for long names, because reading it would take the memory of the process', () => {
    const ordinary = Array.from({ length: 200 }, (_, n) => `src/${String(n).padStart(4, '0')}.ts`);
    expect(isSoundIndex(sharedNames(ordinary), 20)).toBe(true);
    const long = Array.from({ length: 300 }, (_, n) => `${'a'.repeat(4_000)}${String(n).padStart(4, '0')}`);
    expect(isSoundIndex(sharedNames(long), 20)).toBe(false);
  });

  it('SEC-2.3 is not sound with a name that git would refuse to add', () => {
    fc.assert(
      fc.property(form, fc.array(plain), refused, fc.array(plain), (shape, before, name, after) => {
        expect(isIndexedPath(name)).toBe(false);
        expect(isSoundIndex(write({ ...shape, names: [...before, name, ...after] }), shape.hashBytes)).toBe(false);
      }),
    );
  });

  it('SEC-2.3 is not sound if it is cut, longer, or has another length of a name', () => {
    fc.assert(
      fc.property(form, fc.array(plain, { minLength: 1 }), fc.nat(), (shape, names, cut) => {
        const index = write({ ...shape, names });
        expect(isSoundIndex(index.subarray(0, cut % index.length), shape.hashBytes)).toBe(false);
        expect(isSoundIndex(Buffer.concat([index, Buffer.from('x')]), shape.hashBytes)).toBe(false);
        const longer = Buffer.from(index);
        longer.writeUInt8(longer.readUInt8(12 + 41 + shape.hashBytes) ^ 1, 12 + 41 + shape.hashBytes);
        expect(isSoundIndex(longer, shape.hashBytes)).toBe(false);
      }),
    );
  });

  it.each(SIZES)(
    'SEC-2.3 is not sound with an end that git finds in another extension: hashes of %i bytes',
    (hashBytes) => {
      const fake = extension('EOIE', Buffer.alloc(4 + hashBytes));
      const [names, version] = [['a'], 2] as const;
      const hidden = write({ version, hashBytes, names, extensions: [extension('UNTR', fake)] });
      expect(isSoundIndex(hidden, hashBytes)).toBe(false);
      const harmless = write({ version, hashBytes, names, extensions: [extension('UNTR', Buffer.alloc(40))] });
      expect(isSoundIndex(harmless, hashBytes)).toBe(true);
      const unknown = write({ version, hashBytes, names, extensions: [extension('zzzz', Buffer.alloc(4))] });
      expect(isSoundIndex(unknown, hashBytes)).toBe(false);
    },
  );

  it('agrees with git about names', () => {
    const dir = mkdtempSync(join(tmpdir(), 'names-'));
    mkdirSync(join(dir, 'x'));
    const env = { PATH: process.env.PATH, HOME: dir, GIT_CONFIG_NOSYSTEM: '1' };
    const git = (args: string[], input = '') =>
      execFileSync('git', args, { cwd: dir, input, env, stdio: 'pipe' }).toString();
    git(['init', '-q']);
    git(['config', 'core.protectHFS', 'true']);
    const blob = git(['hash-object', '-w', '--stdin'], 'x').trim();
    const names = fc.sample(fc.oneof(plain, refused), propertyRuns('slow'));
    for (const name of [...names, ...DOT_GIT, 'x/', '/x', 'a\\.git\\b', '.gitmodules', 'git~2', '.git_', 'x.git']) {
      const path = Buffer.from(name).toString('latin1');
      rmSync(join(dir, '.git/index'), { force: true });
      let isAdded = true;
      try {
        git(['update-index', '--add', '--cacheinfo', `100644,${blob},${name}`]);
      } catch {
        isAdded = false;
      }
      expect({ name, isAdded: isIndexedPath(path) }).toEqual({ name, isAdded });
    }
    rmSync(dir, { recursive: true });
  });
});

/** An index of version 4, in which a name begins with the name before it but for its last four characters. */
function sharedNames(names: readonly string[]): Buffer {
  const head = Buffer.from('DIRC\0\0\0\x04\0\0\0\0');
  head.writeUInt32BE(names.length, 8);
  const entries = names.map((name, n) => {
    const entry = Buffer.alloc(62);
    entry.writeUInt32BE(0o100644, 24);
    entry.writeUInt16BE(Math.min(name.length, 0xfff), 60);
    const isFirst = n === 0;
    const shared = isFirst ? 0 : name.length - 4 - (name.endsWith('.ts') ? 3 : 0);
    const strip = isFirst ? 0 : (names[n - 1] ?? '').length - shared;
    return Buffer.concat([entry, Buffer.from([strip]), Buffer.from(`${name.slice(shared)}\0`)]);
  });
  return Buffer.concat([head, ...entries, Buffer.alloc(20)]);
}
