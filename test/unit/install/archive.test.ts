import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { ContextdError } from '#src/core/errors.js';
import { readArchive } from '#src/install/child/archive.js';
import { Meter } from '#src/install/child/meter.js';
import { Tree } from '#src/install/child/tree.js';
import { FETCH_LIMITS, type FetchLimits } from '#src/install/limits.js';
import { paxOf, type TarEntry, tarOf, type ZipItem, zipOf } from '../../helpers/hostile-archives.ts';
import { HOSTILE_PATHS, HOSTILE_TREES, type Thing } from '../../helpers/hostile-trees.ts';

const top = mkdtempSync(join(tmpdir(), 'ctxd-archive-'));
afterAll(() => rmSync(top, { recursive: true, force: true }));
let count = 0;

interface Unpacked {
  /** `path` to text, of everything that is a file. */
  files: Record<string, string>;
  /** What lies beside the tool: nothing may. */
  outside: string[];
  error: ContextdError | null;
  tree: Tree;
  dir: string;
}

async function unpack(bytes: Buffer, options: { sub?: string; limits?: Partial<FetchLimits> } = {}): Promise<Unpacked> {
  const home = join(top, String(count++));
  const dir = join(home, 'tool');
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(home, 'archive'), bytes);
  const limits = { ...FETCH_LIMITS, ...options.limits };
  const meter = new Meter(() => {});
  const tree = new Tree(dir, options.sub ?? '', limits, meter);
  const error = await readArchive({ path: join(home, 'archive'), name: 'tool.tgz', limits, meter }, tree).then(
    () => null,
    (thrown: unknown) => {
      if (thrown instanceof ContextdError) return thrown;
      throw thrown;
    },
  );
  const paths = readdirSync(dir, { recursive: true, encoding: 'utf8' });
  const stats = paths.map((path) => [path, statSync(join(dir, path))] as const);
  const files = Object.fromEntries(
    stats.flatMap(([path, stat]) => (stat.isFile() ? [[path, readFileSync(join(dir, path), 'latin1')]] : [])),
  );
  return {
    files,
    outside: readdirSync(home).filter((name) => name !== 'tool' && name !== 'archive'),
    error,
    tree,
    dir,
  };
}

function toTar(thing: Thing): TarEntry {
  switch (thing.kind) {
    case 'file':
      return { body: '', ...thing };
    case 'directory':
      return { path: `${thing.path}/`, type: '5', mode: thing.mode ?? 0o755 };
    case 'symbolic':
    case 'hard':
      return { path: thing.path, type: thing.kind === 'hard' ? '1' : '2', link: thing.to };
    case 'fifo':
    case 'device':
      return { path: thing.path, type: thing.kind === 'fifo' ? '6' : '3' };
  }
}

/** Null: zip has no such thing. */
function toZip(thing: Thing): ZipItem | null {
  switch (thing.kind) {
    case 'file':
      return { path: thing.path, body: thing.body ?? '', mode: 0o100000 | (thing.mode ?? 0o644) };
    case 'directory':
      return { path: `${thing.path}/`, mode: 0o040755 };
    case 'symbolic':
      return { path: thing.path, body: thing.to, mode: 0o120777 };
    case 'hard':
      return null;
    case 'fifo':
    case 'device':
      return { path: thing.path, mode: thing.kind === 'fifo' ? 0o010644 : 0o020644 };
  }
}

/** The same things as a tar and as a zip archive, if zip can hold them. */
function bothOf(things: readonly Thing[]): [string, Buffer][] {
  const items = things.map(toZip);
  const long = things.some(({ path }) => Buffer.byteLength(path) > 100);
  const tar = things.flatMap((thing) =>
    long ? [paxOf({ path: thing.path }), { ...toTar(thing), path: 'x' }] : [toTar(thing)],
  );
  return [
    ['tar', tarOf(tar)],
    ...(items.includes(null) ? [] : [['zip', zipOf(items.filter((one) => one !== null))] as [string, Buffer]]),
  ];
}

