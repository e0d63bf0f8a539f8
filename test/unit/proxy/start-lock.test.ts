import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { attemptLock, type StartLock } from '#src/proxy/start-lock.js';

describe('the lock of a start', () => {
  let directory: string;
  let path: string;
  let deadPid: number;
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'lock-'));
    path = join(directory, 'start.lock');
    const dead = spawn('true');
    await once(dead, 'exit');
    deadPid = dead.pid ?? 0;
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  function hold(nonce: string): StartLock {
    const attempt = attemptLock(path, nonce);
    if (attempt.kind !== 'held') throw new Error('taken');
    return attempt.lock;
  }

  function write(starter: number, daemon: number, nonce: string): void {
    writeFileSync(path, `${String(starter).padEnd(11)}${String(daemon).padEnd(11)}${nonce}`);
  }

  function age(file: string): void {
    const past = Date.now() / 1000 - 31;
    utimesSync(file, past, past);
  }

  it('is held by one starter, and free again after its release', () => {
    const lock = hold('a');
    expect(attemptLock(path, 'b')).toEqual({ kind: 'taken' });
    lock.release();
    expect(readdirSync(directory)).toEqual([]);
    hold('b');
  });

  it('is neither released nor changed by anyone but its holder', () => {
    const lock = hold('a');
    write(process.pid, 0, 'b');
    const theirs = readFileSync(path, 'utf8');
    lock.share(1);
    lock.release();
    expect(readFileSync(path, 'utf8')).toBe(theirs);
  });

  it('is taken over if starter and daemon are dead, and not while one of them lives', () => {
    write(deadPid, process.pid, 'a');
    expect(attemptLock(path, 'b')).toEqual({ kind: 'taken' });
    write(process.pid, deadPid, 'a');
    expect(attemptLock(path, 'b')).toEqual({ kind: 'taken' });
    write(deadPid, deadPid, 'a');
    expect(attemptLock(path, 'b')).toMatchObject({ kind: 'held', tookOver: true });
    expect(readdirSync(directory)).toEqual(['start.lock']);
  });

  it('names the daemon once it is shared', () => {
    hold('a').share(deadPid);
    expect(readFileSync(path, 'utf8')).toBe(`${String(process.pid).padEnd(11)}${String(deadPid).padEnd(11)}a`);
  });

  it('is not taken from a holder that is about to write it, but from a holder that never did', () => {
    writeFileSync(path, '');
    expect(attemptLock(path, 'b')).toEqual({ kind: 'taken' });
    age(path);
    expect(attemptLock(path, 'b')).toMatchObject({ kind: 'held', tookOver: true });
  });

  it('counts as stale if it is older than any start can be', () => {
    write(process.pid, 0, 'a');
    age(path);
    expect(attemptLock(path, 'b')).toMatchObject({ kind: 'held', tookOver: true });
  });

  it('is removed by one of the starters that find it stale: the others leave the new lock alone', () => {
    write(deadPid, 0, 'a');
    writeFileSync(`${path}.a`, '');
    expect(attemptLock(path, 'b')).toEqual({ kind: 'taken' });
    age(`${path}.a`);
    expect(attemptLock(path, 'b')).toEqual({ kind: 'taken' });
    expect(attemptLock(path, 'b')).toMatchObject({ kind: 'held', tookOver: true });
  });
});
