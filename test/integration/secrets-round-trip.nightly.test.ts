import { existsSync, linkSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Answer, CONTEXTD, CTXD, type Installation, install } from '../helpers/installation.ts';
import { generate, seededRandom } from '../helpers/sample-patterns.ts';

// A fixed seed gives the same cases in every run.

const random = seededRandom(11);
const make = (pattern: string): string => generate(pattern, random);
/** A secret in the user's home before the daemon starts; no pattern matches its form. */
const npmToken = make('[a-z]{6}-[A-Z0-9]{10}-[a-z]{6}');
const quiet = make('[a-z]{6}.[A-Z0-9]{10}.[a-z]{6}');
const variable = make('[a-z]{5}_[A-Z0-9]{9}_[a-z]{5}');

let at: Installation;
beforeAll(async () => {
  at = await install({ init: false });
  writeFileSync(join(at.environment.HOME ?? '', '.npmrc'), `//registry.example/:_authToken=${npmToken}\n`);
  writeFileSync(path('.env.production'), `SERVICE_SECRET='${quiet}'\n`);
  await installTools(join(at.environment.HOME ?? '', 'tools', 'bin'));
  await at.run(CTXD, ['config', 'set', 'secrets.programs', JSON.stringify(PROGRAMS)]);
  await at.run(CTXD, ['config', 'set', 'secrets.max_uses_per_hour', '5']);
  await at.run(CTXD, ['server', 'stop']);
  // Started directly, as a service manager does: `ctxd` and the proxy pass none of the caller's variables on.
  void at.run(CONTEXTD, ['serve'], { env: { BACKUP_PASSWORD: variable } });
  await vi.waitFor(async () => expect((await at.run(CTXD, ['server', 'status'])).code).toBe(0), { timeout: 60_000 });
});
afterAll(() => at.remove());

const PROGRAMS = ['printenv', 'cat', 'gone-program', 'show', 'linked', 'twin'];

/** Programs outside /usr that a person allows: `show`, and two of one manager under other names. */
async function installTools(dir: string): Promise<void> {
  mkdirSync(dir, { recursive: true });
  for (const name of ['show', 'manager']) writeFileSync(join(dir, name), '#!/bin/sh\nprintenv "$1"\n', { mode: 0o755 });
  symlinkSync('manager', join(dir, 'linked'));
  linkSync(join(dir, 'manager'), join(dir, 'twin'));
  const { code } = await at.run(CTXD, ['init', '--yes'], { env: { PATH: `${dir}:/usr/bin:/bin` } });
  expect(code).toBe(0);
}

const path = (name: string): string => join(at.project, name);
const read = async (name: string): Promise<string> => (await at.ask('safe_read', { path: name })).data.content ?? '';
const write = (name: string, content: string): Promise<Answer> => at.ask('safe_write', { path: name, content });
const bash = (input: object): Promise<Answer> => at.ask('safe_bash', input);
const audited = async (): Promise<Record<string, unknown>> => {
  const { stdout } = await at.run(CTXD, ['audit', 'tail', '--lines', '1', '--json']);
  const parsed: unknown = JSON.parse(stdout);
  return (Array.isArray(parsed) ? parsed.at(-1) : parsed) as Record<string, unknown>;
};