describe('issue 17 part 2: an archive that is a tool', () => {
  const things: Thing[] = [
    { kind: 'directory', path: 'weather' },
    { kind: 'file', path: 'weather/tool.json', body: '{}' },
    { kind: 'file', path: 'weather/bin/run', body: '#!/bin/sh\n', mode: 0o755 },
    { kind: 'symbolic', path: 'weather/bin/again', to: 'run' },
    { kind: 'symbolic', path: 'weather/lib', to: 'bin' },
    { kind: 'file', path: 'weather/Grüße 世界 👋', body: 'x' },
  ];
  for (const [format, bytes] of bothOf(things))
    it(`${format}: its files arrive with their bytes and their execute bit, and links inside become copies`, async () => {
      const { files, error, tree, dir } = await unpack(bytes);
      expect(error).toBeNull();
      expect(files).toEqual({
        'weather/tool.json': '{}',
        'weather/bin/run': '#!/bin/sh\n',
        'weather/bin/again': '#!/bin/sh\n',
        'weather/lib/run': '#!/bin/sh\n',
        'weather/lib/again': '#!/bin/sh\n',
        'weather/Grüße 世界 👋': 'x',
      });
      expect(statSync(join(dir, 'weather/bin/again')).mode & 0o777).toBe(0o700);
      expect(statSync(join(dir, 'weather/tool.json')).mode & 0o777).toBe(0o600);
      expect(tree.top()).toEqual([{ name: 'weather', type: 'directory' }]);
      expect(tree.files).toBe(6);
    });

  it('tar: a hard link to a file of the archive becomes a copy', async () => {
    const { files } = await unpack(
      tarOf([
        { path: 'a', body: 'text' },
        { path: 'b', type: '1', link: 'a' },
      ]),
    );
    expect(files).toEqual({ a: 'text', b: 'text' });
  });

  it('tar: pax headers give long names, and the global header of git archive is harmless', async () => {
    const name = `${'d'.repeat(90)}/${'f'.repeat(90)}`;
    const entries = [paxOf({ comment: '0'.repeat(40) }, true), paxOf({ path: name }), { path: 'short', body: 'x' }];
    expect((await unpack(tarOf(entries))).files).toEqual({ [name]: 'x' });
  });

  it('tar: ./ before names and GNU directories are ordinary', async () => {
    const entries: TarEntry[] = [
      { path: './', type: '5' },
      { path: './a/', type: '5' },
      { path: './a/f', body: '1' },
    ];
    expect((await unpack(tarOf(entries))).files).toEqual({ 'a/f': '1' });
  });

  for (const [format, bytes] of bothOf([
    { kind: 'file', path: 'pkg/tools/a/f', body: 'a' },
    { kind: 'file', path: 'pkg/tools/b/f', body: 'b' },
    { kind: 'file', path: 'pkg/README' },
  ]))
    it(`${format}: only the folder after // arrives`, async () => {
      expect((await unpack(bytes, { sub: 'pkg/tools/b' })).files).toEqual({ f: 'b' });
      expect((await unpack(bytes, { sub: 'pkg/tools/c' })).files).toEqual({});
    });

  for (const [format, bytes] of bothOf([
    { kind: 'file', path: 'f' },
    { kind: 'file', path: '.git/config' },
    { kind: 'file', path: 'sub/.GIT/hooks/post-checkout' },
    { kind: 'file', path: '.git' },
    { kind: 'file', path: 'git~1/x' },
  ]))
    it(`${format}: nothing of .git arrives, in any spelling`, async () => {
      expect(Object.keys((await unpack(bytes)).files)).toEqual(['f']);
    });
});

