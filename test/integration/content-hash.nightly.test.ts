import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { toRaw } from '#src/fs/raw-path.js';
import { type Content, contentHash, examine, isPartOf } from '#src/guard/quarantine/content-hash.js';
import { type Bench, openBench } from '../helpers/workspace-bench.ts';

/** What a tree is, apart from where it is. A name is one character for each byte. */
type Tree =
  | { readonly kind: 'file'; readonly bytes: Uint8Array; readonly isExecutable: boolean }
  | { readonly kind: 'link'; readonly text: string }
  | { readonly kind: 'directory'; readonly entries: Readonly<Record<string, Tree>> };

let bench: Bench;
let at: (name: string) => string;
beforeEach(() => {
  bench = openBench();
  at = (name) => toRaw(join(bench.workspace, name));
});
afterEach(() => bench.close());

const names = fc.stringMatching(/^[a-c\u00e9\u00ff ]{1,3}$/);
const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 2, depthSize: 'small' },
    fc.record({
      kind: fc.constant('file' as const),
      bytes: fc.uint8Array({ maxLength: 6 }),
      isExecutable: fc.boolean(),
    }),
    fc.record({ kind: fc.constant('link' as const), text: fc.stringMatching(/^[a-c/.]{1,4}$/) }),
    fc.record({
      kind: fc.constant('directory' as const),
      entries: fc.dictionary(names, tie('tree'), { maxKeys: 3, noNullPrototype: true }),
    }),
  ),
}));

function make(path: string, tree: Tree, order: (names: string[]) => string[] = (all) => all): void {
  const system = Buffer.from(path, 'latin1');
  switch (tree.kind) {
    case 'link':
      symlinkSync(tree.text, system);
      break;
    case 'file':
      writeFileSync(system, tree.bytes, { mode: tree.isExecutable ? 0o755 : 0o644 });
      break;
    case 'directory':
      mkdirSync(system);
      for (const name of order(Object.keys(tree.entries))) {
        const inner = tree.entries[name];
        if (inner !== undefined) make(`${path}/${name}`, inner, order);
      }
  }
}

function hashOf(tree: Tree, order?: (names: string[]) => string[]): string | null {
  make(at('x'), tree, order);
  const hash = contentHash(at('x'));
  rmSync(join(bench.workspace, 'x'), { recursive: true });
  return hash;
}

/** The tree with one thing changed; `choice` says where and what. */
function changed(tree: Tree, choice: number): Tree {
  switch (tree.kind) {
    case 'link':
      return { ...tree, text: `${tree.text}a` };
    case 'file':
      if (choice % 2 === 0) return { ...tree, isExecutable: !tree.isExecutable };
      return { ...tree, bytes: Uint8Array.of(...tree.bytes, choice & 0xff) };
    case 'directory': {
      const all = Object.keys(tree.entries);
      const name = all[Math.floor(choice / 3) % Math.max(1, all.length)];
      const inner = name === undefined ? undefined : tree.entries[name];
      if (name === undefined || inner === undefined) return { ...tree, entries: { new: { kind: 'link', text: 'a' } } };
      const { [name]: _inner, ...others } = tree.entries;
      if (choice % 3 === 0) return { ...tree, entries: others };
      if (choice % 3 === 1) return { ...tree, entries: { ...others, renamed: inner } };
      return { ...tree, entries: { ...others, [name]: changed(inner, Math.floor(choice / 3)) } };
    }
  }
}

/** Equal for trees that a person takes for the same. */
function formOf(tree: Tree): string {
  if (tree.kind === 'link') return JSON.stringify(['link', tree.text]);
  if (tree.kind === 'file') return JSON.stringify(['file', [...tree.bytes], tree.isExecutable]);
  const entries = Object.keys(tree.entries).sort();
  return JSON.stringify([
    'directory',
    entries.map((name) => {
      const inner = tree.entries[name];
      return [name, inner === undefined ? null : formOf(inner)];
    }),
  ]);
}

