import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CTXD, type Installation, install } from '../helpers/installation.ts';

const PAGE_BYTES = 4096;
let at: Installation;
let state: string;
beforeAll(async () => {
  at = await install();
  state = join(at.home, 'state');
  await echo('before');
});
afterAll(() => at.remove());

const ctxd = (...args: string[]) => at.run(CTXD, args);
const echo = (word: string) => at.ask('safe_bash', { command: `echo ${word}` });
const segments = (): string[] =>
  readdirSync(join(state, 'audit'))
    .sort()
    .map((name) => join(state, 'audit', name));

async function recorded(): Promise<string> {
  return (await ctxd('audit', 'search', 'echo', '--json')).stdout;
}

/** Overwrites every page from `first` on: whichever a query needs, it is damaged. */
function damagePages(file: string, first: number): void {
  for (let page = first; page * PAGE_BYTES < statSync(file).size; page++) damagePage(file, page);
}

/** Counts from 0. */
function damagePage(file: string, page: number): void {
  const fd = openSync(file, 'r+');
  writeSync(fd, Buffer.alloc(PAGE_BYTES, 0xa5), 0, PAGE_BYTES, page * PAGE_BYTES);
  closeSync(fd);
}

// Each test ends with everything at work again, and the next one begins there.
describe('a damaged file of the state', () => {
  it('NFR-2.1 SEC-5.4 pages of the database: calls and the next start name the file and the remedy, and after the remedy all works with the whole audit log', async () => {
    const file = join(state, 'contextd.db');
    await ctxd('server', 'restart');
    damagePages(file, 1);
    const remedy = `Stop contextd, move ${file} and ${file}-wal to another folder to keep them, start it, then run \`ctxd init\` in each project.`;
    const refused = await echo('refused');
    expect(refused.error).toContain(`${file} is damaged or not a contextd database`);
    expect(refused.data).toMatchObject({ error_code: 'INTERNAL_ERROR', remediation: remedy });
    await ctxd('server', 'stop');
    const damaged = readFileSync(file);
    const start = await ctxd('server', 'start');
    expect(start.code).toBe(69);
    expect(start.stderr).toContain(`${file} is damaged or not a contextd database`);
    expect(start.stderr).toContain(remedy);
    expect((await echo('unstarted')).data.error_code).toBe('DAEMON_UNAVAILABLE');
    expect(readFileSync(file).equals(damaged)).toBe(true);

    for (const part of [file, `${file}-wal`]) if (existsSync(part)) renameSync(part, `${part}.kept`);
    expect((await ctxd('server', 'start')).code).toBe(0);
    expect((await ctxd('init')).code).toBe(0);
    expect((await echo('after')).data.stdout).toBe('after\n');
    expect((await ctxd('audit', 'verify')).stdout).toMatch(/^ok: /);
    const records = await recorded();
    for (const word of ['before', 'after']) expect(records).toContain(`echo ${word}`);
  });

  it('NFR-2.1 a page of any database that no call needs: doctor finds it, and names the file and the remedy', async () => {
    const files = [
      join(state, 'contextd.db'),
      ...['memory.db', 'sessions.db'].map((name) => join(at.home, 'data', name)),
    ];
    for (const file of files) {
      await ctxd('server', 'stop');
      const sound = readFileSync(file);
      const database = new DatabaseSync(file);
      const unread = database.prepare(
        'SELECT name, rootpage FROM sqlite_master WHERE rootpage > 0 ORDER BY rootpage DESC',
      );
      const pages = unread.all().map(({ rootpage }) => Number(rootpage));
      database.close();
      let found = false;
      for (const page of pages) {
        damagePage(file, page - 1);
        const isUp = (await ctxd('server', 'start')).code === 0 && (await echo('on')).data.stdout === 'on\n';
        const { code, stdout } = await ctxd('doctor');
        await ctxd('server', 'stop');
        writeFileSync(file, sound);
        if (!isUp) continue;
        expect(code).toBe(1);
        expect(stdout).toMatch(new RegExp(`fail {2}databases: ${file} is damaged.*\\n.*move ${file} and ${file}-wal`));
        found = true;
        break;
      }
      expect(found, file).toBe(true);
    }
    expect((await ctxd('server', 'start')).code).toBe(0);
    expect((await ctxd('doctor')).stdout).toContain('databases: every page can be read');
  });

  it('SEC-5.4 a truncated segment of the audit log: the next call goes on in a new one, every tool that reads the log names the place, and nothing more is lost', async () => {
    await echo('cut');
    const [cut = ''] = segments();
    truncateSync(cut, statSync(cut).size - 100);
    expect((await echo('while')).data.stdout).toBe('while\n');
    await ctxd('server', 'stop');
    expect(segments().length).toBe(2);
    const newest = segments().find((one) => one !== cut) ?? '';
    truncateSync(newest, statSync(newest).size - 1);
    expect((await ctxd('server', 'start')).code).toBe(0);
    expect((await echo('after')).data.stdout).toBe('after\n');

    const verified = await ctxd('audit', 'verify');
    expect(verified.code).toBe(1);
    expect(verified.stdout).toContain('is not a whole line');
    expect(verified.stdout).toContain('comes after record');
    const { stdout } = await ctxd('doctor');
    expect(stdout).toMatch(/warn {2}audit chain: .* was not as it was written\n.*`ctxd audit verify`/);
    const records = await recorded();
    for (const word of ['before', 'while', 'after']) expect(records).toContain(`echo ${word}`);
    expect((await ctxd('audit', 'tail')).stderr).toContain('could not be read: `ctxd audit verify` names the place');
  });

  it('SEC-5.4 a truncated key of the audit log: no daemon starts without saying so, and with a new key the log goes on and says from where', async () => {
    await ctxd('server', 'stop');
    const key = join(state, 'audit.key');
    truncateSync(key, 0);
    for (const command of ['server start', 'audit verify', 'audit head']) {
      const { code, stderr } = await ctxd(...command.split(' '));
      expect(code).not.toBe(0);
      expect(stderr).toContain(`${key} holds no key of 32 bytes`);
      expect(stderr).toContain(`move ${key} to another folder and run \`ctxd server start\``);
    }
    renameSync(key, `${key}.kept`);
    expect((await ctxd('server', 'start')).code).toBe(0);
    expect((await echo('after')).data.stdout).toBe('after\n');
    expect((await ctxd('audit', 'verify')).stdout).toContain('begins a chain with a new key');
    expect(await recorded()).toContain('echo before');
  });

  it('SEC-3.1 damaged certificates: ctxd names the folder and the remedy, which makes new ones', async () => {
    for (const name of ['ca.pem', 'cli.pem', 'proxy.pem']) writeFileSync(join(state, 'certs', name), '');
    const status = await ctxd('server', 'status');
    expect(status.stderr).toContain(`the certificates in ${join(state, 'certs')} are damaged`);
    expect(status.stderr).toContain('Run `ctxd server restart`, which makes new ones.');
    expect((await ctxd('server', 'restart')).code).toBe(0);
    expect((await echo('after')).data.stdout).toBe('after\n');
  });
});
