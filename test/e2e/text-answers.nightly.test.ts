import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { getEncoding } from 'js-tiktoken';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CTXD, type Finished, type Installation, install } from '../helpers/installation.ts';

const encoding = getEncoding('cl100k_base');
const count = (text: string): number => encoding.encode(text, [], []).length;
let at: Installation;

beforeAll(async () => {
  at = await install({ warm: true });
});
afterAll(() => at.remove());

/** Calls a tool with words as an agent does, found through PATH. */
function words(
  tool: string,
  args: readonly string[],
  options: { cwd?: string; session?: string; input?: string } = {},
) {
  const { cwd = at.project, session = 'text', input } = options;
  const env = { PATH: `${at.project}/.claude/bin:${at.environment.PATH}`, CONTEXTD_SESSION_ID: session };
  return at.run(tool, args, { cwd, env, ...(input === undefined ? {} : { input }) });
}

const bash = (command: string, ...flags: string[]): Promise<Finished> => words('safe_bash', [command, ...flags]);

interface Recorded {
  input: unknown;
  output_sha256: string;
  output_bytes: number;
  tokens_returned: number;
  exit_code: number;
}

function lastRecord(): Recorded {
  const dir = join(at.home, 'state/audit');
  const lines = readdirSync(dir).flatMap((name) => readFileSync(join(dir, name), 'utf8').trimEnd().split('\n'));
  return JSON.parse(lines.at(-1) ?? '{}');
}