/** Whether a person would find everything of `copy` in `original`. */
function isIn(copy: Tree, original: Tree | undefined): boolean {
  if (copy.kind !== 'directory' || original?.kind !== 'directory') {
    return original !== undefined && formOf(copy) === formOf(original);
  }
  return Object.entries(copy.entries).every(([name, inner]) => isIn(inner, original.entries[name]));
}

/** The tree without the entries that `choice` leaves out. */
function pruned(tree: Tree, choice: number): Tree {
  if (tree.kind !== 'directory') return tree;
  const kept = Object.entries(tree.entries).filter((_, i) => ((choice >> i) & 1) === 1);
  return { ...tree, entries: Object.fromEntries(kept.map(([name, inner]) => [name, pruned(inner, choice >> 3)])) };
}

describe('a copy', () => {
  it('SEC-2.3: is a part of the original if each of its entries is, and not if one entry is other or more', () => {
    fc.assert(
      fc.property(tree, fc.nat(), fc.nat(), (original, choice, change) => {
        const some = pruned(original, choice);
        for (const copy of [original, some, changed(some, change)]) {
          make(at('original'), original);
          make(at('copy'), copy);
          expect(isPartOf(at('copy'), at('original'), () => true)).toBe(isIn(copy, original));
          rmSync(join(bench.workspace, 'original'), { recursive: true });
          rmSync(join(bench.workspace, 'copy'), { recursive: true });
        }
      }),
    );
  });

  it('SEC-2.3: is not a part of the original if it holds a link that may not be held', () => {
    const held: [string, string][] = [];
    for (const name of ['original', 'copy']) {
      make(at(name), {
        kind: 'directory',
        entries: { d: { kind: 'directory', entries: { l: { kind: 'link', text: 'a' } } } },
      });
    }
    const mayHold = (inside: string, text: string) => held.push([inside, text]) === 0;
    expect(isPartOf(at('copy'), at('original'), mayHold)).toBe(false);
    expect(held).toEqual([['d/l', 'a']]);
  });
});

function read(path: string): Content | null {
  return examine(path, () => {});
}