describe('issue 17 part 2: a hostile archive is refused', () => {
  for (const [path, says] of HOSTILE_PATHS)
    for (const [format, bytes] of bothOf([{ kind: 'file', path, body: 'evil' }]))
      it(`${format}: with the path ${JSON.stringify(path)}`, async () => {
        const { error, files, outside } = await unpack(bytes);
        // The zip library has words of its own for some.
        expect(error?.code).toMatch(/INTEGRITY_FAILED|SCHEMA_INVALID/);
        if (error?.code === 'INTEGRITY_FAILED') expect(error.message).toMatch(says);
        else expect(error?.message).toMatch(/absolute path|invalid relative path|invalid characters/);
        expect(error?.remedy).toMatch(/^[A-Z].{8,}/s);
        expect([files, outside]).toEqual([{}, []]);
        expect(error?.message).not.toMatch(/[\p{Cc}\p{Cf}]/u);
      });

  for (const { name, things, says } of HOSTILE_TREES)
    for (const [format, bytes] of bothOf(things))
      it(`${format}: with ${name}`, async () => {
        const { error, outside } = await unpack(bytes);
        expect(error?.code).toBe('INTEGRITY_FAILED');
        expect(error?.message).toMatch(says);
        expect(error?.remedy).toMatch(/^[A-Z].{8,}/s);
        expect(outside).toEqual([]);
      });

  it('tar: with a path, a link or a size that only a pax header names', async () => {
    const path = await unpack(tarOf([paxOf({ path: '../evil' }), { path: 'f' }]));
    const link = await unpack(
      tarOf([paxOf({ linkpath: '/etc/passwd' }), { path: 'l', type: '2', link: 'f' }, { path: 'f' }]),
    );
    const global = await unpack(tarOf([paxOf({ path: '../evil' }, true), { path: 'f' }]));
    expect([path, link].map(({ error }) => error?.code)).toEqual(['INTEGRITY_FAILED', 'INTEGRITY_FAILED']);
    expect([path, link, global].map(({ outside }) => outside)).toEqual([[], [], []]);
  });

  it('tar: with a name that GNU writes in an entry of its own', async () => {
    const { error } = await unpack(tarOf([{ path: '././@LongLink', type: 'L', body: '../evil\0' }, { path: 'f' }]));
    expect(error?.code).toBe('INTEGRITY_FAILED');
  });

  it('tar: with an entry of an unknown type', async () => {
    const { error } = await unpack(tarOf([{ path: 'f', type: 'V' }]));
    expect(error?.message).toMatch(/unusual type/);
  });

  it('tar: with bytes in the name that are not UTF-8', async () => {
    const bytes = tarOf([{ path: 'f' }]);
    const { error } = await unpack(bytes);
    expect(error).toBeNull();
    const lone = await unpack(tarOf([{ path: 'a\ufffdb' }]));
    expect(lone.error?.message).toMatch(/does not print/);
  });

  it('zip: with an entry inside the bytes of another', async () => {
    const inner = { path: 'b', body: 'x'.repeat(1000) };
    // The bytes of `a` begin with a whole entry `b`.
    const outer = { path: 'a', body: zipOf([inner]), stored: true };
    const { error } = await unpack(zipOf([outer, { ...inner, at: 30 + 'a'.length }]));
    expect(error?.message).toMatch(/shares its bytes/);
    expect((await unpack(zipOf([outer, inner]))).error).toBeNull();
  });

  it('zip: with another name in the header of the entry', async () => {
    const { error } = await unpack(zipOf([{ path: 'good', localPath: 'evil', body: 'x' }]));
    expect(error?.message).toMatch(/another name/);
  });

  it('zip: with a size or a checksum that is a lie', async () => {
    const body = 'x'.repeat(5000);
    for (const item of [{ size: 10 }, { size: 9000 }, { crc: 1 }]) {
      const { error } = await unpack(zipOf([{ path: 'f', body, ...item }]));
      expect(error?.code, JSON.stringify(item)).toBe('SCHEMA_INVALID');
    }
  });

  it('zip: that is encrypted, or packed by a method of its own', async () => {
    expect((await unpack(zipOf([{ path: 'f', body: 'x', flags: 1 }]))).error?.message).toMatch(/encrypted/);
    expect((await unpack(zipOf([{ path: 'f', body: 'x', method: 12 }]))).error?.message).toMatch(/method 12/);
  });
});

describe('issue 17 part 2: a decompression bomb ends at the limit', () => {
  const zeros = Buffer.alloc(16 * 1024 * 1024);

  it('tar and zip: by ratio', async () => {
    for (const bytes of [tarOf([{ path: 'f', body: zeros }]), zipOf([{ path: 'f', body: zeros }])]) {
      const { error } = await unpack(bytes);
      expect(error?.code).toBe('PAYLOAD_TOO_LARGE');
      expect(error?.message).toMatch(/100 times its size/);
    }
  });

  it('tar and zip: by size, whatever the ratio may be', async () => {
    const limits = { bytes: 1024 * 1024, ratio: 1e9, files: 10 };
    for (const bytes of [tarOf([{ path: 'f', body: zeros }]), zipOf([{ path: 'f', body: zeros }])]) {
      const { error, files } = await unpack(bytes, { limits });
      expect(error?.code).toBe('PAYLOAD_TOO_LARGE');
      expect((files.f ?? '').length).toBeLessThan(2 * limits.bytes);
    }
  });

  it('tar and zip: by number, of files, of directories and of links', async () => {
    const limits = { files: 50 };
    const many = (make: (n: number) => Thing): Thing[] => Array.from({ length: 51 }, (_, n) => make(n));
    for (const things of [
      many((n) => ({ kind: 'file', path: `f${n}` })),
      many((n) => ({ kind: 'directory', path: `d${n}` })),
      [{ kind: 'file', path: 'f' } as Thing, ...many((n) => ({ kind: 'symbolic', path: `l${n}`, to: 'f' }))],
    ])
      for (const [format, bytes] of bothOf(things)) {
        const { error } = await unpack(bytes, { limits });
        expect(error?.code, format).toBe('PAYLOAD_TOO_LARGE');
      }
  });

  it('tar: by the number of entries that are not even part of the tool', async () => {
    const entries = Array.from({ length: 60 }, (_, n) => ({ path: `other/${n}` }));
    const { error } = await unpack(tarOf(entries), { sub: 'tool', limits: { files: 50 } });
    expect(error?.code).toBe('PAYLOAD_TOO_LARGE');
  });

  it('tar and zip: by depth and by length of paths', async () => {
    for (const path of [`${'d/'.repeat(33)}f`, Array.from({ length: 6 }, () => 'n'.repeat(100)).join('/')])
      for (const [format, bytes] of bothOf([{ kind: 'file', path }])) {
        const { error } = await unpack(bytes);
        expect(error?.code, format).toBe('PAYLOAD_TOO_LARGE');
      }
  });

  it('tar and zip: by links to directories of links, each level ten times the last', async () => {
    const things: Thing[] = Array.from({ length: 10 }, (_, n) => ({ kind: 'file', path: `d0/f${n}`, body: 'x' }));
    for (let level = 1; level <= 9; level += 1)
      for (let n = 0; n < 10; n += 1)
        things.push({ kind: 'symbolic', path: `d${level}/l${n}`, to: `../d${level - 1}` });
    for (const [format, bytes] of bothOf(things)) {
      const { error, tree } = await unpack(bytes, { limits: { files: 2000 } });
      expect(error?.code, format).toBe('PAYLOAD_TOO_LARGE');
      expect(tree.files).toBeLessThanOrEqual(2000);
    }
  });

  it('tar: in gzip in gzip', async () => {
    const { error } = await unpack(gzipSync(tarOf([{ path: 'f' }])));
    expect(error?.message).toMatch(/packed twice/);
  });

  it('tar: a meta header of more than a megabyte', async () => {
    const { error } = await unpack(tarOf([paxOf({ comment: 'x'.repeat(2 * 1024 * 1024) }), { path: 'f' }]));
    expect(error).not.toBeNull();
  });
});