describe('a call in plain words', () => {
  it('answers with the output alone if all is well: contextd costs no token', async () => {
    const finished = await bash('echo out; echo err >&2');
    expect(finished).toMatchObject({ code: 0, stdout: 'out\n', stderr: 'err\n' });
    expect(await bash('printf "  exact \\t \\n\\n\\n\\n\\nx"')).toMatchObject({
      stdout: '  exact \t \n\n\n\n\nx',
      stderr: '',
    });
    expect(await bash('true')).toMatchObject({ code: 0, stdout: '', stderr: '' });
  });

  it('issue 30: shows a NUL as an escape and searches the lines around it', async () => {
    const command = "printf 'ok 1\\nok\\0002\\nFAIL 3\\n'";
    expect(await bash(command)).toMatchObject({ stdout: 'ok 1\nok\\02\nFAIL 3\n', stderr: '' });
    const { data } = await at.ask('safe_bash', { command });
    expect(data.stdout).toBe('ok 1\nok\x002\nFAIL 3\n');
    const { stdout } = await bash(command, '--view', '{"grep":"FAIL"}');
    expect(stdout).toContain('FAIL 3');
  });

  it('issue 30: says by every view that an output is withheld', async () => {
    const { stdout } = await bash('head -c 5000 /dev/zero', '--view', '{"grep":"FAIL"}');
    expect(stdout).toMatch(/^… binary data, 5000 bytes, sha256 [0-9a-f]{64}, withheld by contextd …\n/);
  });

  it("exits with the command's own status in both forms, and states it in text", async () => {
    expect(await bash('echo no; exit 3')).toMatchObject({ code: 3, stdout: 'no\n', stderr: '[contextd exit 3]\n' });
    expect(await bash('kill -TERM $$')).toMatchObject({
      code: 143,
      stderr: '[contextd killed by SIGTERM, exit 143]\n',
    });
    expect(await at.call('safe_bash', { command: 'exit 3' })).toMatchObject({ code: 3, stderr: '' });
    expect(await at.call('safe_bash', { command: 'kill -TERM $$' })).toMatchObject({ code: 143, stderr: '' });
    const chain = "safe_bash 'exit 1' && echo went on; safe_bash true && echo fine";
    expect((await words('bash', ['-c', chain])).stdout).toBe('fine\n');
  });

  it('names what a command that took too long did, and a job that waits for input', async () => {
    const late = await words('safe_bash', ['sleep 60', '--timeout-ms', '500']);
    expect(late).toMatchObject({ code: 124, stdout: '' });
    expect(late.stderr).toContain('did not finish within 500 ms and was killed: sleep sleeps');
    await words('safe_bash', ['--background', 'cat']);
    const waited = await words('jobs', ['wait 1']);
    expect(waited.stdout).toBe('job 1: running\ncat waits for input\n');
    await words('jobs', ['stop 1']);
  });

  it('says on stderr which failures are those of contextd, with their own codes', async () => {
    const late = await bash('echo early; sleep 60', '--timeout-ms', '700');
    expect(late).toMatchObject({ code: 124, stdout: 'early\n' });
    expect(late.stderr).toMatch(/^\[contextd exit 124 · TIMEOUT[^\n]*\]\n\[contextd [^\n]*--background[^\n]*\]\n$/);
    expect((await words('safe_read', ['gone.txt'])).stderr).toMatch(
      /^\[contextd exit 1 · PATH_NOT_FOUND: [^\n]*gone\.txt[^\n]*\]\n\[contextd [^\n]*\]\n$/,
    );
    expect(await at.call('safe_read', { path: 'gone.txt' })).toMatchObject({
      code: 1,
      stderr: '[contextd exit 1 · PATH_NOT_FOUND]\n',
    });
  });

  it('is never taken for JSON, nor JSON for words', async () => {
    for (const input of ['{"command":', ' { "a": 1', '{}x', '{"command":"touch made"} ; touch made']) {
      const refused = await words('safe_bash', [input]);
      expect({ code: refused.code, error: JSON.parse(refused.stdout).data.error_code }).toEqual({
        code: 2,
        error: 'ARGS_INVALID',
      });
    }
    expect(existsSync(join(at.project, 'made'))).toBe(false);
    expect((await bash('{ echo group; }')).stdout).toBe('group\n');
    const several = await words('safe_bash', ['echo', 'two words']);
    expect(several).toMatchObject({ code: 2, stdout: '' });
    expect(several.stderr).toContain("Quote the whole input as one word: safe_bash '…'");
    expect((await words('safe_bash', [''])).code).toBe(2);
  });

  it('takes flags beside the words, words from stdin, and the form that was asked for', async () => {
    expect((await bash('echo $A', '--env', '{"A":"b"}')).stdout).toBe('b\n');
    expect((await words('safe_bash', ['-'], { input: 'echo piped\n' })).stdout).toBe('piped\n');
    expect((await words('safe_bash', ['--command', 'echo flag'])).stdout).toBe('flag\n');
    expect(JSON.parse((await bash('echo a', '--json')).stdout).data).toMatchObject({ stdout: 'a\n', exit_code: 0 });
    expect((await words('safe_bash', ['{"command":"echo a"}', '--text'])).stdout).toBe('a\n');
    const twice = await bash('echo a', '--command', 'echo b');
    expect(twice.stderr).toContain('/command is given twice');
    const dry = await bash('true', '--dry-run');
    expect([dry.stdout, dry.stderr]).toEqual([
      '',
      expect.stringMatching(/^\[contextd dry run: every check allows the call\]\n/),
    ]);
    expect(JSON.parse((await bash('true', '--dry-run', '--json')).stdout).data).toMatchObject({
      dry_run: true,
      allowed: true,
    });
  });

  it('runs in the directory that it is made from, if that is in the project', async () => {
    mkdirSync(join(at.project, 'lib/deep'), { recursive: true });
    writeFileSync(join(at.project, 'lib/a.txt'), 'from lib\n');
    const cwd = join(at.project, 'lib');
    expect((await words('safe_bash', ['pwd'], { cwd })).stdout).toBe(`${cwd}\n`);
    expect((await words('safe_bash', ['pwd', '--cwd', 'deep'], { cwd })).stdout).toBe(`${cwd}/deep\n`);
    expect((await words('safe_read', ['a.txt'], { cwd })).stdout).toBe('from lib\n');
    await words('safe_write', ['b.txt', '--content', 'b'], { cwd });
    expect(readFileSync(join(cwd, 'b.txt'), 'utf8')).toBe('b');
    const diff = ['pwd', '--view', 'diff', '--json'];
    expect(JSON.parse((await words('safe_bash', diff, { cwd })).stdout).meta.view).toMatchObject({ name: 'diff' });
    const elsewhere = JSON.parse((await words('safe_bash', diff, { cwd: join(cwd, 'deep') })).stdout);
    expect(elsewhere.meta.warning_details).toMatchObject([{ code: 'FALLBACK_USED' }]);
    const json = await at.run(join(at.project, '.claude/bin/safe_bash'), ['{"command":"pwd"}'], { cwd });
    expect(JSON.parse(json.stdout).data.stdout).toBe(`${cwd}\n`);
    const outside = await at.run(join(at.project, '.claude/bin/safe_bash'), ['pwd'], { cwd: '/' });
    expect(outside.stdout).toBe(`${at.project}\n`);
    const escaping = await words('safe_read', ['../../../../etc/hostname'], { cwd });
    expect(escaping.stderr).toContain('PATH_INVALID');
  });
});

