import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readable } from '#src/cli/commands/server.js';
import { followFile, tailFile } from '#src/cli/daemon/log-file.js';

let directory = '';
let file = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'contextd-log-'));
  file = join(directory, 'log');
});
afterEach(() => rm(directory, { recursive: true, force: true }));

describe('the log', () => {
  it('is empty if the file does not exist', async () => {
    expect(await tailFile(file, 3)).toEqual({ lines: [], end: 0 });
  });

  it('returns its last lines for a file of any length', async () => {
    const lines = Array.from({ length: 5000 }, (_, index) => `${index} ${'é'.repeat(50)}`);
    await writeFile(file, `${lines.join('\n')}\n`);
    expect((await tailFile(file, 3)).lines).toEqual(lines.slice(-3));
    expect((await tailFile(file, 4000)).lines).toEqual(lines.slice(-4000));
    expect((await tailFile(file, 9999)).lines).toEqual(lines);
  });

  it('is followed line by line, even after it is truncated', async () => {
    await writeFile(file, 'old\n');
    const { end } = await tailFile(file, 1);
    const stop = new AbortController();
    const seen: string[] = [];
    await appendFile(file, 'new\nhal');
    await followFile(file, end, stop.signal, async (lines) => {
      seen.push(...lines);
      if (lines.includes('new')) await appendFile(file, 'f\n');
      if (lines.includes('half')) await writeFile(file, 'x\n');
      if (lines.includes('x')) stop.abort();
    });
    expect(seen).toEqual(['new', 'half', 'x']);
  });
});

describe('a log entry on a terminal', () => {
  it('shows local time, level and event, then the other fields', () => {
    const time = '2026-01-02T03:04:05.678Z';
    const clock = new Date(time).toTimeString().slice(0, 8);
    expect(readable({ level: 'warn', time, event: 'scrub.slow', ms: 812, tools: ['a'], why: 'a long line' })).toEqual([
      `${clock}  warn   scrub.slow  ms=812  tools=["a"]  why=a long line`,
    ]);
    expect(readable('a crash of the runtime')).toEqual(['a crash of the runtime']);
    expect(readable({})).toEqual(['']);
  });

  it('indents what a value has after a line break, so that it does not look like an entry', () => {
    expect(readable({ event: 'failed', stack: 'Error: x\n00:00:00  info   forged' })).toEqual([
      'failed  stack=Error: x',
      '    00:00:00  info   forged',
    ]);
  });
});
