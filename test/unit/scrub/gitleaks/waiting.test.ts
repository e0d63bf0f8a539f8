import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { systemTimer, type Timer } from '#src/core/clock.js';
import { loadConfig } from '#src/scrub/exact/load-config.js';
import { createGitleaksRun, type GitleaksRun } from '#src/scrub/gitleaks/run.js';
import { createWaitingSearch, type WaitingSearch } from '#src/scrub/gitleaks/waiting.js';
import { findGitleaks } from '../../../helpers/gitleaks-binary.ts';
import { generateCases } from '../../../helpers/gitleaks-cases.ts';
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
  it('searches texts of one line together, and leaves more than three others to files', async () => {
    const program = await findsHush();
    const search = waitingSearch(program, async (texts) =>
      texts.map((secret, position) => ({ position, rule: 'f', secret })),
    );
    const names = Array.from({ length: 48 }, (_, i) => `src/file-${i}.ts`);
    expect(await search.run(['short', ...names, `a ${HUSH} b`, 'two\nlines of it'], WITHIN_MS)).toEqual([
      { rule: 'hush', secret: HUSH },
    ]);
    const long = names.slice(0, 4).map((name) => `${name}\n`);
    expect(await search.run(long, WITHIN_MS)).toMatchObject(long.map((secret) => ({ rule: 'f', secret })));
  });

  it('starts no process for texts that are too short for a secret', async () => {
    const program = join(dir, 'is-not-there');
    expect(await waitingSearch(program).run(['', 'a', '1234567'], WITHIN_MS)).toEqual([]);
  });

  it('has as many processes waiting as the last answer needed, and none once it is stopped', async () => {
    const program = await findsHush();
    const search = waitingSearch(program);
    await Promise.all([search.run([`out ${HUSH}`, 'and\nerrors'], WITHIN_MS), search.run(['the whole'], WITHIN_MS)]);
    await vi.waitFor(() => expect(waitingFor(program)).toHaveLength(3));
    search.stop();
    await vi.waitFor(() => expect(waitingFor(program)).toEqual([]));
  });

  it('searches with a new process if the one that waited was ended', async () => {
    const program = await findsHush();
    const search = waitingSearch(program);
    await search.run(['the first text'], WITHIN_MS);
    const [pid] = await vi.waitFor(() => {
      const waiting = waitingFor(program);
      expect(waiting).toHaveLength(1);
      return waiting;
    });
    process.kill(Number(pid), 'SIGKILL');
    await vi.waitFor(() => expect(waitingFor(program)).toEqual([]));
    expect(await search.run([`a ${HUSH}`], WITHIN_MS)).toEqual([{ rule: 'hush', secret: HUSH }]);
  });

  it('fails with SCRUB_FAILED, without a word of the text, if the program fails', async () => {
    const program = join(dir, 'fails');
    await putProgram(program, Buffer.from('#!/bin/sh\ncat\nexit 1\n'));
    const failed = await waitingSearch(program)
      .run([`a ${HUSH}`], WITHIN_MS)
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
    const texts = generateCases(patterns, 60, seededRandom(20_261_128)).map(
      ({ text }, i) => `${starts[i % starts.length]}${text}`,
    );
    const files = createGitleaksRun({ program, workDir: join(dir, 'work'), lowPriority: false });
    const search = waitingSearch(program, files);
    const inFiles = await files(texts, WITHIN_MS);
    expect(inFiles.length).toBeGreaterThan(30);
    const sorted = (list: readonly { rule: string; secret: string }[]) =>
      list.map(({ rule, secret }) => `${rule} ${secret}`).sort();
    for (const [position, text] of texts.entries()) {
      const expected = inFiles.filter((one) => one.position === position);
      expect(sorted(await search.run([text], WITHIN_MS)), JSON.stringify(text)).toEqual(sorted(expected));
    }
    // Many lines together: none hides what another holds, and nothing is found across two. A rule may find more, because
    // it is tried where one of its keywords is in any of them.
    const lines = texts.flatMap((text) => text.split(/[\n\r]+/));
    const expected = sorted(await files(lines, WITHIN_MS));
    expect(expected.length).toBeGreaterThan(20);
    const found = await search.run(lines, WITHIN_MS);
    expect(sorted(found)).toEqual(expect.arrayContaining(expected));
    const more = found.filter((one) => !expected.includes(sorted([one])[0] ?? ''));
    expect(more.filter(({ secret }) => !lines.some((line) => line.includes(secret)))).toEqual([]);
  });
});
