import { createHash, randomBytes } from 'node:crypto';
import { chownSync, mkdirSync, readdirSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Tiktoken } from 'js-tiktoken/lite';
import cl100k from 'js-tiktoken/ranks/cl100k_base';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Installation, install, OTHER_UID, PROXY } from '../helpers/installation.ts';

const reference = new Tiktoken(cl100k);
const countTokens = (text: string): number => reference.encode(text, [], []).length;

const asRoot = process.getuid?.() === 0;
const owners: { who: string; owner?: number }[] = asRoot
  ? [{ who: 'root on a project of root' }, { who: 'root on a project of another user', owner: OTHER_UID }]
  : [{ who: 'an ordinary user' }];
if (!asRoot) process.stdout.write('main job as root: not run, the tests run as an ordinary user\n');

/** A value that looks like a key to a person, generated for each run. */
const freshSecret = (): string => `k9${randomBytes(15).toString('hex')}Zq`;

describe.each(owners)('the main job, as $who', ({ owner }) => {
  let at: Installation;
  const fileSecret = freshSecret();

  beforeAll(async () => {
    at = await install({ warm: true, ...(owner === undefined ? {} : { owner }) });
    writeFileSync(join(at.project, '.env'), `API_KEY=${fileSecret}\n`);
    if (owner !== undefined) chownSync(join(at.project, '.env'), owner, owner);
  });
  afterAll(() => at.remove());

  it('FR-4.1 FR-3.2 FR-3.3 FR-3.4 FR-3.5 CE-1.4 CE-2.4 DATA-2 masks, cuts and counts a long output, which can be paged through', async () => {
    const { code, stdout } = await at.call('safe_bash', { command: 'cat .env; seq 100000' });
    expect(code).toBe(0);
    const line = stdout.slice(0, -1);
    expect(line).not.toContain('\n');
    const answer = JSON.parse(line);
    expect(Object.keys(answer)).toEqual([
      'success',
      'data',
      'error',
      'refs',
      'tokens_used',
      'has_more',
      'truncated',
      'meta',
    ]);
    expect(answer).toMatchObject({
      success: true,
      error: null,
      has_more: true,
      truncated: true,
      data: { exit_code: 0, stderr: '' },
    });
    expect(answer.data.stdout).toMatch(/^API_KEY=\[SECRET_1\]\n1\n2\n/);
    expect(answer.data.stdout).toMatch(/99999\n100000\n$/);
    expect(answer.meta).toMatchObject({
      version: 'response-v2',
      request_id: expect.stringMatching(/^req_[0-9A-Z]{26}$/),
    });
    expect(answer.refs).toEqual([expect.stringMatching(/^art_/)]);
    expect(answer.tokens_used).toBe(countTokens(line));
    expect(answer.tokens_used).toBeLessThan(2000);
    const next = await at.ask('safe_bash', { continuation: answer.meta.pagination.cursor });
    const [head] = answer.data.stdout.split('…');
    const lastShown = head.trimEnd().split('\n').at(-1);
    expect(next.data.stdout).toMatch(new RegExp(`^${Number(lastShown) + 1}\n`));
    expect(next.has_more).toBe(true);
  });

  it('FR-1.3 NFR-3.3 DATA-1 presents a tool as a directory with its documents and a link that any program can run', async () => {
    const dir = join(at.project, '.claude/tools/safe_bash');
    expect(readdirSync(dir).sort()).toEqual(['TOOL.md', 'TOOL_EXTENDED.md', 'safe_bash', 'schema.json']);
    expect(realpathSync(join(dir, 'safe_bash'))).toBe(PROXY);
    const plain = await at.run('/bin/sh', [
      '-c',
      `echo '{"command":"echo plain"}' | .claude/tools/safe_bash/safe_bash`,
    ]);
    expect(JSON.parse(plain.stdout).data.stdout).toBe('plain\n');
    expect(plain.stderr).toBe('');
  });

  it('FR-3.3 returns the whole output as head, pages and tail, and runs nothing twice', async () => {
    const command = 'echo run >> runs; seq 1 3000; echo oops >&2';
    const first = await at.ask('safe_bash', { command, max_tokens: 1500 });
    const [head = '', tail = ''] = String(first.data.stdout).split(/\n… .* …\n/);
    let middle = '';
    for (let cursor = first.meta.pagination?.cursor; cursor !== undefined; ) {
      const page: Awaited<ReturnType<Installation['ask']>> = await at.ask('safe_bash', {
        continuation: cursor,
        max_tokens: 3000,
      });
      expect(page.success).toBe(true);
      middle += page.data.stdout ?? '';
      cursor = page.meta.pagination?.cursor;
    }
    const whole = Array.from({ length: 3000 }, (_, i) => `${i + 1}\n`).join('');
    // The mark between head and tail is on its own line: its line ends do not belong to the output.
    expect([head, middle, tail].join('').replaceAll('\n', '')).toBe(whole.replaceAll('\n', ''));
    expect(first.data.stderr).toBe('oops\n');
    expect(readFileSync(join(at.project, 'runs'), 'utf8')).toBe('run\n');
  });

  it('SEC-1.1 SEC-1.3 shows no secret from a file, stderr, a variable or an error message', async () => {
    const inStderr = freshSecret();
    const inVariable = freshSecret();
    const inError = freshSecret();
    const bash = await at.call('safe_bash', {
      command: `cat .env; printf 'password=%s\\n' "$(printf '%s' ${inStderr})" >&2; printenv API_TOKEN; env | grep API_TOKEN`,
      env: { API_TOKEN: inVariable },
    });
    const missing = await at.call('safe_read', { path: `api_key=${inError}` });
    expect(JSON.parse(missing.stdout).data.error_code).toBe('PATH_NOT_FOUND');
    const again = await at.call('safe_bash', { command: `tac .env; echo token=$T`, env: { T: inVariable } });
    for (const secret of [fileSecret, inStderr, inVariable, inError]) {
      for (const { stdout, stderr } of [bash, missing, again]) {
        expect(stdout).not.toContain(secret);
        expect(stderr).not.toContain(secret);
      }
      expect(at.filesHolding(secret)).toEqual([]);
    }
    expect(JSON.parse(again.stdout).data.stdout).toContain('[SECRET_1]');
  });

  it('FR-4.2 FR-4.3 reads, writes and refuses a stale write', async () => {
    const written = await at.ask('safe_write', { path: 'notes.md', content: 'one\ntwo\nthree\n', mode: 'create' });
    expect(written.success).toBe(true);
    const read = await at.ask('safe_read', { path: 'notes.md', lines: '2-3' });
    expect(read.data.content).toBe('two\nthree\n');
    const etag = String(read.data.etag);
    writeFileSync(join(at.project, 'notes.md'), 'changed by a person\n');
    const stale = await at.ask('safe_write', {
      path: 'notes.md',
      content: 'x',
      mode: 'overwrite',
      expected_etag: etag,
    });
    expect(stale.data.error_code).toBe('CONFLICT');
    expect(readFileSync(join(at.project, 'notes.md'), 'utf8')).toBe('changed by a person\n');
    expect(statSync(join(at.project, 'notes.md')).uid).toBe(owner ?? process.getuid?.());
  });

  it('SEC-1.4 writes a masked value back into its file through its token', async () => {
    const shown = await at.ask('safe_read', { path: '.env' });
    expect(shown.data.content).toBe('API_KEY=[SECRET_1]\n');
    const edited = `${shown.data.content}DEBUG=1\n`;
    const saved = await at.ask('safe_write', {
      path: '.env',
      content: edited,
      mode: 'overwrite',
      expected_etag: shown.data.etag,
    });
    expect(saved).toMatchObject({ success: true });
    expect(readFileSync(join(at.project, '.env'), 'utf8')).toBe(`API_KEY=${fileSecret}\nDEBUG=1\n`);
    const unknown = await at.ask('safe_write', { path: '.env', content: 'A=[SECRET_999]\n', mode: 'overwrite' });
    expect(unknown.data.error_code).toBe('SECRET_UNKNOWN');
  });

  it('SEC-2.1 SEC-2.3 SEC-2.4 FR-8.4 shows a command the project and nothing else of the host', async () => {
    const outside = join(at.home, 'outside.txt');
    writeFileSync(outside, 'outside');
    const probe = [
      `cat ${outside} 2>&1`,
      `ls ${join(at.project, '..')} | grep -c ctxd-`,
      'exec 9>/proc/sys/kernel/core_pattern',
      'tail -n +3 /proc/net/dev | cut -d: -f1',
      'tr "\\0" "\\n" < /proc/1/environ | grep -c CONTEXTD_HOME',
      'echo wrote > here.txt && cat here.txt',
    ];
    const answers = await Promise.all(probe.map((command) => at.ask('safe_bash', { command })));
    const [file, parent, procSys, network, environment, honest] = answers.map(({ data }) => data);
    expect(file?.stdout).toContain('No such file');
    expect(parent?.stdout).toBe('0\n');
    expect(procSys?.stderr).toMatch(/Permission denied|Read-only file system/);
    expect(String(network?.stdout).trim()).toBe('lo');
    expect(environment?.stdout).toBe('0\n');
    expect(honest?.stdout).toBe('wrote\n');
  });

  it('SEC-5.1 SEC-5.2 SEC-5.3 records every call with its scrubbed input, hash, session and findings', async () => {
    mkdirSync(join(at.project, 'sub'), { recursive: true });
    const session = `s-${randomBytes(4).toString('hex')}`;
    const answer = await at.call(
      'safe_bash',
      { command: 'cat .env; exit 3' },
      { env: { CONTEXTD_SESSION_ID: session } },
    );
    const { stdout } = await at.run(join(import.meta.dirname, '../../bin/ctxd'), [
      'audit',
      'tail',
      '-n',
      '50',
      '--json',
    ]);
    const records: Record<string, unknown>[] = JSON.parse(stdout);
    const record = records.find(({ session: recorded }) => recorded === session);
    expect(record).toMatchObject({
      tool: 'safe_bash',
      project: at.project,
      door: 'grpc',
      secrets_found: 1,
      exit_code: 3,
      error_code: null,
      output_sha256: createHash('sha256').update(answer.stdout.slice(0, -1)).digest('hex'),
      request_id: JSON.parse(answer.stdout).meta.request_id,
    });
    expect(record?.input).toEqual({ command: 'cat .env; exit 3' });
  });
});

