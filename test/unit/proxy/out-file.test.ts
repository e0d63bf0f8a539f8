import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkOut, writeOut } from '#src/proxy/out-answer.js';
import { isStill, type OutPlace, openFolder } from '#src/proxy/out-place.js';

const OLD = '{"success":true,"data":{}}\n';
const NEW = Buffer.from('{"success":false}\n');

// Through descriptors, as on Linux, and through paths, as on systems without directory descriptors.
describe.each<['descriptors' | 'paths', string | null]>([
  ['descriptors', '/proc/self/fd'],
  ['paths', null],
])('a file for an answer, entered by %s', (_, descriptors) => {
  const options = { descriptors };
  let base: string;
  let root: string;
  beforeEach(() => {
    base = realpathSync(mkdtempSync(join(tmpdir(), 'out-')));
    root = join(base, 'project');
    mkdirSync(join(root, 'sub/deep'), { recursive: true });
    mkdirSync(join(base, 'elsewhere'));
  });
  afterEach(() => rmSync(base, { recursive: true }));

  function place(path: string): OutPlace {
    const folders = path.split('/');
    const name = folders.pop() ?? '';
    return { given: path, root, folders, name };
  }

  function refusal(path: string, work: typeof checkOut | typeof write = checkOut): string {
    try {
      work(place(path), options);
    } catch (error) {
      const { code, message } = error as { code: string; message: string };
      return `${code}: ${message}`;
    }
    return 'accepted';
  }

  function write(at: OutPlace): void {
    writeOut(at, NEW, 'nonce', options);
  }

  /** All files in the project and beside it, with their contents. */
  function everything(): string[] {
    return readdirSync(base, { recursive: true, encoding: 'utf8' })
      .filter((path) => lstatSync(join(base, path)).isFile())
      .map((path) => `${path}: ${readFileSync(join(base, path), 'utf8').slice(0, 40)}`)
      .sort();
  }

  /** Neither the first check nor the writing accepts the path, and nothing changes. */
  function expectRefused(path: string, words: RegExp): void {
    const before = everything();
    expect(refusal(path)).toMatch(words);
    expect(refusal(path, write)).toMatch(words);
    expect(everything()).toEqual(before);
  }

  it('is new, or replaces an earlier answer or an empty file', () => {
    writeFileSync(join(root, 'sub/deep/old.json'), OLD);
    writeFileSync(join(root, 'empty'), '');
    for (const path of ['new.json', 'sub/deep/old.json', 'empty', 'n'.repeat(255)]) {
      checkOut(place(path), options);
      write(place(path));
      expect(readFileSync(join(root, path))).toEqual(NEW);
    }
    expect(everything()).toHaveLength(4);
  });

  it("has the permissions of any new file, or the old file's, but is never executable", () => {
    const umask = process.umask(0o027);
    try {
      write(place('new'));
      expect(statSync(join(root, 'new')).mode & 0o7777).toBe(0o640);
    } finally {
      process.umask(umask);
    }
    writeFileSync(join(root, 'old'), OLD);
    chmodSync(join(root, 'old'), 0o4755);
    write(place('old'));
    expect(statSync(join(root, 'old')).mode & 0o7777).toBe(0o644);
  });

  it('PERMISSION_DENIED: replaces only an earlier answer', () => {
    writeFileSync(join(root, 'main.ts'), 'export {};\n');
    writeFileSync(join(root, 'short'), '{');
    expectRefused('main.ts', /^PERMISSION_DENIED: .*main\.ts: it exists and is not an earlier answer/);
    expectRefused('short', /^PERMISSION_DENIED: .*not an earlier answer/);
  });

  it('names the way out for an existing file: another name, or to remove it', () => {
    writeFileSync(join(root, 'main.ts'), 'export {};\n');
    const remedy =
      'Name a file that does not exist, or remove this one first. Only an answer in JSON is known as an earlier answer.';
    expect(() => checkOut(place('main.ts'), options)).toThrow(expect.objectContaining({ remedy }));
  });

  it.skipIf(process.geteuid?.() !== 0)(
    'of root belongs to the owner of the project, and replaces a file of theirs',
    () => {
      chownSync(root, 12_345, 12_346);
      writeFileSync(join(root, 'theirs'), OLD);
      chownSync(join(root, 'theirs'), 12_345, 12_346);
      for (const path of ['new.json', 'sub/new.json', 'theirs']) {
        write(place(path));
        const { uid, gid } = statSync(join(root, path));
        expect({ path, uid, gid }).toEqual({ path, uid: 12_345, gid: 12_346 });
      }
    },
  );

  it('PATH_INVALID: follows no link, neither as the file nor in its path', () => {
    writeFileSync(join(base, 'elsewhere/victim'), OLD);
    symlinkSync(join(base, 'elsewhere'), join(root, 'away'));
    symlinkSync('../elsewhere/victim', join(root, 'linked'));
    symlinkSync('../elsewhere/none', join(root, 'dangling'));
    symlinkSync('sub', join(root, 'inside'));
    expectRefused('away/new', /^PATH_INVALID: .*a part of its path is a link/);
    expectRefused('away/victim', /^PATH_INVALID: .*a part of its path is a link/);
    expectRefused('inside/deep/new', /^PATH_INVALID: .*a part of its path is a link/);
    expectRefused('linked', /^PATH_INVALID: .*it is a link/);
    expectRefused('dangling', /^PATH_INVALID: .*it is a link/);
  });

  it('PERMISSION_DENIED: refuses a file with a second name', () => {
    writeFileSync(join(base, 'elsewhere/victim'), OLD);
    linkSync(join(base, 'elsewhere/victim'), join(root, 'hard'));
    expectRefused('hard', /^PERMISSION_DENIED: .*2 hard links/);
  });

  // Only root can give a file to another user.
  it.skipIf(process.geteuid?.() !== 0)('PERMISSION_DENIED: refuses a file of another user', () => {
    writeFileSync(join(root, 'theirs'), OLD);
    chownSync(join(root, 'theirs'), 12_345, 12_345);
    expectRefused('theirs', /^PERMISSION_DENIED: .*another user/);
  });

  it('PATH_INVALID: refuses a directory, a pipe, a file as directory, a name that is too long', () => {
    execFileSync('mkfifo', [join(root, 'pipe')]);
    writeFileSync(join(root, 'plain'), OLD);
    expect(refusal('sub')).toMatch(/^PATH_INVALID: .*it is a directory/);
    expect(refusal('sub', write)).toMatch(/^PATH_INVALID: .*it is a directory/);
    expect(refusal('pipe')).toMatch(/^PATH_INVALID: .*it is not a regular file/);
    expect(refusal('pipe', write)).toMatch(/^PATH_INVALID: .*it is not a regular file/);
    expectRefused('plain/new', /^PATH_INVALID: .*a part of its path is not a directory \(ENOTDIR\)/);
    expectRefused('n'.repeat(256), /^PATH_INVALID: .*ENAMETOOLONG/);
    expectRefused(`${'n'.repeat(256)}/x`, /^PATH_INVALID: .*ENAMETOOLONG/);
  });

  it('PATH_NOT_FOUND: creates no directory', () => {
    expectRefused('none/new', /^PATH_NOT_FOUND: .*none\/new: its directory does not exist/);
  });

  it('PERMISSION_DENIED: refuses a git directory of any name, and everything below it', () => {
    execFileSync('git', ['init', '--quiet', '--bare', join(root, 'sub/store')]);
    expectRefused('sub/store/commondir', /^PERMISSION_DENIED: .*git directory/);
    expectRefused('sub/store/hooks/post-update', /^PERMISSION_DENIED: .*git directory/);
  });

  it('PATH_INVALID: notices that the project itself became a link', () => {
    renameSync(root, join(base, 'moved'));
    symlinkSync('moved', root);
    expect(refusal('new')).toMatch(/^PATH_INVALID: .*a part of its path is a link/);
    expect(existsSync(join(base, 'moved/new'))).toBe(false);
  });

  it('leaves the old file and nothing else if it cannot be written completely', () => {
    writeFileSync(join(root, 'old'), OLD);
    writeFileSync(join(root, '.contextd-nonce.tmp'), 'of another');
    const before = everything();
    expect(refusal('old', write)).toMatch(/^PATH_INVALID: .*EEXIST/);
    expect(everything()).toEqual(before);
  });

  it('PATH_INVALID: notices that the directory is exchanged while the file is written', () => {
    mkdirSync(join(root, 'other'));
    let looks = 0;
    const at: OutPlace = {
      ...place('sub/new'),
      // The path is looked up before and after the writing.
      get folders() {
        if (++looks === 2) renameSync(join(root, 'sub'), join(root, 'was'));
        if (looks === 2) renameSync(join(root, 'other'), join(root, 'sub'));
        return ['sub'];
      },
    };
    expect(() => write(at)).toThrow(/exchanged while the file was written/);
    expect(readdirSync(join(root, 'sub'))).toEqual([]);
  });

  it('recognises a directory that another has replaced', () => {
    const at = place('sub/new');
    const folder = openFolder(at, descriptors);
    expect(isStill(folder, at, descriptors)).toBe(true);
    renameSync(join(root, 'sub'), join(root, 'was'));
    mkdirSync(join(root, 'sub'));
    expect(isStill(folder, at, descriptors)).toBe(false);
    rmSync(join(root, 'sub'), { recursive: true });
    symlinkSync('was', join(root, 'sub'));
    expect(() => isStill(folder, at, descriptors)).toThrow(/a part of its path is a link/);
    folder.close();
  });
});

describe('a directory held by its descriptor', () => {
  it('stays the directory that was entered, whatever replaces it', () => {
    const base = realpathSync(mkdtempSync(join(tmpdir(), 'out-')));
    mkdirSync(join(base, 'project/sub'), { recursive: true });
    mkdirSync(join(base, 'elsewhere'));
    const folder = openFolder({ given: 'sub/x', root: join(base, 'project'), folders: ['sub'], name: 'x' });
    renameSync(join(base, 'project/sub'), join(base, 'project/was'));
    symlinkSync('../elsewhere', join(base, 'project/sub'));
    writeFileSync(folder.at('x'), 'x');
    folder.close();
    expect(readdirSync(join(base, 'elsewhere'))).toEqual([]);
    expect(readdirSync(join(base, 'project/was'))).toEqual(['x']);
    rmSync(base, { recursive: true });
  });
});
