import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadCounter } from '#src/tokens/counter.js';
import { CTXD, type Installation, install, isAlive } from '../helpers/installation.ts';
import { generate, seededRandom } from '../helpers/sample-patterns.ts';

const HOOKS = ['session-start', 'pre-compact', 'stop', 'post-tool'];
const QUIET = { code: 0, signal: null, stderr: '' };
const SILENT = { code: 0, signal: null, stdout: '', stderr: '' };

let at: Installation;
beforeAll(async () => {
  at = await install();
});
afterAll(() => at.remove());

const hook = (name: string, input: object | string, where = at) =>
  where.run(CTXD, ['hook', name], { input: typeof input === 'string' ? input : JSON.stringify(input) });

/** Gives `use` a CONTEXTD_HOME whose daemon accepts connections and never answers, and a list that grows with each of them. */
async function withStuckDaemon(use: (env: Record<string, string>, accepted: readonly string[]) => Promise<void>) {
  const stuck = mkdtempSync(join(tmpdir(), 'stuck-'));
  const accepted: string[] = [];
  const server = createServer((connection) => {
    accepted.push('one');
    connection.on('error', () => {});
  });
  try {
    mkdirSync(join(stuck, 'run'));
    mkdirSync(join(stuck, 'state'));
    // Valid certificates, so that the hook gets as far as the listener.
    cpSync(join(at.home, 'state/certs'), join(stuck, 'state/certs'), { recursive: true });
    await new Promise<void>((resolve) => server.listen(join(stuck, 'run/contextd.sock'), resolve));
    await use({ CONTEXTD_HOME: stuck }, accepted);
  } finally {
    server.close();
    rmSync(stuck, { recursive: true });
  }
}