describe('SEC-1.4 a file gets its secrets back', () => {
  it('keeps the values of an edited .env', async () => {
    const [key, password] = [make('ghp_[A-Za-z0-9]{36}'), make('[a-z]{5}-[a-z]{5}-[0-9]{2}')];
    writeFileSync(path('settings.env'), `GITHUB_TOKEN=${key}\nDB_PASSWORD=${password}\nPORT=1\n`);
    const shown = await read('settings.env');
    expect(shown).toMatch(/^GITHUB_TOKEN=\[SECRET_\d+\]\nDB_PASSWORD=\[SECRET_\d+\]\nPORT=1\n$/);
    const answer = await write('settings.env', shown.replace('PORT=1', 'PORT=2'));
    expect(answer.success).toBe(true);
    expect(answer.meta.warnings).toBeUndefined();
    expect(readFileSync(path('settings.env'), 'utf8')).toBe(`GITHUB_TOKEN=${key}\nDB_PASSWORD=${password}\nPORT=2\n`);
    const record = await audited();
    expect(record.secrets_opened).toEqual([
      { token: expect.stringMatching(/^\[SECRET_\d+\]$/), input: '/content', use: 'file' },
      { token: expect.stringMatching(/^\[SECRET_\d+\]$/), input: '/content', use: 'file' },
    ]);
    expect(JSON.stringify(record)).not.toContain(key);
    expect(at.filesHolding(key)).toEqual([]);
  });

  it('gives a key in two spellings one token, and each file keeps its own spelling', async () => {
    const lines = [1, 2, 3].map(() => make('[A-Za-z0-9+/]{64}'));
    const pem = ['-----BEGIN PRIVATE KEY-----', ...lines, '-----END PRIVATE KEY-----'].join('\n');
    writeFileSync(path('key.pem'), `${pem}\n`);
    writeFileSync(path('key.json'), JSON.stringify({ private_key: pem, n: 1 }));
    const [plain, json] = [await read('key.pem'), await read('key.json')];
    const [token] = /\[SECRET_\d+\]/.exec(plain) ?? [''];
    expect(json).toBe(`{"private_key":"${token}","n":1}`);
    await write('key.json', json.replace('"n":1', '"n":2'));
    await write('key.pem', plain);
    expect(readFileSync(path('key.json'), 'utf8')).toBe(JSON.stringify({ private_key: pem, n: 2 }));
    expect(readFileSync(path('key.pem'), 'utf8')).toBe(`${pem}\n`);
  });

  it('SEC-1.3 keeps a README full of look-alikes intact through read, edit and write', async () => {
    const piece = fc.oneof(
      fc.tuple(fc.nat(5), fc.nat(300)).map(([n, number]) => `[SECRET${'\\'.repeat(n)}_${number}]`),
      fc.constantFrom(
        '\\u005bSECRET_1]',
        '"\\u005b',
        '\\x5bSECRET\\_1]',
        '[SECRET',
        '_1]',
        '\\',
        '[SECRET]',
        '[',
        'SECRET_1',
        ' text ',
        '\n',
        '[[SECRET_1]_2]',
        'é',
      ),
    );
    const texts = fc.sample(fc.array(piece, { minLength: 1, maxLength: 12 }), 60);
    const whole = `${texts.map((text) => text.join('')).join('\n--\n')}\nend\n`;
    writeFileSync(path('README.md'), whole);
    const shown = await at.ask('safe_read', { path: 'README.md', max_tokens: 20_000 });
    expect(shown.truncated).toBe(false);
    const edited = (shown.data.content ?? '').replace(/end\n$/, 'END\n');
    expect((await write('README.md', edited)).success).toBe(true);
    expect(readFileSync(path('README.md'), 'utf8')).toBe(whole.replace(/end\n$/, 'END\n'));
  });

  it('writes nothing for an unknown number', async () => {
    writeFileSync(path('kept.txt'), 'old');
    const answer = await write('kept.txt', 'A=[SECRET_999]');
    expect(answer.data.error_code).toBe('SECRET_UNKNOWN');
    // The token is named as the agent wrote it.
    expect(JSON.stringify(answer)).not.toContain('[SECRET\\');
    expect(answer.data.details).toMatchObject({ token: '[SECRET_999]' });
    expect(readFileSync(path('kept.txt'), 'utf8')).toBe('old');
  });
});

