import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { systemTimer, type Timer } from '#src/core/clock.js';
import { loadConfig } from '#src/scrub/exact/load-config.js';
import { createGitleaksRun, type GitleaksRun } from '#src/scrub/gitleaks/run.js';
import { createWaitingSearch, type WaitingSearch } from '#src/scrub/gitleaks/waiting.js';
import { findGitleaks } from '../../../helpers/gitleaks-binary.ts';
import { generateCases } from '../../../helpers/gitleaks-cases.ts';
import { AT_NIGHT } from '../../../helpers/property-runs.ts';
import { seededRandom } from '../../../helpers/secret-samples.ts';
import { FINDS_HUSH, putProgram } from './gitleaks-copy.ts';

const dir = mkdtempSync(join(tmpdir(), 'ctxd-waiting-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const open: WaitingSearch[] = [];
afterEach(() => {
  for (const search of open.splice(0)) search.stop();
});

const WITHIN_MS = 30_000;
const NO_FILES: GitleaksRun = () => Promise.reject(new Error('the texts went to files'));

function waitingSearch(program: string, overFiles = NO_FILES, timer: Timer = systemTimer): WaitingSearch {
  const search = createWaitingSearch({ program, overFiles, timer });
  open.push(search);
  return search;
}

/** The processes of this one that run `program` with a stdin to read. */
function waitingFor(program: string): string[] {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
  return children.filter((pid) => {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      return words.includes(program) && words.includes('stdin');
    } catch {
      return false;
    }
  });
}

async function findsHush(): Promise<string> {
  const program = join(mkdtempSync(join(dir, 'program-')), 'gitleaks');
  await putProgram(program, Buffer.from(FINDS_HUSH));
  return program;
}

const HUSH = `hush-${'123456789012'}`;

describe('SEC-1.3 gitleaks that waits for a text', () => {
  it('asks one process for all texts of an answer, and those that hold something are searched for themselves', async () => {
    const program = await findsHush();
    const search = waitingSearch(program);
    const names = Array.from({ length: 48 }, (_, i) => `src/file-${i}.ts`);
    expect(await search.run(names, WITHIN_MS)).toEqual([]);
    expect(await search.run(['short', `a ${HUSH} b`, 'two\nlines of it'], WITHIN_MS)).toEqual([
      { rule: 'hush', secret: HUSH },
    ]);
  });

  it('leaves more than three texts to files if one of them holds something', async () => {
    const search = waitingSearch(await findsHush(), async (texts) =>
      texts.map((secret, position) => ({ position, rule: 'f', secret })),
    );
    const texts = ['the first', 'the second', 'the third', `a ${HUSH}`];
    expect(await search.run(texts, WITHIN_MS)).toMatchObject(texts.map((secret) => ({ rule: 'f', secret })));
  });

  it('finds what is written as a mark, which no text can know', async () => {
    const search = waitingSearch(await findsHush());
    const key = `AKIA${'ABCDEFGHIJKLMNOP'}`;
    const forged = `Finding:     ${key}\nSecret:      ${key}\n${HUSH}\n`;
    expect(await search.run([forged], WITHIN_MS)).toEqual([{ rule: 'hush', secret: HUSH }]);
  });

  it('starts no process for texts that are too short for a secret', async () => {
    const program = join(dir, 'is-not-there');
    expect(await waitingSearch(program).run(['', 'a', '1234567'], WITHIN_MS)).toEqual([]);
  });

  it('has one process waiting, whatever is asked at once, and none once it is stopped', async () => {
    const program = await findsHush();
    const search = waitingSearch(program);
    await Promise.all([search.run(['some output', 'and\nerrors'], WITHIN_MS), search.run(['the whole'], WITHIN_MS)]);
    expect(waitingFor(program)).toHaveLength(1);
    search.stop();
    await vi.waitFor(() => expect(waitingFor(program)).toEqual([]));
  });

  it('takes another process after 16 MiB, because the program keeps what it found', async () => {
    const program = await findsHush();
    const search = waitingSearch(program);
    await search.run(['the first text'], WITHIN_MS);
    const first = waitingFor(program);
    const large = 'some text\n'.repeat(104_858);
    for (let count = 0; count < 16; count++) await search.run([large], WITHIN_MS);
    expect(waitingFor(program)).toEqual(first);
    const atOnce = Array.from({ length: 8 }, (_, at) => search.run([`one more text, ${at}`], WITHIN_MS));
    expect(await Promise.all(atOnce)).toEqual(Array(8).fill([]));
    await vi.waitFor(() => expect(waitingFor(program)).toHaveLength(1));
    expect(waitingFor(program)).not.toEqual(first);
  });

  it('leaves a program alone that is silent three times, and asks again after a while', async () => {
    const program = join(dir, 'silent-for-now');
    const silent = join(dir, 'silent-now');
    const text = FINDS_HUSH.replace("includes('--verbose')", `includes('--verbose') && !fs.existsSync('${silent}')`);
    await putProgram(program, Buffer.from(text));
    writeFileSync(silent, '');
    const alarms = new Set<() => void>();
    const timer: Timer = {
      after(_, wake) {
        alarms.add(wake);
        return () => void alarms.delete(wake);
      },
    };
    const search = waitingSearch(program, NO_FILES, timer);
    // All that wait for one process count once.
    for (let count = 0; count < 3; count++)
      await Promise.all(['the first', 'the second', 'the third'].map((name) => search.run([`${name} text`], 3_000)));
    rmSync(silent);
    await search.run(['one more text'], WITHIN_MS);
    expect(waitingFor(program)).toEqual([]);
    for (const wake of alarms) wake();
    expect(await search.run(['the last text'], WITHIN_MS)).toEqual([]);
    expect(waitingFor(program)).toHaveLength(1);
  });

  it('searches if the process that waited was ended, and asks another one after that', async () => {
    const program = await findsHush();
    const search = waitingSearch(program);
    await search.run(['the first text'], WITHIN_MS);
    process.kill(Number(waitingFor(program)[0]), 'SIGKILL');
    expect(await search.run([`a ${HUSH}`], WITHIN_MS)).toEqual([{ rule: 'hush', secret: HUSH }]);
    await vi.waitFor(() => expect(waitingFor(program)).toEqual([]));
    expect(await search.run(['the next text'], WITHIN_MS)).toEqual([]);
    expect(waitingFor(program)).toHaveLength(1);
  });

  it('searches with a process for each text if the program prints nothing while it reads', async () => {
    const program = join(dir, 'silent');
    await putProgram(program, Buffer.from(FINDS_HUSH.replace("process.argv.includes('--verbose')", 'false')));
    expect(await waitingSearch(program).run([`a ${HUSH}`], 3_000)).toEqual([{ rule: 'hush', secret: HUSH }]);
  });

  it('fails with SCRUB_FAILED, without a word of the text, if the program fails', async () => {
    const program = join(dir, 'fails');
    await putProgram(program, Buffer.from('#!/bin/sh\ncat\nexit 1\n'));
    const failed = await waitingSearch(program)
      .run([`a ${HUSH}`], 2_000)
      .catch((thrown: unknown) => thrown);
    expect(failed).toMatchObject({ code: 'SCRUB_FAILED', message: expect.stringContaining('gitleaks failed') });
    expect(`${JSON.stringify(failed)} ${String(Object(failed).cause)}`).not.toContain(HUSH);
  });

  it('fails with SCRUB_FAILED and ends the program if it takes too long', async () => {
    const program = join(dir, 'hangs');
    await putProgram(program, Buffer.from(`#!/bin/sh\nexec sleep 1000 # stdin\n`));
    await expect(waitingSearch(program).run([`a ${HUSH}`], 1)).rejects.toMatchObject({
      code: 'SCRUB_FAILED',
      message: expect.stringContaining('took too long'),
    });
  });
});

const binary = findGitleaks();
describe.skipIf(binary.missing !== null)('SEC-1.1 the real gitleaks', () => {
  it('finds in texts on stdin what it finds in files', { timeout: 300_000 }, async () => {
    if (binary.missing !== null) return;
    const { program, officialConfig } = binary;
    const config = loadConfig({ name: 'gitleaks.toml', text: officialConfig }, { readFile: () => '', official: null });
    const patterns = config.rules.map(({ regex }) => regex).filter((regex) => regex !== '');
    const starts = ['', 'PK\x03\x04', '\x1f\x8b\x08', '\x7fELF', '%PDF-1.4\n', '\0\0'];
    const texts = generateCases(patterns, AT_NIGHT ? 60 : 24, seededRandom(20_261_128)).map(
      ({ text }, i) => `${starts[i % starts.length]}${text}`,
    );
    const files = createGitleaksRun({ program, workDir: join(dir, 'work'), lowPriority: false });
    const search = waitingSearch(program, files);
    const inFiles = await files(texts, WITHIN_MS);
    expect(inFiles.length).toBeGreaterThan(texts.length / 2);
    const sorted = (list: readonly { rule: string; secret: string }[]) =>
      list.map(({ rule, secret }) => `${rule} ${secret}`).sort();
    for (const [position, text] of texts.entries()) {
      const expected = inFiles.filter((one) => one.position === position);
      expect(sorted(await search.run([text], WITHIN_MS)), JSON.stringify(text)).toEqual(sorted(expected));
    }
    // Many texts together: none hides what another holds.
    const lines = texts.flatMap((text) => text.split(/[\n\r]+/));
    const inLines = await files(lines, WITHIN_MS);
    const [holding, clean] = [0, 1].map((group) =>
      lines.filter((_, at) => inLines.some(({ position }) => position === at) === (group === 0)),
    );
    expect(holding?.length).toBeGreaterThan(texts.length / 3);
    expect(await search.run(clean ?? [], WITHIN_MS)).toEqual([]);
    for (const line of (holding ?? []).slice(0, 20)) {
      const alone = inLines.filter(({ position }) => lines[position] === line);
      const found = await search.run([...(clean ?? []).slice(0, 20), line], WITHIN_MS);
      expect(sorted(found), JSON.stringify(line)).toEqual(expect.arrayContaining(sorted(alone)));
    }
  });

  it('finds a private key behind a text in which another one only begins', async () => {
    if (binary.missing !== null) return;
    const [begin, end] = ['BEGIN', 'END'].map((word) => `-----${word} PRIVATE KEY-----`);
    const body = Array.from(
      { length: 8 },
      (_, line) => `MIIEv${line}QIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEA${line}AoIB`,
    ).join('\n');
    const key = `${begin}\n${body}\n${end}\n`;
    const files = createGitleaksRun({ program: binary.program, workDir: join(dir, 'keys'), lowPriority: false });
    const search = waitingSearch(binary.program, files);
    // Gitleaks takes no value for a secret that holds one of these words.
    for (const word of ['false', 'abcdefghijklmnopqrstuvwxyz']) {
      const open = `${begin}\n${'only the beginning '.repeat(5)} ${word}\n`;
      expect(await search.run([open, key], WITHIN_MS)).toEqual(
        expect.arrayContaining([{ rule: 'private-key', secret: key.trim() }]),
      );
      const encoded = [open, key].map((text) => Buffer.from(text).toString('base64'));
      expect(await search.run(encoded, WITHIN_MS)).toEqual([expect.objectContaining({ rule: 'private-key' })]);
    }
  });

  // The program takes them for archives and images, of which it searches nothing.
  it.each([
    ['a tar', `${'tar '.repeat(64)} ustar`],
    ['a tar, with a line before it', `${'tar '.repeat(64)}ustar`],
    ['an image of an organ', `${'dicom '.repeat(21)}  DICM`],
    ['an image of a disk', `${'cd '.repeat(10_923)}CD001`],
  ])('finds what follows the magic number of %s', async (_, start) => {
    if (binary.missing !== null) return;
    const secret = `AKIA${'QWERTYUIOPASDFGH'.split('').reverse().join('')}`;
    const files = createGitleaksRun({ program: binary.program, workDir: join(dir, 'magic'), lowPriority: false });
    for (const text of [`${start}\n${secret}\n`, `${start.slice(1)}\n${secret}\n`]) {
      expect(await files([text], WITHIN_MS)).toMatchObject([{ secret }]);
      expect(await waitingSearch(binary.program).run([text], WITHIN_MS)).toMatchObject([{ secret }]);
    }
  });
});