describe('the hash of content', () => {
  it('SEC-2.3: is equal for equal trees in whatever order they were made, and differs for different trees', () => {
    fc.assert(
      fc.property(tree, tree, (one, other) => {
        expect(hashOf(one, (all) => all.toReversed())).toBe(hashOf(one));
        expect(hashOf(one) === hashOf(other)).toBe(formOf(one) === formOf(other));
      }),
    );
  });

  it('SEC-2.3: differs for a tree in which one name, byte, executable bit or link text changed', () => {
    fc.assert(
      fc.property(tree, fc.nat(), (one, choice) => {
        const hash = hashOf(one);
        expect(hash).toMatch(/^[0-9a-f]{64}$/);
        expect(hashOf(changed(one, choice))).not.toBe(hash);
      }),
    );
  });

  it.runIf(existsSync('/dev/shm'))('does not depend on the order in which the file system lists names', () => {
    const base = mkdtempSync('/dev/shm/contextd-hash-');
    try {
      for (const [dir, order] of Object.entries({ x: 'abcd', y: 'dbca' })) {
        mkdirSync(join(base, dir));
        for (const name of order) writeFileSync(join(base, dir, name), name);
      }
      expect(contentHash(toRaw(join(base, 'x')))).toBe(contentHash(toRaw(join(base, 'y'))));
    } finally {
      rmSync(base, { recursive: true });
    }
  });

  it('SEC-2.3: changes with any name, byte, executable bit or link text in a tree', () => {
    const base = () => {
      bench.sh('rm -rf t; mkdir -p t/d; echo a >t/f; echo b >t/d/g; ln -s f t/l; chmod 644 t/f t/d/g');
      return contentHash(at('t'));
    };
    const before = base();
    expect(before).toMatch(/^[0-9a-f]{64}$/);
    const changes = ['mv t/f t/e', 'echo A >t/f', 'chmod +x t/d/g', 'ln -sfn g t/l', 'rm t/l; echo f >t/l', ': >t/new'];
    for (const change of [...changes, 'mkdir t/empty', 'mv t/d/g t/g', 'chmod u+s t/f', 'rm t/f; mkdir t/f']) {
      expect(base()).toBe(before);
      bench.sh(change);
      expect([change, contentHash(at('t')) === before]).toEqual([change, false]);
    }
    base();
    bench.sh('chmod 600 t/f; touch -d 2001-01-01 t/d/g');
    expect(contentHash(at('t'))).toBe(before);
  });

  it('SEC-2.3: follows no link, at the end or on the way', () => {
    bench.sh('mkdir -p ../outside; echo secret >../outside/f; ln -s ../outside l; ln -s l/f m');
    expect(contentHash(at('l/f'))).toBeNull();
    expect(read(at('l/f'))).toBeNull();
    const before = contentHash(at('l'));
    bench.sh('echo other >../outside/f');
    expect(contentHash(at('l'))).toBe(before);
    expect(read(at('m'))).toMatchObject({ kind: 'link', preview: '-> l/f' });
  });

  it('SEC-2.3: is missing for a file with a second name, because the file could change through it', () => {
    bench.sh('mkdir d; echo x >d/f');
    expect(contentHash(at('d'))).not.toBeNull();
    linkSync(join(bench.workspace, 'd/f'), join(bench.workspace, 'other'));
    expect(read(at('d'))).toMatchObject({ sha256: null, noHashBecause: expect.stringContaining('hard link') });
  });

  it('is missing past 64 MiB and 10,000 names, for anything that is not a file, directory or link, and if nothing is there', () => {
    bench.sh(
      'mkdir many few big; (cd many; seq 10001 | xargs touch); mkfifo pipe; : >big/f; mkdir few/d; mkfifo few/d/p',
    );
    truncateSync(join(bench.workspace, 'big/f'), 64 * 1024 * 1024);
    expect(contentHash(at('big'))).not.toBeNull();
    truncateSync(join(bench.workspace, 'big/f'), 64 * 1024 * 1024 + 1);
    for (const name of ['big', 'many']) {
      expect(read(at(name))).toMatchObject({
        sha256: null,
        noHashBecause: expect.stringContaining('64 MiB or 10,000'),
      });
    }
    bench.sh('rm many/1');
    expect(contentHash(at('many'))).not.toBeNull();
    expect(read(at('pipe'))).toMatchObject({ kind: 'other', sha256: null });
    expect(contentHash(at('few'))).toBeNull();
    expect([read(at('none')), contentHash(at('none')), contentHash(at('none/f'))]).toEqual([null, null, null]);
  });

  it('is missing for a tree that is too deep, and the reader stops', () => {
    bench.sh(`d=$(printf 'd/%.0s' {1..300}); mkdir -p deep/$d`);
    expect(read(at('deep'))).toMatchObject({ kind: 'directory', sha256: null });
  });
});

describe('the preview of content', () => {
  it('is up to 40 lines of a text or the names of a directory, and missing for bytes that are not text', () => {
    bench.sh(
      "seq 3 >short; seq 100 >long; printf 'a\\0b' >binary; printf '\\377' >latin; mkdir d; : >d/f; mkdir d/e; : >empty",
    );
    expect(read(at('short'))?.preview).toBe('1\n2\n3');
    expect(read(at('long'))?.preview?.split('\n')).toEqual([...Array.from({ length: 40 }, (_, i) => `${i + 1}`), '…']);
    expect(read(at('d'))?.preview).toBe('e/\nf');
    for (const name of ['binary', 'latin', 'empty']) expect(read(at(name))?.preview).toBeNull();
  });

  it('does not cut a long text within a character', () => {
    writeFileSync(join(bench.workspace, 'f'), `a${'é'.repeat(8 * 1024)}`);
    expect(read(at('f'))?.preview).toMatch(/^aé+\n…$/);
  });

  it('is missing for a closed file of another user, whose kind is still known', () => {
    bench.sh('echo x >f');
    chmodSync(join(bench.workspace, 'f'), 0);
    const content = read(at('f'));
    expect(content).toMatchObject({ kind: 'file' });
    if (process.getuid?.() !== 0) expect(content).toMatchObject({ sha256: null, noHashBecause: 'it cannot be read' });
  });
});