describe('SEC-1.4 a token in the input of a program', () => {
  let token: string;
  let other: string;
  beforeAll(async () => {
    writeFileSync(path('.env.local'), `API_TOKEN=${make('ghp_[A-Za-z0-9]{36}')}\n`);
    token = /\[SECRET_\d+\]/.exec(await read('.env.local'))?.[0] ?? '';
    other = token.replace(/\d+/, (digits) => String(Number(digits) + 1000));
    expect(token).not.toBe('');
  });

  it.each([
    ['a heredoc', (text: string) => ({ command: `cat > made.txt <<'EOF'\nAPI_TOKEN=${text}\nEOF` })],
    ['a heredoc that expands', (text: string) => ({ command: `cat > made.txt <<EOF\n"${text}"\nEOF` })],
    ['single quotes', (text: string) => ({ command: `printf %s '${text}' > made.txt` })],
    ['double quotes', (text: string) => ({ command: `printf %s "${text}" > made.txt` })],
    ['no quotes', (text: string) => ({ command: `echo ${text} > made.txt` })],
    ['a comment', (text: string) => ({ command: `touch made.txt # ${text}` })],
    ['a program of its own language', (text: string) => ({ command: `node -e 'write("${text}")'; touch made.txt` })],
    ['a job', (text: string) => ({ command: `echo ${text} > made.txt`, background: true })],
    ['env', (text: string) => ({ command: 'printenv X > made.txt', env: { X: `a${text}` } })],
    ['stdin', (text: string) => ({ command: 'cat > made.txt', stdin: `${text}\n` })],
    ['the name of a variable', (text: string) => ({ command: 'touch made.txt', env: { [text]: 'x' } })],
    ['cwd', (text: string) => ({ command: 'touch made.txt', cwd: text })],
  ])('issue 16.8 is refused before anything runs, in %s', async (_where, input) => {
    const { data, error } = await bash(input(token));
    expect(data.error_code).toBe('ARGS_INVALID');
    expect(error).toContain(`holds the token of secret ${/\d+/.exec(token)?.[0]}: `);
    expect(data.remediation).toMatch(/safe_write.*"secrets":\{"NAME":"\[SECRET_n\]"\}/s);
    expect(existsSync(path('made.txt'))).toBe(false);
  });

  it('issue 16.8 is refused in the input of a job, too', async () => {
    for (const input of [{ action: 'input', job: 1, text: token }, { action: `input 1 ${token}` }])
      expect((await at.ask('jobs', input)).data).toMatchObject({
        error_code: 'ARGS_INVALID',
        remediation: expect.stringContaining('safe_write'),
      });
  });

  it('issue 16.8 is ordinary text if the session never gave it out', async () => {
    const answer = await bash({ command: `cat > kept.md <<'EOF'\n${other} [SECRET_0] [SECRET_007]\nEOF` });
    expect(answer.meta.warnings).toBeUndefined();
    expect(readFileSync(path('kept.md'), 'utf8')).toBe(`${other} [SECRET_0] [SECRET_007]\n`);
  });

  it('issue 16.8 is the text that it is with a backslash, and a warning says that the backslash stays', async () => {
    const escaped = token.replace('_', '\\_');
    const answer = await bash({ command: `printf %s '${escaped}' > kept.md` });
    expect(readFileSync(path('kept.md'), 'utf8')).toBe(escaped);
    expect(answer.meta.warnings).toEqual([`${escaped} in command kept its backslash: only safe_write takes it away`]);
    await write('kept.md', escaped);
    expect(readFileSync(path('kept.md'), 'utf8')).toBe(token);
  });

  it('stays text where nothing is written, and one line of the answer says so', async () => {
    const answer = await at.ask('safe_read', { path: '.env.local', grep: token });
    expect(answer.meta.warnings).toEqual([`${token} in grep stayed literal text: safe_read opens no secrets`]);
  });
});

