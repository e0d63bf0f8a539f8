import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CTXD, type Installation, install, ROOT } from '../helpers/installation.ts';
import { seededRandom } from '../helpers/secret-samples.ts';
import { FINDS_HUSH, putProgram } from '../unit/scrub/gitleaks/gitleaks-copy.ts';

let installation: Installation;
beforeEach(async () => {
  installation = await install({ init: false });
  mkdirSync(join(installation.home, 'data/gitleaks'), { recursive: true });
  await putProgram(join(installation.home, 'data/gitleaks/gitleaks'), Buffer.from(FINDS_HUSH));
});
afterEach(() => installation.remove());

const random = seededRandom(11);
const digits = Array.from({ length: 12 }, () => Math.floor(random() * 10)).join('');
/** A secret that none of our own rules matches. */
const hush = `hush-${digits}`;

async function start(gitleaks?: string): Promise<void> {
  if (gitleaks !== undefined) await installation.run(CTXD, ['config', 'set', 'scrub.gitleaks', gitleaks]);
  const { code, stderr } = await installation.run(CTXD, ['init', '--no-toolchains', '--no-network']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
}

const json = async (...words: string[]) => JSON.parse((await installation.run(CTXD, [...words, '--json'])).stdout);

/** Repeats the check until it holds, because the auditor works in the background. */
async function until<T>(ask: () => Promise<T>, holds: (answer: T) => boolean): Promise<T> {
  const { answer } = await vi.waitUntil(
    async () => {
      const answer = await ask();
      return holds(answer) && { answer };
    },
    { timeout: 120_000 },
  );
  return answer;
}

interface AuditLine {
  kind?: string;
  tool: string;
  secrets_found: number;
  secret_rules: string[];
}

/** What doctor says about gitleaks. */
async function doctorSays(): Promise<{ status?: string; detail?: string }> {
  const { checks } = (await json('doctor')) as { checks: { name: string; status: string; detail: string }[] };
  return checks.find(({ name }) => name === 'gitleaks') ?? {};
}

/** Prints the secret and `lines` lines after it: 5,000 lines are below 64 KiB, 20,000 are not. */
const withLines = (lines: number): string => `cat notes.txt; seq 1 ${lines}`;

describe('SEC-1.1 SEC-1.3 issue 30.4.A4: the standing auditor', () => {
  it('after an answer of more than 64 KiB, masks what it finds in the store, remembers it, records it and raises an alarm', async () => {
    await start();
    writeFileSync(join(installation.project, 'notes.txt'), `${hush}\n`);
    const first = await installation.ask('safe_bash', { command: withLines(20_000), max_tokens: 300 });
    expect(first.data.stdout).toContain(hush);
    const records: AuditLine[] = await until(
      () => json('audit', 'tail'),
      (lines: AuditLine[]) => lines.some(({ kind }) => kind === 'secret_missed'),
    );
    expect(records.find(({ kind }) => kind === 'secret_missed')).toMatchObject({
      kind: 'secret_missed',
      door: 'gitleaks',
      tool: 'safe_bash',
      secrets_found: 1,
      secret_rules: ['gitleaks/hush'],
      input: { artifact: first.refs[0], tokens: ['[SECRET_1]'] },
    });

    const later = await installation.ask('safe_bash', { command: 'cat notes.txt' });
    expect(later.data.stdout).toBe('[SECRET_1]\n');
    const cursor = first.meta.pagination?.cursor ?? '';
    const page = await installation.ask('safe_bash', { continuation: cursor });
    expect(page).toMatchObject({ success: false, data: { error_code: 'EXPIRED' } });

    expect(await doctorSays()).toMatchObject({
      status: 'warn',
      detail: expect.stringContaining('gitleaks found 1 secrets that contextd had missed (gitleaks/hush)'),
    });
    const rows = (await json('stats')) as { tool: string; missed_by_engine: number; calls: number }[];
    expect(rows.find(({ tool }) => tool === 'safe_bash')).toMatchObject({ missed_by_engine: 1, calls: 3 });
    const secrets = await json('session', 'secrets');
    expect(secrets.secrets).toMatchObject([{ token: '[SECRET_1]', rule: 'gitleaks/hush' }]);
    expect(JSON.stringify(secrets)).not.toContain(digits);

    await installation.run(CTXD, ['server', 'stop']);
    expect(installation.filesHolding(digits)).toEqual([]);
    expect(existsSync(join(installation.home, 'state/gitleaks'))).toBe(false);
  });

  it('by default, masks what it finds in an answer of up to 64 KiB before the answer goes out, and lets it leave if gitleaks fails', async () => {
    await start();
    writeFileSync(join(installation.project, 'notes.txt'), `${hush}\n`);
    const first = await installation.ask('safe_bash', { command: withLines(5000), max_tokens: 300 });
    expect(first.data.stdout).toMatch(/^\[SECRET_1\]\n1\n2\n/);
    expect(JSON.stringify(first)).not.toContain(digits);
    const inData = await installation.ask('safe_read', { path: 'notes.txt' });
    expect(JSON.stringify(inData)).not.toContain(digits);
    const doctor = await doctorSays();
    expect(doctor).toMatchObject({ status: 'ok', detail: expect.stringContaining('answers of up to 64 KiB before') });

    // Our own engine has searched the answer, so it may leave if gitleaks fails.
    writeFileSync(join(installation.home, 'data/gitleaks/fail'), '');
    const unknown = `hush-${[...digits].reverse().join('')}`;
    const answer = await installation.ask('safe_bash', { command: `echo ${unknown}` });
    expect(answer).toMatchObject({ success: true, data: { stdout: `${unknown}\n` } });
    expect(await doctorSays()).toMatchObject({ status: 'warn', detail: expect.stringMatching(/[1-9]\d* runs failed/) });
    await installation.run(CTXD, ['server', 'stop']);
    expect(installation.filesHolding(digits)).toEqual([]);
  });

  it('does not search an answer again that it searched before it left', async () => {
    await start();
    await installation.ask('safe_bash', { command: 'echo a short answer' });
    await installation.ask('safe_bash', { command: 'seq 1 20000', max_tokens: 300 });
    const { detail } = await until(doctorSays, ({ detail }) => detail?.includes('0 waiting') === true);
    expect(detail).toContain(': 1 outputs searched afterwards');
  });

  it('is found by doctor of a second CONTEXTD_HOME once it is installed', async () => {
    const [first, second] = ['first', 'second'].map((name) => join(installation.home, '..', name));
    const program = join(installation.home, 'data/gitleaks');
    const PATH = `${program}:/usr/bin:/bin`;
    const script = join(ROOT, 'dist/scripts/install-gitleaks.js');
    const installed = await installation.run(process.execPath, [script], {
      env: { CONTEXTD_HOME: first ?? '', PATH },
    });
    expect(installed).toMatchObject({ code: 0, stderr: '' });
    rmSync(program, { recursive: true });
    installation.environment.PATH = '/usr/bin:/bin';
    installation.environment.CONTEXTD_HOME = second ?? '';
    await start();
    expect(await doctorSays()).toMatchObject({ status: 'ok', detail: expect.stringContaining('gitleaks 8.30.1') });
  });

  it('set to always, masks before the answer goes out, and withholds the answer if gitleaks fails', async () => {
    await start('always');
    const answer = await installation.ask('safe_bash', { command: `echo ${hush} and ${hush}` });
    expect(answer.data.stdout).toBe('[SECRET_1] and [SECRET_1]\n');
    writeFileSync(join(installation.home, 'data/gitleaks/fail'), '');
    const failed = await installation.ask('safe_bash', { command: `echo ${hush}` });
    expect(failed).toMatchObject({ success: false, data: { error_code: 'SCRUB_FAILED' } });
    expect(JSON.stringify(failed)).not.toContain(digits);
    expect(existsSync(join(installation.home, 'state/gitleaks'))).toBe(false);
  });

  it('set to always without gitleaks, withholds every answer, and doctor says why', async () => {
    rmSync(join(installation.home, 'data/gitleaks'), { recursive: true });
    installation.environment.PATH = '/usr/bin:/bin';
    await start('always');
    const failed = await installation.ask('safe_bash', { command: 'echo hello' });
    expect(failed).toMatchObject({ success: false, data: { error_code: 'SCRUB_FAILED' } });
    expect(await doctorSays()).toMatchObject({ status: 'fail' });
  });
});