describe('issue 19 part 8: hooks', () => {
  it('record messages and to-do lists as events of the session of the client, masked and once', async () => {
    const secret = generate('ghp_[0-9a-zA-Z]{36}', seededRandom(19));
    const transcript = join(at.project, 't.jsonl');
    const asked = { type: 'user', message: { role: 'user', content: `Use ${secret} to push.` } };
    writeFileSync(transcript, JSON.stringify(asked));
    const common = { session_id: 'conversation', cwd: at.project, transcript_path: transcript };
    const created = { tool_name: 'TaskCreate', tool_input: { subject: 'push' }, tool_response: { task: { id: '1' } } };
    expect(await hook('post-tool', { ...common, ...created })).toEqual(SILENT);
    for (const name of ['stop', 'pre-compact', 'stop'])
      expect(await hook(name, { ...common, last_assistant_message: `Pushed with ${secret}.` })).toMatchObject({
        code: 0,
        stderr: '',
        stdout:
          name === 'stop' ? '' : expect.stringMatching(/^Name cp_\w+ in the summary, a checkpoint of contextd: .*\n$/),
      });
    expect(await hook('stop', { ...common, last_assistant_message: 'As [SECRET_1] and [SECRET_9].' })).toEqual(SILENT);
    rmSync(transcript);
    await at.run(CTXD, ['server', 'stop']);
    expect(at.filesHolding(secret)).toEqual([]);
    const database = new DatabaseSync(join(at.home, 'data/sessions.db'), { readOnly: true });
    const sql = `SELECT seq, kind, json_extract(facts, '$.role') AS role, text FROM events
                 WHERE log = (SELECT number FROM logs WHERE project = ? AND session = ?) ORDER BY seq`;
    const events = database.prepare(sql).all(at.project, 'conversation');
    database.close();
    const messages = events.filter(({ kind }) => kind === 'message');
    expect(messages.map(({ seq, kind, role, text }) => [seq, kind, role, text])).toEqual([
      [1, 'message', 'task', '#1 [ ] push'],
      [2, 'message', 'user', 'Use [SECRET_1] to push.'],
      [3, 'message', 'agent', 'Pushed with [SECRET_1].'],
      [5, 'message', 'agent', 'As [SECRET_1] and [SECRET\\_9].'],
    ]);
  });

  it('session-start shows the warm start after a start, a resume, a clear and a compaction, and nothing before there was work', async () => {
    const fresh = await install({ warm: true });
    const start = async (session_id: string, source: string) => {
      const shown = await hook('session-start', { session_id, source, cwd: fresh.project }, fresh);
      expect(shown).toMatchObject(QUIET);
      return shown.stdout;
    };
    try {
      expect(await start('first', 'startup')).toBe('');
      const env = { CONTEXTD_SESSION_ID: 'first' };
      await fresh.call('safe_bash', { command: 'echo broken >&2; exit 3' }, { env });
      const before = 'The one before, first, did something last at';
      for (const [session, source] of [
        ['second', 'startup'],
        ['third', 'clear'],
      ] as const) {
        // The sessions that only started do not hide the one that worked.
        const shown = await start(session, source);
        expect(shown).toContain(before);
        expect(shown).toContain('exit 3');
        expect(shown).not.toContain('compacted');
      }
      expect(await start('first', 'resume')).toMatch(/This session: 1 events, /);
      const named = await hook('pre-compact', { session_id: 'first', trigger: 'auto', cwd: fresh.project }, fresh);
      const [id = ''] = /cp_\w+/.exec(named.stdout) ?? [];
      const compacted = await start('first', 'compact');
      expect(compacted).toMatch(
        /^This conversation was compacted\. `checkpoint_restore cp_\w+` shows what the session did\./,
      );
      expect(compacted).toContain(`checkpoint ${id}, saved before a compaction`);
      expect(compacted).toMatch(/\nRecorded facts of earlier work\..*\nThis session: 2 events, /s);
      const random = seededRandom(8);
      const commands = Array.from({ length: 40 }, () => `echo ${generate('(?:[a-z]{3,9} ){25}', random)}; exit 4`);
      await Promise.all(commands.map((command) => fresh.call('safe_bash', { command }, { env })));
      await hook('pre-compact', { session_id: 'first', trigger: 'auto', cwd: fresh.project }, fresh);
      const full = await start('first', 'compact');
      const tokens = loadCounter().count(full);
      expect(tokens).toBeGreaterThan(400);
      expect(tokens).toBeLessThanOrEqual(800);
    } finally {
      await fresh.remove();
    }
  });

  it('end by themselves at a daemon that accepts and never answers, and at a client that never ends its input', async () => {
    await Promise.all([
      ...HOOKS.map((name) =>
        withStuckDaemon(async (env, accepted) => {
          expect(await at.run(CTXD, ['hook', name, at.project], { input: '{}', env })).toEqual(SILENT);
          // It asked whether somebody listens, and then for an answer.
          expect(accepted).toEqual(['one', 'one']);
        }),
      ),
      withStuckDaemon(async (env) => {
        const open = spawn(CTXD, ['hook', 'stop', at.project], { env: { ...at.environment, ...env } });
        expect(await new Promise((resolve) => open.on('exit', resolve))).toBe(0);
      }),
    ]);
  });

  it('leave no warning in the log of the daemon', async () => {
    await hook('stop', { session_id: 'quiet', cwd: at.project });
    expect(readFileSync(join(at.home, 'state/daemon.log'), 'utf8')).not.toContain('handshake_refused');
  });

  it('do nothing, start nothing and report success without a daemon, also after one was killed', async () => {
    const { project } = at;
    await at.run(CTXD, ['server', 'start']);
    const { pid } = await at.status();
    process.kill(pid, 'SIGKILL');
    await expect.poll(() => isAlive(pid)).toBe(false);
    const input = { session_id: 's', cwd: project, last_assistant_message: 'done' };
    for (const name of HOOKS) expect(await hook(name, input)).toEqual(SILENT);
    expect((await at.run(CTXD, ['server', 'status'])).code).not.toBe(0);
    const empty = mkdtempSync(join(tmpdir(), 'no-daemon-'));
    try {
      for (const name of HOOKS)
        expect(await at.run(CTXD, ['hook', name], { input: '{}', env: { CONTEXTD_HOME: join(empty, 'c') } })).toEqual(
          SILENT,
        );
      expect(readdirSync(empty)).toEqual([]);
    } finally {
      rmSync(empty, { recursive: true });
    }
  });

  it('report success for input that is no JSON, too long, or of a directory that is no project', async () => {
    await at.run(CTXD, ['server', 'start']);
    for (const broken of ['', '{"session_id":', '[]']) expect(await hook('stop', broken)).toMatchObject(QUIET);
    for (const name of HOOKS) {
      expect(await hook(name, '{"session_id":')).toMatchObject(QUIET);
      expect(await hook(name, { cwd: '/', last_assistant_message: 'x' })).toEqual(SILENT);
      expect(await at.run(CTXD, ['hook', name, '/nowhere'], { input: '{}' })).toEqual(SILENT);
    }
    expect(await hook('stop', 'x'.repeat(65 * 1024 * 1024))).toEqual(SILENT);
  });
});
