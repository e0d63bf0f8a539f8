import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CTXD, type Finished } from '../helpers/installation.ts';
import { runProgram } from '../helpers/run-program.ts';
import { generate, seededRandom } from '../helpers/secret-samples.ts';

let base = '';
beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'ctxd-scrub-')));
});
afterEach(() => rm(base, { recursive: true, force: true }));

/** The gitleaks program is not installed here. */
function scrub(args: readonly string[], input: string | Buffer = ''): Promise<Finished> {
  const env = { HOME: base, CONTEXTD_HOME: join(base, 'c'), PATH: '/usr/bin:/bin' };
  return runProgram(CTXD, ['scrub', ...args], { cwd: base, env, input });
}

/** A value that no pattern of the pack matches alone; the name before it gives it away. */
const random = seededRandom(7);
const value = Array.from({ length: 32 }, () => Math.floor(random() * 16).toString(16)).join('');

describe('SEC-1.1 SEC-1.3 ctxd scrub', () => {
  it('masks standard input and files, with one token for equal values', async () => {
    const text = `start ü\nAPI_KEY=${value}\nagain ${value}\n`;
    const masked = 'start ü\nAPI_KEY=[SECRET_1]\nagain [SECRET_1]\n';
    expect(await scrub([], text)).toMatchObject({ code: 0, stdout: masked, stderr: '' });
    expect(await scrub(['-'], text)).toMatchObject({ code: 0, stdout: masked });
    await writeFile(join(base, 'a.txt'), text);
    expect(await scrub(['a.txt'])).toMatchObject({ code: 0, stdout: masked });
    expect(await scrub([], '')).toMatchObject({ code: 0, stdout: '', stderr: '' });
  });

  it('prints one JSON value with --json, with offsets in UTF-16 units of the input', async () => {
    const text = `💥API_KEY=${value}`;
    const { code, stdout } = await scrub(['--json'], text);
    expect(code).toBe(0);
    const { text: masked, findings } = JSON.parse(stdout);
    expect(masked).toBe('💥API_KEY=[SECRET_1]');
    expect(findings).toEqual([{ rule: expect.any(String), start: 10, end: 42 }]);
    expect(text.slice(10, 42)).toBe(value);
  });

  it('reads and prints lines with --jsonl, and masks a secret of one line in the next', async () => {
    const lines = [
      { id: 'a', text: `API_KEY=${value}`, path: 'src/a.ts' },
      { id: 2, text: `see ${value}\n` },
      { text: 'nothing' },
    ];
    const input = `${lines.map((line) => JSON.stringify(line)).join('\n')}\n\n`;
    const { code, stdout } = await scrub(['--jsonl'], input);
    expect(code).toBe(0);
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([
      { id: 'a', text: 'API_KEY=[SECRET_1]', findings: [{ rule: expect.any(String), start: 8, end: 40 }] },
      { id: 2, text: 'see [SECRET_1]\n', findings: [{ rule: expect.any(String), start: 4, end: 36 }] },
      { text: 'nothing', findings: [] },
    ]);
    const apart = await scrub(['--jsonl', '--no-vault'], input);
    expect(JSON.parse(apart.stdout.split('\n')[1] ?? '')).toEqual({ id: 2, text: `see ${value}\n`, findings: [] });
  });

  it('leaves out an unreadable line, reports it without quoting it, and fails at the end', async () => {
    const bad = [`{"id":1,"text":"ok"}`, `{"text":"${value}`, `{"id":3,"text":7}`, `[]`, `{"id":5,"text":"fine"}`];
    const { code, stdout, stderr } = await scrub(['--jsonl'], bad.join('\n'));
    expect(code).toBe(1);
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).id),
    ).toEqual([1, 5]);
    expect(stderr).toBe(
      [
        'ctxd: line 2 was left out: it is not JSON',
        'ctxd: line 3 was left out: "text" is not a string',
        'ctxd: line 4 was left out: it is not a JSON object',
        '',
      ].join('\n'),
    );
    const notUtf8 = await scrub(['--jsonl'], Buffer.from('{"text":"\xff"}', 'latin1'));
    expect(notUtf8).toMatchObject({ code: 1, stdout: '', stderr: 'ctxd: line 1 was left out: it is not UTF-8\n' });
  });

  it('reports exactly the findings of gitleaks with --exact', async () => {
    const [key, other] = ['AKIA[A-Z2-7]{16}', 'AKIA[A-Z2-7]{16}'].map((pattern) => generate(pattern, random));
    const text = `${key} ${other} ${key} API_KEY=${value} password: hunter2`;
    const { stdout } = await scrub(['--exact', '--jsonl'], JSON.stringify({ id: 1, text }));
    expect(JSON.parse(stdout)).toEqual({
      id: 1,
      text: '[SECRET_1] [SECRET_2] [SECRET_1] API_KEY=[SECRET_3] password: hunter2',
      findings: [
        { rule: 'aws-access-token', start: 0, end: 20 },
        { rule: 'aws-access-token', start: 21, end: 41 },
        { rule: 'aws-access-token', start: 42, end: 62 },
        { rule: 'generic-api-key', start: 71, end: 103 },
      ],
    });
    expect((await scrub(['--exact'], `a ${key}\n`)).stdout).toBe('a [SECRET_1]\n');
  });

  it('rejects options that exclude each other, and a missing file', async () => {
    const both = await scrub(['--json', '--jsonl']);
    expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining('--json') });
    expect(JSON.parse(both.stdout)).toMatchObject({ error: { code: 'ARGS_INVALID' } });
    const missing = await scrub(['nowhere.txt']);
    expect(missing).toMatchObject({ code: 1, stdout: '' });
    expect(missing.stderr).toContain('cannot read nowhere.txt (ENOENT)');
  });

  it('reports bytes that are not UTF-8', async () => {
    const { code, stdout, stderr } = await scrub([], Buffer.from('caf\xe9 here\n', 'latin1'));
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'caf\ufffd here\n' });
    expect(stderr).toContain('not UTF-8 became U+FFFD');
  });

  it('scrubs a long text in windows: prints every line once, and masks a secret at any edge', async () => {
    const line = 'compiled the module in 12 ms and went on to the next\n';
    const lines = Array.from({ length: 130_000 }, (_, at) => (at % 20_000 === 999 ? `API_KEY=${value}\n` : line));
    const { code, stdout } = await scrub([], lines.join(''));
    expect(code).toBe(0);
    expect(stdout === lines.join('').replaceAll(value, '[SECRET_1]')).toBe(true);
  });
});