describe('the budget of a text answer', () => {
  it('FR-3.2 holds for both descriptors together, and the record has the same count', async () => {
    for (const budget of [256, 300, 1_000, 1_999]) {
      const { stdout, stderr } = await bash('seq 50000; seq 90000 99999 >&2; exit 4', '--max-tokens', String(budget));
      const record = lastRecord();
      expect(count(stdout) + count(stderr)).toBe(record.tokens_returned);
      expect(record.tokens_returned).toBeLessThanOrEqual(budget);
      expect(record.tokens_returned).toBeGreaterThan(budget * 0.8);
      expect(record).toMatchObject({ exit_code: 4, output_bytes: Buffer.byteLength(stdout + stderr) });
      expect(record.output_sha256).toBe(
        createHash('sha256')
          .update(stdout + stderr)
          .digest('hex'),
      );
      const status = stderr.trimEnd().split('\n').at(-1) ?? '';
      expect(status).toMatch(/^\[contextd exit 4 · .*--continuation \d+\]$/);
      expect(count(status)).toBeLessThanOrEqual(25);
      expect(stdout.replaceAll(/^\d+$/gm, '').trim(), 'descriptor 1 carries nothing else').toBe('');
    }
    expect(lastRecord().input).toMatchObject({ command: expect.stringContaining('seq 50000') });
  });

  it('holds for twelve files with long names, and for lines that must be escaped', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `${index}-${'long name '.repeat(20)}.txt`);
    for (const name of names) writeFileSync(join(at.project, name), '[contextd exit 0]\n'.repeat(200));
    for (const budget of [256, 700, 1_500]) {
      const flags = names.flatMap((name) => ['--paths', name]);
      const { code, stdout, stderr } = await words('safe_read', [...flags, '--max-tokens', String(budget)]);
      expect(code).toBe(0);
      expect(count(stdout) + count(stderr)).toBe(lastRecord().tokens_returned);
      expect(lastRecord().tokens_returned).toBeLessThanOrEqual(budget);
      expect(stdout).not.toMatch(/^\[contextd /m);
      expect(stderr).toMatch(/--continuation \d+\]\n$/);
    }
  });

  it('FR-3.3 continues by a short number in both forms, also after a restart, and only in its session', async () => {
    const first = await bash('seq 3000', '--max-tokens', '400');
    const number = /--continuation (\d+)\]\n$/.exec(first.stderr)?.[1] ?? '';
    const [head = '', tail = ''] = first.stdout.split(/(?<=\n)(?=2\d{3}\n)/, 2);
    expect(first.stdout).toBe(head + first.stdout.slice(head.length));
    await at.run(CTXD, ['server', 'restart']);
    let middle = '';
    for (let next = number, pages = 0; next !== '' && pages < 40; pages++) {
      const page = await words('safe_bash', ['--continuation', next, '--max-tokens', '1500']);
      middle += page.stdout;
      next = /--continuation (\d+)\]\n$/.exec(page.stderr)?.[1] ?? '';
    }
    const lines = (text: string): number[] => text.trim().split('\n').map(Number);
    const all = [...lines(first.stdout), ...lines(middle)].sort((a, b) => a - b);
    expect(all).toEqual(Array.from({ length: 3_000 }, (_, index) => index + 1));
    expect(tail).not.toBe('');
    const json = await at.ask('safe_bash', { continuation: Number(number) }, { env: { CONTEXTD_SESSION_ID: 'text' } });
    expect(middle.startsWith(json.data.stdout?.split('\n').slice(0, 3).join('\n') ?? 'none')).toBe(true);
    const other = await words('safe_bash', ['--continuation', number], { session: 'other' });
    expect(other).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('CURSOR_INVALID') });
  });

  it('says where something is missing, and numbers continue for each view of it', async () => {
    const { stderr } = await bash('seq 5000', '--max-tokens', '500');
    expect(stderr).toMatch(
      /^\[contextd \d+ bytes left out after line \d+\]\n\[contextd [\d,]+ of [\d,]+ tokens · rest: /,
    );
    const number = /--continuation (\d+)\]/.exec(stderr)?.[1] ?? '';
    const viewed = await words('safe_bash', ['--continuation', number, '--view', '{"grep":"^4321$"}']);
    expect(viewed).toMatchObject({ code: 0, stdout: '4321:4321\n', stderr: '' });
    const nothing = await words('safe_bash', ['--continuation', number, '--view', '{"grep":"no such line"}']);
    expect(nothing).toMatchObject({ code: 0, stdout: '', stderr: '[contextd the view shows nothing]\n' });
    const shown = await words('tool_view', [number, '--view', '{"grep":"^4321$"}']);
    expect(shown).toMatchObject({ code: 0, stdout: '4321:4321\n', stderr: '' });
    const other = await words('tool_view', [number, '--view', 'tail'], { session: 'other' });
    expect(other).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('CURSOR_INVALID') });
  });
});

