import { execFileSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const OPEN = join(import.meta.dirname, '../../../fixtures/open-store.ts');
/** Ends a program that hangs, or reads without end. */
const WITHIN_MS = 60_000;

let base: string;
let project: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'snapshots-place-'));
  project = join(base, 'project');
  mkdirSync(project);
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

/** In a process that can be ended. */
function open(): string {
  const program = ['--no-warnings', OPEN, join(base, 'undo'), project];
  return execFileSync(process.execPath, program, { encoding: 'utf8', timeout: WITHIN_MS });
}

describe('the store of a project', () => {
  it('SEC-2.1 stays as it is when it is opened again', () => {
    const store = open();
    writeFileSync(join(store, 'objects', 'kept'), '');
    expect(open()).toBe(store);
    expect(existsSync(join(store, 'objects', 'kept'))).toBe(true);
  });

  it.each<[string, (head: string) => unknown]>([
    ['a pipe', (head) => execFileSync('mkfifo', [head])],
    ['a link to a file without an end', (head) => symlinkSync('/dev/zero', head)],
    ['a link to itself', (head) => symlinkSync(head, head)],
    ['a directory', (head) => mkdirSync(head)],
    [
      'a link to the same text',
      (head) => {
        writeFileSync(join(base, 'head'), 'ref: refs/heads/own\n');
        symlinkSync(join(base, 'head'), head);
      },
    ],
    ['a longer text', (head) => writeFileSync(head, `ref: refs/heads/own\n${'x'.repeat(1000)}`)],
  ])('SEC-2.1 is made again if its owner put %s in place of its mark', (_, put) => {
    const store = open();
    const head = join(store, 'HEAD');
    writeFileSync(join(store, 'objects', 'kept'), '');
    rmSync(head);
    put(head);
    expect(open()).toBe(store);
    expect([lstatSync(head).isFile(), existsSync(join(store, 'objects', 'kept'))]).toEqual([true, false]);
    expect(readFileSync(head, 'utf8')).toBe('ref: refs/heads/own\n');
  });
});