describe('issue 17 part 8: what is not an archive', () => {
  const whole = tarOf([{ path: 'f', body: Buffer.from(Array.from({ length: 5000 }, (_, n) => n % 251)) }]);
  const zip = zipOf([{ path: 'f', body: 'x'.repeat(500), stored: true }]);
  const cases: [string, Buffer, RegExp][] = [
    ['an empty file', Buffer.alloc(0), /is empty/],
    ['a web page', Buffer.from('<!DOCTYPE html><title>Sign in</title>'), /web page/],
    ['text', Buffer.from('hello there, this is no archive'), /begins with/],
    ['gzip of something else', gzipSync(Buffer.from('hello'.repeat(1000))), /./],
    ['gzip that is cut', whole.subarray(0, whole.length - 20), /./],
    [
      'gzip with a changed byte',
      Buffer.concat([whole.subarray(0, 200), Buffer.from([1, 2, 3]), whole.subarray(203)]),
      /./,
    ],
    [
      'a tar that is cut',
      tarOf([{ path: 'f', body: 'x'.repeat(5000) }], { truncate: 4096 }),
      /Truncated|checksum|whole/,
    ],
    ['zip that is cut', zip.subarray(0, zip.length - 30), /./],
  ];
  for (const [name, bytes, says] of cases)
    it(`${name} is SCHEMA_INVALID, with a remedy`, async () => {
      const { error } = await unpack(bytes);
      expect(error?.code).toBe('SCHEMA_INVALID');
      expect(error?.message).toMatch(says);
      expect(error?.remedy).toMatch(/try again/);
    });
});

describe('issue 17 part 2: whatever an archive holds', () => {
  const part = fc.constantFrom('a', 'b', 'A', '..', '.', '', 'l', '.git', 'd\n', '\\', 'ß', 'SS');
  const path = fc
    .array(part, { minLength: 1, maxLength: 4 })
    .map((parts) => parts.join('/'))
    .filter((text) => text !== '');
  const thing: fc.Arbitrary<Thing> = fc.oneof(
    fc.record({ kind: fc.constant('file' as const), path, mode: fc.constantFrom(0o644, 0o755, 0o4755) }),
    fc.record({ kind: fc.constant('directory' as const), path }),
    fc.record({ kind: fc.constantFrom('symbolic' as const, 'hard' as const), path, to: path }),
  );

  it('the disk holds only plain files and directories inside the tool, each reported, and nothing is written outside', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(thing, { maxLength: 8 }), async (things) => {
        for (const [, bytes] of bothOf(things)) {
          const { files, outside, error, tree, dir } = await unpack(bytes);
          expect(outside).toEqual([]);
          const onDisk = readdirSync(dir, { recursive: true, withFileTypes: true });
          expect(onDisk.every((entry) => entry.isFile() || entry.isDirectory())).toBe(true);
          expect(onDisk.some(({ name }) => /[\p{Cc}\\]/u.test(name) || name.toLowerCase() === '.git')).toBe(false);
          if (error === null) expect([...tree.sums().keys()].sort()).toEqual(Object.keys(files).sort());
          else expect(error.remedy).toMatch(/^[A-Z].{8,}/s);
        }
      }),
    );
  });
});
