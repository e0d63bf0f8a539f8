import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readChunks, readInput } from '#src/cli/input.js';

let cwd: string;
const context = () => ({ cwd, stdin: new PassThrough(), signal: new AbortController().signal });

async function read(file: string, from = context()): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of readChunks(file, from)) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'input-'));
  writeFileSync(join(cwd, 'file'), 'text');
  execFileSync('mkfifo', [join(cwd, 'pipe')]);
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

describe('gateway surface §9.5 a file that an argument names', () => {
  it('is read whole, and - is standard input', async () => {
    expect(await read('file')).toBe('text');
    expect((await readInput('@file', context(), 100)).toString()).toBe('text');
    const piped = context();
    piped.stdin.end('from a pipe');
    expect(await read('-', piped)).toBe('from a pipe');
  });

  it.each([
    ['pipe', 'it is not a regular file'],
    ['/dev/zero', 'it is not a regular file'],
    ['.', 'EISDIR'],
    ['none', 'ENOENT'],
  ])('is refused at once if it is %s, with a remedy that holds for every command', async (file, why) => {
    const expected = {
      code: 'PATH_NOT_FOUND',
      message: expect.stringContaining(`(${why})`),
      remedy: 'Pass a readable file, or - for standard input.',
    };
    await expect(read(file)).rejects.toMatchObject(expected);
    await expect(readInput(`@${file}`, context(), 100)).rejects.toMatchObject(expected);
  });
});