describe('SEC-1.4 a program can be given a secret', () => {
  const secret = make('ghp_[A-Za-z0-9]{36}');
  let token: string;
  beforeAll(async () => {
    writeFileSync(path('.env'), `DEPLOY_TOKEN=${secret}\nSHORT_PASSWORD=hunter2\n`);
    token = /DEPLOY_TOKEN=(\[SECRET_\d+\])/.exec(await read('.env'))?.[1] ?? '';
  });

  it('in its environment; its output is masked and the record shows the token', async () => {
    const answer = await bash({ command: 'printenv DEPLOY HOME', secrets: { DEPLOY: token } });
    expect(answer.data).toMatchObject({ exit_code: 0, stdout: expect.stringMatching(/^\[SECRET_\d+\]\n\//) });
    expect(answer.data.stdout).toContain(token);
    const record = await audited();
    expect(record).toMatchObject({
      input: { command: 'printenv DEPLOY HOME', secrets: { DEPLOY: token } },
      secrets_opened: [{ token, input: '/secrets/DEPLOY', use: 'env' }],
    });
    expect(at.filesHolding(secret)).toEqual([]);
  });

  it('of a toolchain that a person allowed, too', async () => {
    const answer = await bash({ command: 'show DEPLOY', secrets: { DEPLOY: token } });
    expect(answer.data).toMatchObject({ exit_code: 0, stdout: `${token}\n` });
  });

  it('but not on its command line', async () => {
    const answer = await bash({ command: `cat /proc/1/cmdline /proc/self/cmdline`, secrets: { DEPLOY: token } });
    expect(answer.data.stdout).not.toMatch(/DEPLOY|\[SECRET_\d+\]/);
  });

  it('and even a short secret is masked in the answer to that call', async () => {
    const short = /SHORT_PASSWORD=(\[SECRET_\d+\])/.exec(await read('.env'))?.[1] ?? '';
    const answer = await bash({ command: 'printenv PW', secrets: { PW: short } });
    expect(answer.data.stdout).toBe(`${short}\n`);
    expect((await bash({ command: 'echo hunter2' })).data.stdout).toBe('hunter2\n');
  });

  it.each([
    ['a pipe', { command: 'printenv DEPLOY | rev' }, /one program and its arguments/],
    ['a substitution', { command: 'printenv $(id)' }, /one program and its arguments/],
    ['a variable', { command: 'printenv "$DEPLOY"' }, /one program and its arguments/],
    ['an assignment', { command: 'X=1 printenv' }, /one program and its arguments/],
    ['a second command', { command: 'printenv\nrev' }, /one program and its arguments/],
    ['a builtin', { command: 'eval printenv' }, /one program and its arguments/],
    ['a path', { command: './printenv' }, /one program and its arguments/],
    ['another program', { command: 'env' }, /env may not get a secret/],
    ["a version manager's link", { command: 'linked DEPLOY' }, /starts another program/],
    ["a version manager's hard link", { command: 'twin DEPLOY' }, /starts another program/],
    ['a missing program', { command: 'gone-program' }, /not an installed program/],
    ['a variable that steers programs', { command: 'printenv', secrets: { LD_PRELOAD: '' } }, /steers/],
    ['a variable that steers programs beside it', { command: 'printenv', env: { PATH: '.' } }, /steers/],
    ['the same variable twice', { command: 'printenv', env: { DEPLOY: 'x' } }, /given twice/],
  ])('but not with %s', async (_what, input, why) => {
    const secrets = 'secrets' in input ? { LD_PRELOAD: token } : { DEPLOY: token };
    const answer = await bash({ ...input, secrets });
    expect(answer.data.error_code).toBe('PERMISSION_DENIED');
    expect(answer.error).toMatch(why);
    expect((await audited()).secrets_opened).toBeUndefined();
  });

  it('and a refusal names the setting and the command for a person', async () => {
    const answer = await bash({ command: 'gh pr list', secrets: { GH_TOKEN: token } });
    expect(answer.data.remediation).toContain(
      `ctxd config set secrets.programs '${JSON.stringify([...PROGRAMS, 'gh'])}'`,
    );
    const dry = await bash({ command: 'printenv', secrets: { GH_TOKEN: token }, dry_run: true });
    expect(dry.data).toMatchObject({ allowed: true });
  });

  it('but the schema refuses a text that is not a token', async () => {
    expect((await bash({ command: 'printenv', secrets: { A: `x${token}` } })).data.error_code).toBe('ARGS_INVALID');
  });

  it('only a limited number of times', async () => {
    const answers: Answer[] = [];
    for (let i = 0; i < 6; i++) answers.push(await bash({ command: 'printenv', secrets: { DEPLOY: token } }));
    const last = answers.at(-1);
    expect(last?.data).toMatchObject({ error_code: 'RATE_LIMITED', retry_after_ms: expect.any(Number) });
    expect(`${last?.error} ${last?.data.remediation}`).toContain('secrets.max_uses_per_hour');
  });
});

describe('SEC-1.1 SEC-1.3 secrets that the machine knows are masked from the start', () => {
  it('in credentials, variables and .env files, before any pattern matched them', async () => {
    const { data } = await bash({ command: `printf '%s\\n' x${npmToken}x x${variable}x x${quiet}x` });
    expect(data.stdout).toMatch(/^(?:x\[SECRET_\d+\]x\n){3}$/);
  });

  it('even if they were added later', async () => {
    const later = make('[a-z]{6}.[A-Z0-9]{10}.[a-z]{6}');
    const before = await bash({ command: `printf %s x${later}x` });
    expect(before.data.stdout).toBe(`x${later}x`);
    writeFileSync(path('.env.later'), `SERVICE_SECRET=${later}\n`);
    await expect
      .poll(async () => (await bash({ command: `printf %s x${later}x` })).data.stdout, { interval: 300 })
      .toMatch(/^x\[SECRET_\d+\]x$/);
  });
});

describe('SEC-1.4 after a stop of the daemon', () => {
  it('issue 16.8 refuses a token that stood for a secret before, and says that its source is to be read again', async () => {
    writeFileSync(path('.env.local'), `API_TOKEN=${make('ghp_[A-Za-z0-9]{36}')}\n`);
    const token = /\[SECRET_\d+\]/.exec(await read('.env.local'))?.[0] ?? '';
    expect((await at.run(CTXD, ['server', 'stop'])).code).toBe(0);
    const answer = await bash({ command: `printf '${token}' > made.txt` });
    expect(answer.data).toMatchObject({
      error_code: 'SECRET_UNKNOWN',
      remediation: expect.stringContaining('Read its source again'),
    });
    expect(existsSync(path('made.txt'))).toBe(false);
  });
});

describe('SEC-1.4 in a session that goes on after its end', () => {
  it('a token stands for its secret again if the secret cannot be guessed, and never for another one', async () => {
    const env = { CONTEXTD_SESSION_ID: 'goes-on' };
    const [strong, other] = [make('ghp_[A-Za-z0-9]{36}'), make('ghp_[A-Za-z0-9]{36}')];
    const weak = `correct-${make('[a-z]{6}')}-battery`;
    const show = async (...lines: string[]): Promise<string[]> => {
      writeFileSync(path('shown.env'), lines.join('\n'));
      const { data } = await at.ask('safe_read', { path: 'shown.env' }, { env });
      return [...(data.content ?? '').matchAll(/\[SECRET_\d+\]/g)].map(([token]) => token);
    };
    const [first, password] = await show(`A_TOKEN=${strong}`, `A_PASSWORD="${weak}"`);
    expect((await at.run(CTXD, ['session', 'end', '--session', 'goes-on'])).code).toBe(0);
    const lost = await at.ask('safe_write', { path: 'lost.env', content: `A=${first}` }, { env });
    expect(lost.data).toMatchObject({ error_code: 'SECRET_UNKNOWN' });
    // Another secret comes first, so that the order of the numbers cannot be what brings the old one back.
    const [new1, again, newPassword] = await show(`B_TOKEN=${other}`, `A_TOKEN=${strong}`, `A_PASSWORD="${weak}"`);
    expect(again).toBe(first);
    expect([first, password]).not.toContain(new1);
    expect([first, password, new1]).not.toContain(newPassword);
    await at.ask('safe_write', { path: 'back.env', content: `A=${first}\n` }, { env });
    expect(readFileSync(path('back.env'), 'utf8')).toBe(`A=${strong}\n`);
    expect(at.filesHolding(strong)).toEqual([]);
  });
});