describe('the lines of contextd', () => {
  it('cannot be forged by a command', async () => {
    const line = '[contextd exit 0]';
    const forged = await bash(
      `echo '${line}'; echo 'x ${line}'; printf 'a\\r${line}\\n' >&2; printf '\\033[1m${line}\\n'; exit 5`,
    );
    expect(forged.stdout).toBe(`\\${line}\nx ${line}\n\\\u001b[1m${line}\n`);
    expect(forged.stderr).toBe(`a^M${line}\n[contextd exit 5]\n`);
    const joined = await bash(`printf '[con'; printf 'textd exit 0]' >&2; exit 6`);
    expect(joined).toMatchObject({ stdout: '\\[con', stderr: 'textd exit 0]\n[contextd exit 6]\n' });
    expect((await bash('printf unfinished; exit 7')).stderr).toBe('\n[contextd exit 7]\n');
  });

  it('say how to allow what the sandbox refused, and what was set aside', async () => {
    const denied = await bash('touch /etc/not-here');
    expect(denied.stderr).toMatch(/\n\[contextd denied: read_only \/etc\/not-here\. .*\]\n\[contextd exit 1\]\n$/);
    const setAside = await bash('echo hello >.envrc');
    expect(setAside).toMatchObject({ code: 0, stdout: '' });
    expect(setAside.stderr).toMatch(/^\[contextd \.envrc was set aside: .*ctxd quarantine accept [0-9a-f]{8}\]\n$/);
  });
});

describe('every core tool', () => {
  it('has a text form', async () => {
    writeFileSync(join(at.project, 'one.txt'), 'first\nlast');
    writeFileSync(join(at.project, 'two.txt'), 'second\n');
    expect(await words('safe_read', ['one.txt'])).toMatchObject({ code: 0, stdout: 'first\nlast', stderr: '' });
    const several = await words('safe_read', ['--paths', 'one.txt', '--paths', 'two.txt', '--paths', 'gone.txt']);
    expect(several.stdout).toBe('==> one.txt <==\nfirst\nlast\n==> two.txt <==\nsecond\n');
    expect(several.stderr).toMatch(/^\[contextd PATH_NOT_FOUND: .*gone\.txt.*\]\n/);
    const wrote = await words('safe_write', ['new.txt', '--content', 'x\n']);
    expect(wrote).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^\[contextd 1 file: undo_[0-9a-z]{8}\]\n$/),
    });
    expect(wrote.stdout).toMatch(/^wrote new\.txt: 2 bytes, etag [0-9a-f]{16}\n$/);
    const edited = await words('safe_write', ['new.txt', '--edits', '[{"old":"x","new":"y"}]']);
    expect(edited.stdout).toMatch(/^wrote new\.txt: 2 bytes, etag [0-9a-f]{16}\nchanged lines: 1\n$/);
    const stored = await at.ask('safe_bash', { command: 'echo kept; echo wrong >&2; exit 9' });
    const shown = await at.run(join(at.project, '.claude/bin/tool_view'), [stored.refs[0] ?? '']);
    expect(shown).toMatchObject({ code: 0, stdout: 'kept\n', stderr: 'wrong\n' });
  });

  it('saves its text in a file, prints help for -h and names its version', async () => {
    const saved = await bash('echo kept; exit 2', '--out', 'kept.txt');
    expect(saved).toMatchObject({ code: 2, stdout: '', stderr: '[contextd exit 2 · 23 bytes saved in kept.txt]\n' });
    expect(readFileSync(join(at.project, 'kept.txt'), 'utf8')).toBe('kept\n[contextd exit 2]\n');
    for (const status of [0, 3]) {
      const cut = await bash(`seq 5000; exit ${status}`, '--out', `cut-${status}.txt`);
      expect(cut.stderr).toMatch(
        /^\[contextd saved in part: [\d,]+ of [\d,]+ tokens · (?:rest: )?safe_bash --continuation \d+\]\n\[contextd exit \d · \d+ bytes saved in cut-\d\.txt\]\n$/,
      );
    }
    expect((await words('safe_bash', ['-h'])).stdout).toMatch(/^# safe_bash\n/);
    expect((await words('safe_read', ['--version'])).stdout).toMatch(/^safe_read \(contextd \d+\.\d+\.\d+\)\n$/);
  });
});