/** A hundred commands with different kinds of output: text, code, numbers, many writing systems, special tokens. */
const VARIED: readonly string[] = [
  ...[
    '<|endoftext|>',
    '<|fim_prefix|>x<|im_start|>',
    '日本語のテキスト',
    'مرحبا',
    '🙂🙃👩‍👩‍👧',
    'é e\u0301',
    '\\u0000 \\n',
    '"quoted"',
    "it's",
    '   ',
  ].map((text) => `printf '%s\\n' ${JSON.stringify(text)}`),
  ...Array.from({ length: 30 }, (_, i) => `seq ${i * 37} ${i * 41 + 5}`),
  ...Array.from({ length: 20 }, (_, i) => `head -c ${i * 97 + 1} /usr/share/common-licenses/GPL-3 || true`),
  ...Array.from({ length: 10 }, (_, i) => `printf 'a%.0s' $(seq ${i * 300 + 1})`),
  ...Array.from({ length: 10 }, (_, i) => `printf '%*s|' ${i * 111 + 1} x`),
  ...Array.from({ length: 10 }, (_, i) => `echo out${i}; echo err${i} >&2; exit ${i}`),
  ...Array.from(
    { length: 10 },
    (_, i) => `printf '\\t\\r\\n%.0s' $(seq ${i + 1}); printf '\\033[3${i % 8}mred\\033[0m'`,
  ),
];

it('FR-3.2 reports the true tokens_used for a hundred varied outputs', async () => {
  const at = await install({ warm: true });
  onTestFinished(() => at.remove());
  writeFileSync(join(at.project, 'vary.sh'), VARIED.join('\n'));
  for (let start = 0; start < VARIED.length; start += 10) {
    const batch = VARIED.slice(start, start + 10);
    const lines = await Promise.all(batch.map((command) => at.call('safe_bash', { command })));
    for (const { stdout } of lines) {
      const line = stdout.slice(0, -1);
      expect({ line, tokens: JSON.parse(line).tokens_used }).toEqual({ line, tokens: countTokens(line) });
    }
  }
});
