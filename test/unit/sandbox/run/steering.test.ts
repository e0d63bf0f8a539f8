import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Steering } from '#src/sandbox/run/steering.js';

let directory: string;
let reader: number;
let steering: Steering;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'steering-'));
  const pipe = join(directory, 'stdin');
  execFileSync('mkfifo', [pipe]);
  reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
  steering = new Steering({ onStarted() {} }, false);
  steering.openInput(openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK));
});
afterEach(() => {
  steering.close();
  rmSync(directory, { recursive: true });
});

describe('issue 34 input of a program in a sandbox', () => {
  it('issue 34 is in the pipe when the write returns', async () => {
    await steering.input(Buffer.from('hello'), false);
    const bytes = Buffer.alloc(10);
    expect(bytes.toString('utf8', 0, readSync(reader, bytes))).toBe('hello');
    closeSync(reader);
  });

  it('issue 34 is refused with CONFLICT if the program closed its stdin, already at the first write after that', async () => {
    await steering.input(Buffer.from('read'), false);
    closeSync(reader);
    await expect(steering.input(Buffer.from('not read'), false)).rejects.toMatchObject({ code: 'CONFLICT' });
    await expect(steering.input(Buffer.from('not read'), false)).rejects.toMatchObject({ code: 'CONFLICT' });
  });

  it('issue 34 does not wait for a program that does not read, until its bound', async () => {
    for (let kilobytes = 0; kilobytes < 1_024; kilobytes += 64) await steering.input(Buffer.alloc(64 * 1_024), false);
    await expect(steering.input(Buffer.alloc(512 * 1_024), false)).rejects.toMatchObject({ code: 'RESOURCE_LIMIT' });
    closeSync(reader);
  });
});
