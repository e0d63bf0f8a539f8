import { chmodSync, existsSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { miscounted } from '../helpers/audit-ends.ts';
import { CallLoad } from '../helpers/call-load.ts';
import { type Answer, CTXD, type Installation, install, isAlive } from '../helpers/installation.ts';
import { AT_NIGHT, PROPERTY_SEED } from '../helpers/property-runs.ts';
import { seededRandom } from '../helpers/secret-samples.ts';

const RESTARTS = AT_NIGHT ? 50 : 3;
/** Restarts that one call goes through. */
const CARRIED_MAX = 4;
const RESTART_MAX_MS = 30_000;
const random = seededRandom(PROPERTY_SEED);
/** Made at run time, so that no file of the repository looks like it holds one. */
function madeSecret(): string {
  const letters = 'abcdefghijkmnpqrstuvwxyz23456789';
  return `ghp_${Array.from({ length: 36 }, () => letters[Math.floor(random() * letters.length)]).join('')}`;
}
const SECRET = madeSecret();
const env = { CONTEXTD_SESSION_ID: 'long' };

let at: Installation;
beforeAll(async () => {
  at = await install();
  writeFileSync(join(at.project, 'constant'), 'constant\n');
  writeFileSync(join(at.project, 'secret.env'), `TOKEN=${SECRET}\n`);
});
afterAll(() => at.remove());

const file = (name: string): string => join(at.project, name);

/** Waits in its sandbox until the file `name.go` is there, and writes files before and after. */
function waitingCommand(name: string): string {
  return `echo begun >> ${name}.begun; while [ ! -e ${name}.go ]; do sleep 0.05; done; echo done > ${name}.done; cat secret.env`;
}

async function begun(name: string): Promise<void> {
  await expect.poll(() => existsSync(file(`${name}.begun`)), { timeout: 30_000 }).toBe(true);
}

/** A call through a proxy of its own, which ends once `name.go` is there. */
async function longCall(
  name: string,
  command = waitingCommand(name),
): Promise<{ answer: Promise<Answer>; finish(): Promise<Answer> }> {
  for (const end of ['begun', 'go', 'done']) rmSync(file(`${name}.${end}`), { force: true });
  const input = JSON.stringify({ command, timeout_ms: 600_000 });
  const made = at.runProcess('.claude/tools/safe_bash/safe_bash', [input], { env });
  const answer = made.then(({ stdout, stderr }) => {
    if (!stdout.startsWith('{"success"')) throw new Error(`no answer: ${stdout}${stderr}`);
    return JSON.parse(stdout) as Answer;
  });
  answer.catch(() => {});
  await begun(name);
  return {
    answer,
    finish() {
      writeFileSync(file(`${name}.go`), '');
      return answer;
    },
  };
}

async function restart(): Promise<{ previous_pid: number; carried_calls: number; carried_jobs: number }> {
  const { code, stdout, stderr } = await at.run(CTXD, ['server', 'restart', '--json']);
  expect({ code, said: stderr }).toMatchObject({ code: 0 });
  return JSON.parse(stdout);
}

async function verifyAudit(): Promise<void> {
  const verified = await at.run(CTXD, ['audit', 'verify']);
  expect(verified, verified.stdout + verified.stderr).toMatchObject({ code: 0 });
}

/** All that a job has printed: the pages of what `show` leaves out come before the end that it shows. */
async function outputOf(job: number): Promise<string> {
  const shown = await at.ask('jobs', { action: 'show', job }, { env });
  const pages: string[] = [];
  let cursor = shown.meta.pagination?.cursor;
  while (cursor !== undefined) {
    const page = await at.ask('jobs', { continuation: cursor }, { env });
    pages.push(`${page.data.output}`);
    cursor = page.meta.pagination?.cursor;
  }
  return pages.join('') + `${shown.data.output}`.replace(/^… .* bytes omitted; .*\n/, '');
}

const DONE = { success: true, data: { exit_code: 0, stdout: 'TOKEN=[SECRET_1]\n' } };
const NO_LOSS = { lost: [], doubled: [], denied: [], unanswered: [], failedReads: [], refused: {}, interrupted: 0 };

describe('a daemon that is restarted', () => {
  it('NFR-2.3: carries calls and jobs over many restarts under load, and loses, doubles and refuses none', {
    timeout: (RESTARTS + 4) * RESTART_MAX_MS,
  }, async () => {
    const shown = await at.ask('safe_bash', { command: 'cat secret.env' }, { env });
    expect(shown.data.stdout).toBe('TOKEN=[SECRET_1]\n');
    const job = await at.ask('safe_bash', { command: waitingCommand('job'), background: true }, { env });
    expect(job.data).toMatchObject({ job: 1, state: 'running' });
    await begun('job');
    const count = 'n=0; while [ ! -e count.go ]; do n=$((n + 1)); echo line $n; sleep 0.05; done; echo $n > count.end';
    const counting = await at.ask('safe_bash', { command: count, background: true }, { env });
    expect(counting.data).toMatchObject({ job: 2, state: 'running' });
    let through = await longCall('through');
    const load = new CallLoad(at, 'restarts', 4, random);
    load.start();
    for (let made = 0; made < RESTARTS; made++) {
      const call = await longCall('one');
      await load.ended(3);
      // Each daemon stays until the calls of the ones before have ended.
      if (made % CARRIED_MAX === CARRIED_MAX - 1) {
        expect(await through.finish()).toMatchObject(DONE);
        through = await longCall('through');
      }
      const { carried_calls, carried_jobs } = await restart();
      expect(carried_calls).toBeGreaterThanOrEqual(2);
      expect(carried_jobs).toBe(2);
      expect(await call.finish()).toMatchObject(DONE);
      await verifyAudit();
    }
    await load.ended(4);
    const account = await load.stop();
    console.log(JSON.stringify({ restarts: RESTARTS, ...account }));
    expect(account).toMatchObject({ ...NO_LOSS, answered: account.calls });

    expect(await through.finish()).toMatchObject(DONE);
    writeFileSync(file('job.go'), '');
    const waited = await at.ask('jobs', { action: 'wait', job: 1 }, { env });
    expect(waited.data).toMatchObject({ state: 'ended', exit_code: 0, output: 'TOKEN=[SECRET_1]\n' });
    writeFileSync(file('count.go'), '');
    await at.ask('jobs', { action: 'wait', job: 2 }, { env });
    const lines = Array.from({ length: Number(readFileSync(file('count.end'), 'utf8')) }, (_, i) => `line ${i + 1}\n`);
    expect(await outputOf(2)).toBe(lines.join(''));
    await verifyAudit();
    expect(miscounted(at)).toEqual({ open: [], endedTwice: [] });
  });

  it('NFR-2.3: knows after a restart which secret a token of before stands for', {
    timeout: RESTART_MAX_MS * 2,
  }, async () => {
    await at.ask('safe_bash', { command: 'cat secret.env' }, { env });
    await restart();
    const written = await at.ask('safe_write', { path: 'opened.txt', content: '[SECRET_1]\n' }, { env });
    expect(written).toMatchObject({ success: true });
    expect(readFileSync(file('opened.txt'), 'utf8')).toBe(`${SECRET}\n`);
  });

  it('NFR-2.3: numbers a secret that a carried call prints after those that were found meanwhile', {
    timeout: RESTART_MAX_MS * 2,
  }, async () => {
    const secrets = [madeSecret(), madeSecret(), madeSecret()];
    const [before, meanwhile, after] = secrets;
    for (const [i, secret] of secrets.entries()) writeFileSync(file(`numbered-${i}`), `TOKEN=${secret}\n`);
    const show = async (i: number): Promise<string> =>
      `${(await at.ask('safe_bash', { command: `cat numbered-${i}` }, { env })).data.stdout}`;
    const first = await show(0);
    const command = `echo begun > numbered.begun; while [ ! -e numbered.go ]; do sleep 0.05; done; cat numbered-2`;
    const call = await longCall('numbered', command);
    await restart();
    const second = await show(1);
    const third = `${(await call.finish()).data.stdout}`;
    expect(new Set([first, second, third]).size).toBe(3);
    await at.ask('safe_write', { path: 'all.txt', content: first + second + third }, { env });
    expect(readFileSync(file('all.txt'), 'utf8')).toBe(`TOKEN=${before}\nTOKEN=${meanwhile}\nTOKEN=${after}\n`);
  });

  it('NFR-2.3: answers INTERRUPTED for a carried call if the new daemon is killed, and runs it once', {
    timeout: RESTART_MAX_MS * 2,
  }, async () => {
    await at.ask('safe_bash', { command: 'true' }, { env });
    const call = await longCall('orphaned');
    const { previous_pid } = await restart();
    process.kill((await at.status()).pid, 'SIGKILL');
    expect((await call.answer).data).toMatchObject({ error_code: 'INTERRUPTED' });
    await expect.poll(() => isAlive(previous_pid), { timeout: RESTART_MAX_MS }).toBe(false);
    expect(readFileSync(file('orphaned.begun'), 'utf8')).toBe('begun\n');
    await verifyAudit();
    expect(miscounted(at)).toEqual({ open: [], endedTwice: [] });
  });

  it('NFR-2.3: the second of three daemons goes on with its calls when the first has ended', {
    timeout: RESTART_MAX_MS * 4,
  }, async () => {
    const ofFirst = await longCall('first');
    const first = await restart();
    const ofSecond = await longCall('second');
    const second = await restart();
    expect(await ofFirst.finish()).toMatchObject({ success: true });
    await expect.poll(() => isAlive(first.previous_pid), { timeout: RESTART_MAX_MS }).toBe(false);
    expect(isAlive(second.previous_pid)).toBe(true);
    expect(await ofSecond.finish()).toMatchObject({ success: true });
    await expect.poll(() => isAlive(second.previous_pid), { timeout: RESTART_MAX_MS }).toBe(false);
    expect(readFileSync(join(at.home, 'state/daemon.log'), 'utf8')).not.toContain('daemon.crashed');
    await verifyAudit();
    expect(miscounted(at)).toEqual({ open: [], endedTwice: [] });
  });

  it('NFR-2.3: what a person takes back while it is restarted is not allowed in the new daemon', {
    timeout: RESTART_MAX_MS * 6,
  }, async () => {
    const base = realpathSync(dirname(at.home));
    chmodSync(base, 0o755);
    const shared = Array.from({ length: 16 }, (_, i) => join(base, `shared-${i}`));
    for (const path of shared) {
      mkdirSync(path);
      expect(await at.run(CTXD, ['allow', 'path', path])).toMatchObject({ code: 0 });
    }
    let isOver = false;
    const restarted = restart().finally(() => {
      isOver = true;
    });
    const left = [...shared];
    for (let path = left.pop(); path !== undefined; path = isOver ? undefined : left.pop()) {
      const { code, stderr } = await at.run(CTXD, ['allow', 'remove', path]);
      expect(code, stderr).toBe(0);
    }
    await restarted;
    const listed = JSON.parse((await at.run(CTXD, ['allow', 'list', '--json'])).stdout);
    expect(
      JSON.stringify(listed)
        .match(/shared-\d+/g)
        ?.toSorted() ?? [],
    ).toEqual(left.map((path) => path.slice(base.length + 1)).toSorted());
  });

  it('undoes what a call did before and after the restart', { timeout: RESTART_MAX_MS * 2 }, async () => {
    writeFileSync(file('kept.txt'), 'before\n');
    await at.ask('safe_bash', { command: 'true' }, { env });
    const call = await longCall('undone');
    await restart();
    const { meta, refs } = await call.finish();
    expect(meta.files_changed).toEqual(expect.arrayContaining(['A undone.begun', 'A undone.done']));
    const ref = refs.find((one) => one.startsWith('undo_')) ?? '';
    expect(await at.run(CTXD, ['undo', ref, '--yes'])).toMatchObject({ code: 0 });
    expect([existsSync(file('undone.done')), existsSync(file('undone.begun'))]).toEqual([false, false]);
    expect(readFileSync(file('kept.txt'), 'utf8')).toBe('before\n');
  });

  it('says how many calls were carried on', { timeout: RESTART_MAX_MS * 2 }, async () => {
    const call = await longCall('said');
    const { stdout } = await at.run(CTXD, ['server', 'restart']);
    expect(stdout).toMatch(/^contextd \(pid \d+\) was replaced: 1 call carried on, none refused\n/);
    expect(await call.finish()).toMatchObject({ success: true });
  });

  it('cancels a carried call for its caller and for a person', { timeout: RESTART_MAX_MS * 2 }, async () => {
    const call = await longCall('killed');
    await restart();
    const { stdout } = await at.run(CTXD, ['ps', '--json']);
    const { id } = JSON.parse(stdout).items.find(({ kind }: { kind: string }) => kind === 'call');
    expect(await at.run(CTXD, ['kill', id])).toMatchObject({ code: 0 });
    const answer = await call.answer;
    expect(answer).toMatchObject({ success: false, data: { error_code: 'CANCELLED' } });
    expect(answer.error).toContain('a person');
    expect(existsSync(file('killed.done'))).toBe(false);
  });

  it('ends a carried call with an answer if the next daemon is stopped, and no daemon is left', {
    timeout: RESTART_MAX_MS * 2,
  }, async () => {
    const call = await longCall('stopped');
    const { previous_pid } = await restart();
    expect(await at.run(CTXD, ['server', 'stop'])).toMatchObject({ code: 0 });
    const answer = await call.answer;
    expect(answer).toMatchObject({ success: false, data: { error_code: 'INTERRUPTED' } });
    expect(answer.error).toContain('ctxd server stop');
    expect(existsSync(file('stopped.done'))).toBe(false);
    await expect.poll(() => isAlive(previous_pid), { timeout: RESTART_MAX_MS }).toBe(false);
    expect(await at.run(CTXD, ['server', 'status'])).toMatchObject({ code: 69 });
    await at.ask('safe_bash', { command: 'true' }, { env });
    await verifyAudit();
    expect(miscounted(at)).toEqual({ open: [], endedTwice: [] });
  });

  it('answers INTERRUPTED for a carried call if the daemon that runs it is killed', {
    timeout: RESTART_MAX_MS * 2,
  }, async () => {
    await at.ask('safe_bash', { command: 'true' }, { env });
    const call = await longCall('lost');
    const { previous_pid } = await restart();
    process.kill(previous_pid, 'SIGKILL');
    const answer = await call.answer;
    expect(answer.data).toMatchObject({ error_code: 'INTERRUPTED' });
    writeFileSync(file('lost.go'), '');
    const looked = await at.ask('safe_bash', { command: 'sleep 0.3; ls lost.done' }, { env });
    expect(looked.data).toMatchObject({ exit_code: 2 });
    await verifyAudit();
  });

  it('goes on as before if the new daemon does not start', { timeout: RESTART_MAX_MS * 2 }, async () => {
    const call = await longCall('unbroken');
    const { pid } = await at.status();
    const config = join(at.home, 'config/config.json');
    const before = existsSync(config) ? readFileSync(config, 'utf8') : '{}';
    writeFileSync(config, '{"server": {"drain_ms": "soon"}}', { mode: 0o600 });
    const { code, stderr } = await at.run(CTXD, ['server', 'restart']);
    writeFileSync(config, before, { mode: 0o600 });
    expect(code).toBe(69);
    expect(stderr).toMatch(/the new daemon did not start, and the old one goes on: .*drain_ms/);
    expect((await at.status()).pid).toBe(pid);
    expect(isAlive(pid)).toBe(true);
    expect(await at.ask('safe_bash', { command: 'echo on' }, { env })).toMatchObject({ data: { stdout: 'on\n' } });
    expect(await call.finish()).toMatchObject({ success: true });
    expect(await restart()).toMatchObject({ previous_pid: pid });
  });
});
