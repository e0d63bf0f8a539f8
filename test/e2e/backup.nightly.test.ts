import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { extract } from 'tar';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, CTXD, type Finished, type Installation, install } from '../helpers/installation.ts';

let at: Installation;
/** The state directory of the other machine. */
let other: string;
let base: string;
beforeAll(async () => {
  at = await install({ warm: false, settings: { 'http.enabled': 'true' } });
  base = mkdtempSync(join(tmpdir(), 'backup-'));
  other = join(base, 'home');
});
afterAll(async () => {
  await on(other, 'server', 'stop');
  rmSync(base, { recursive: true, force: true });
  await at.remove();
});

const SESSION = { CONTEXTD_SESSION_ID: 'moved' };
const on = (home: string, ...args: string[]): Promise<Finished> => at.run(CTXD, args, { env: { CONTEXTD_HOME: home } });
const ask = (home: string, tool: string, input: object): Promise<Answer> =>
  at.ask(tool, input, { env: { ...SESSION, CONTEXTD_HOME: home } });
const json = ({ stdout, stderr }: Finished) => {
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout);
};

function filesBelow(dir: string): string[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
}

/** Values that let their holder decode what was masked, speak to the daemon, or write a false record. */
function keysOf(home: string): Buffer[] {
  const state = new DatabaseSync(join(home, 'state/contextd.db'), { readOnly: true });
  const [key] = state.prepare(`SELECT value FROM meta WHERE name = 'daemon_key'`).all();
  const tokens = state.prepare('SELECT sha256 FROM http_tokens').all();
  const credentials = state.prepare('SELECT secret FROM network_credentials').all();
  state.close();
  const certificates = filesBelow(join(home, 'state/certs')).flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line.length === 64),
  );
  return [
    Buffer.from(key?.value instanceof Uint8Array ? key.value : []),
    readFileSync(join(home, 'state/audit.key')),
    ...[...tokens.map(({ sha256 }) => sha256), ...credentials.map(({ secret }) => secret), ...certificates].map(
      (text) => Buffer.from(String(text)),
    ),
  ];
}

describe('a backup', () => {
  it('NFR-2.3 moves memories, artifacts, checkpoints, grants and the audit log of a running daemon to an empty state, without a key', {
    timeout: 120_000,
  }, async () => {
    const long = await ask(at.home, 'safe_bash', { command: 'seq 60000', max_tokens: 500 });
    const short = await ask(at.home, 'safe_bash', { command: 'seq 9000', max_tokens: 500 });
    const cursor = String(short.meta.pagination?.cursor);
    expect([long.refs.length, short.refs.length]).toEqual([1, 1]);
    const lesson = ['Moving', '--description', 'how to move', '--content', 'pack first'];
    expect((await on(at.home, 'memory', 'add', ...lesson)).stderr).toBe('');
    await ask(at.home, 'checkpoint_save', { name: 'before the move' });
    writeFileSync(join(base, 'secret'), `moving-${'x7Kq'.repeat(6)}`);
    const bound = await on(
      at.home,
      'network',
      'credential',
      'add',
      'api.example.com',
      '--from',
      `file:${join(base, 'secret')}`,
      '--yes',
    );
    const token = await on(at.home, 'http', 'token', '--name', 'mover');
    expect([bound.stderr, token.stderr]).toEqual(['', '']);
    const head = (await on(at.home, 'audit', 'head')).stdout;

    const file = join(base, 'state.backup');
    const made = await on(at.home, 'backup', 'create', file);
    expect(made).toMatchObject({ code: 0, stderr: '' });
    expect(made.stdout).toContain('left out: 1 bound credential; give again with `ctxd network credential add HOST`');
    expect(made.stdout).toContain('left out: 1 HTTP token');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(at.home, 'state/backup'))).toEqual([]);
    expect(await on(at.home, 'backup', 'create', file)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('exists'),
    });
    expect(await on(at.home, 'backup', 'restore', file)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('another contextd holds'),
    });
    await on(at.home, 'server', 'stop');
    expect(await on(at.home, 'backup', 'restore', file)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the state is not empty'),
    });

    const unpacked = join(base, 'unpacked');
    mkdirSync(unpacked);
    await extract({ file, cwd: unpacked });
    const keys = keysOf(at.home);
    expect(keys.length).toBeGreaterThan(10);
    for (const path of filesBelow(unpacked)) {
      const bytes = readFileSync(path);
      expect(
        keys.filter((key) => key.length > 0 && bytes.includes(key)),
        path,
      ).toEqual([]);
    }

    const restored = await on(other, 'backup', 'restore', file, '--json');
    const { logs } = json(restored);
    expect(logs).toHaveLength(1);
    const page = await ask(other, 'tool_view', { ref: long.refs[0], view: { tail: 2 } });
    expect(JSON.stringify(page)).toContain('60000');
    const small = await ask(other, 'tool_view', { ref: short.refs[0], view: { tail: 2 } });
    expect(JSON.stringify(small)).toContain('9000');
    const stale = await ask(other, 'safe_bash', { continuation: cursor });
    expect(stale.data.error_code).toBe('CURSOR_INVALID');
    const found = json(await on(other, 'memory', 'search', 'moving', '--json'));
    expect(JSON.stringify(found)).toContain('Moving');
    const checkpoints = json(
      await at.run(CTXD, ['checkpoint', 'list', '--json'], { env: { ...SESSION, CONTEXTD_HOME: other } }),
    );
    expect(JSON.stringify(checkpoints)).toContain('before the move');
    expect(json(await on(other, 'http', 'tokens', '--json'))).toEqual([]);
    expect(json(await on(other, 'network', 'credential', 'list', '--json'))).toEqual([]);
    await on(other, 'server', 'stop');
    const key = keysOf(other)[0];
    expect(key?.equals(keys[0] ?? Buffer.alloc(0))).toBe(false);

    writeFileSync(join(base, 'heads.jsonl'), head);
    const verified = await on(other, 'audit', 'verify', '--of', logs[0], '--against', join(base, 'heads.jsonl'));
    expect(verified).toMatchObject({ code: 0, stdout: expect.stringMatching(/^ok: \d+ records in 1 segment/) });
    expect((await on(other, 'audit', 'verify')).code).toBe(0);
    const none = await on(other, 'audit', 'search', 'seq 60000');
    const hint = /`ctxd (audit search --of [^`]+)`/.exec(none.stderr)?.[1] ?? '';
    expect(hint).toBe(`audit search --of ${logs[0]}`);
    expect((await on(other, ...hint.split(' '))).stdout).toContain('seq 60000');
    const old = json(await on(other, 'audit', 'search', 'seq 60000', '--of', logs[0], '--json'));
    expect(old).toMatchObject([{ tool: 'safe_bash' }]);
    const dir = join(other, 'state/audit-of', logs[0]);
    const segment = join(dir, readdirSync(dir).find((name) => name.startsWith('audit-')) ?? '');
    writeFileSync(segment, readFileSync(segment, 'utf8').replace('seq 60000', 'seq 60001'));
    expect(await on(other, 'audit', 'verify', '--of', logs[0])).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('is not as it was restored'),
    });
    expect(existsSync(join(other, 'state/backup')) && readdirSync(join(other, 'state/backup'))).toEqual([]);
  });
});
