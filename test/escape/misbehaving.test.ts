import { copyFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { Ground, identitiesHere, type Outcome, type RunChange } from '../helpers/sandbox-identities.ts';
import { proveProcessLimit } from './planted.ts';
import { markedInside, newMark } from './processes.ts';

const PROGRAMS = join(import.meta.dirname, '..', 'fixtures', 'misbehaving');
const MIB = 1024 * 1024;

/** A program of test/fixtures/misbehaving and the ways in which the sandbox may end it. */
interface Case {
  readonly program: string;
  readonly change?: RunChange;
  ended(seen: Outcome, byCgroup: boolean): void;
}

const CASES: readonly Case[] = [
  {
    program: 'fork-bomb.pl',
    change: { limits: { pids: 32 } },
    // Without a cgroup the kernel refuses too, but does not report it; the watchdog may notice it.
    ended: (seen, byCgroup) => expect(byCgroup ? ['pids'] : ['pids', 'exit']).toContain(seen.endedBy),
  },
  { program: 'daemonise.pl', ended: (seen) => expect(seen).toMatchObject({ endedBy: 'exit', out: 'done\n' }) },
  {
    program: 'ignore-term.sh',
    change: { timeoutMs: 1_000 },
    ended: (seen) => expect(seen).toMatchObject({ endedBy: 'timeout', exitCode: null, out: 'started\n' }),
  },
  {
    program: 'flood.pl',
    change: { outputMaxBytes: 100_000 },
    ended: (seen) => expect([seen.endedBy, seen.out.length]).toEqual(['output_limit', 100_000]),
  },
  {
    program: 'flood-both.pl',
    change: { outputMaxBytes: 100_000 },
    ended: (seen) => expect([seen.endedBy, seen.err.length]).toEqual(['output_limit', 100_000]),
  },
  {
    program: 'no-newline.pl',
    change: { outputMaxBytes: 100_000 },
    ended: (seen) => expect([seen.endedBy, seen.out.length]).toEqual(['output_limit', 100_000]),
  },
  {
    program: 'hoard-memory.pl',
    change: { limits: { memoryBytes: 96 * MIB } },
    ended(seen, byCgroup) {
      expect(seen.out).toBe('');
      if (byCgroup) expect(seen.endedBy).toBe('oom');
      else expect(seen.exitCode).not.toBe(0);
    },
  },
  {
    program: 'hoard-memory-many.pl',
    change: { limits: { memoryBytes: 160 * MIB } },
    ended: (seen) => expect(seen.endedBy).toBe('oom'),
  },
  {
    program: 'hoard-tmpfs.pl',
    change: { limits: { memoryBytes: 96 * MIB } },
    // Without a cgroup the watchdog looks five times a second, and the program may have ended by then.
    ended: (seen, byCgroup) => expect(byCgroup ? ['oom'] : ['oom', 'exit']).toContain(seen.endedBy),
  },
  {
    program: 'fill-disk.pl',
    change: { limits: { fileBytes: MIB } },
    ended: (seen) => expect(seen).toMatchObject({ endedBy: 'signal', exitCode: 153, signal: 'SIGXFSZ' }),
  },
  { program: 'read-stdin.sh', ended: (seen) => expect(seen).toMatchObject({ endedBy: 'exit', out: 'end\n' }) },
  {
    program: 'hoard-descriptors.pl',
    change: { limits: { openFiles: 64 } },
    ended(seen) {
      expect(seen).toMatchObject({ endedBy: 'exit', exitCode: 4 });
      expect(Number(seen.out)).toBeLessThan(64);
    },
  },
  { program: 'make-zombies.pl', ended: (seen) => expect(seen).toMatchObject({ endedBy: 'exit', out: 'left\n' }) },
  {
    program: 'spin.sh',
    change: { timeoutMs: 400 },
    ended: (seen) => expect(seen).toMatchObject({ endedBy: 'timeout', exitCode: null }),
  },
  {
    program: 'close-stdout.pl',
    change: { timeoutMs: 1_000 },
    ended: (seen) => expect(seen).toMatchObject({ endedBy: 'timeout', err: 'closing\n' }),
  },
  { program: 'kill-init.sh', ended: (seen) => expect(seen).toMatchObject({ endedBy: 'exit', out: 'survived\n' }) },
  { program: 'change-group.pl', ended: (seen) => expect(['exit', 'signal']).toContain(seen.endedBy) },
  {
    program: 'stop-itself.sh',
    change: { timeoutMs: 1_000 },
    ended: (seen) => expect(seen).toMatchObject({ endedBy: 'timeout', out: 'stopping\n' }),
  },
  {
    program: 'write-inherited.pl',
    ended: (seen) => expect(seen).toMatchObject({ endedBy: 'exit', exitCode: 7, out: '' }),
  },
  {
    program: 'crash.pl',
    ended: (seen) => expect(seen).toMatchObject({ endedBy: 'signal', signal: 'SIGSEGV', exitCode: 139 }),
  },
  { program: 'print-terminal-codes.sh', ended: (seen) => expect(seen).toMatchObject({ endedBy: 'exit', exitCode: 0 }) },
];

const NOT_HERE = ['rewrite-mtime.sh'];

test('every program of test/fixtures/misbehaving is tried', () => {
  const tried = [...CASES.map(({ program }) => program), ...NOT_HERE];
  expect(readdirSync(PROGRAMS).sort()).toEqual([...tried].sort());
});

describe.each(identitiesHere())('misbehaving programs, %s', (identity) => {
  let ground: Ground;
  let byCgroup = false;
  beforeAll(async () => {
    ground = await Ground.open(identity);
    byCgroup = await ground.byCgroup();
    for (const name of readdirSync(PROGRAMS)) copyFileSync(join(PROGRAMS, name), join(ground.workspace, name));
    await proveProcessLimit(ground);
  });
  afterEach(async () => {
    expect(await ground.run('echo the next command works')).toMatchObject({ out: 'the next command works\n' });
  });
  afterAll(() => ground.close());

  test.each(CASES)('SEC-2.5 are ended by the sandbox: $program', async ({ program, change, ended }) => {
    const mark = newMark();
    const interpreter = program.endsWith('.pl') ? 'perl' : 'bash';
    const seen = await ground.run('', { argv: [interpreter, program, mark], timeoutMs: 20_000, ...change });
    expect(markedInside(mark)).toEqual([]);
    ended(seen, byCgroup);
  });

  test('SEC-2.5 leave no output in the hosting process', async () => {
    const flood = () => ground.run('', { argv: ['perl', 'flood.pl'], outputMaxBytes: MIB });
    await flood();
    const before = await ground.heapBytes();
    for (let round = 0; round < 12; round++) expect((await flood()).endedBy).toBe('output_limit');
    expect((await ground.heapBytes()) - before).toBeLessThan(4 * MIB);
    expect(peakBytes(ground.hostPid)).toBeLessThan(400 * MIB);
  });

  test('SEC-2.5 are each ended by their own limit when sixteen flood the output at once', async () => {
    const floods = Array.from({ length: 16 }, () =>
      ground.run('', { argv: ['perl', 'flood.pl'], outputMaxBytes: 100_000 }),
    );
    for (const seen of await Promise.all(floods)) {
      expect([seen.endedBy, seen.out.length]).toEqual(['output_limit', 100_000]);
    }
  });
});

/** Peak memory of the process. */
function peakBytes(pid: number): number {
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) * 1024;
}
