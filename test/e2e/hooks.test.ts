import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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

describe('issue 19 part 8: hooks', () => {
  it('record messages, to-do lists and files as events of the session of the client, masked and once', async () => {
    const secret = generate('ghp_[0-9a-zA-Z]{36}', seededRandom(19));
    const transcript = join(at.project, 't.jsonl');
    const asked = { type: 'user', message: { role: 'user', content: `Use ${secret} to push.` } };
    writeFileSync(transcript, JSON.stringify(asked));
    const common = { session_id: 'conversation', cwd: at.project, transcript_path: transcript };
    const created = { tool_name: 'TaskCreate', tool_input: { subject: 'push' }, tool_response: { task: { id: '1' } } };
    const edited = { tool_name: 'Edit', tool_input: { file_path: join(at.project, 'src/a.ts') } };
    expect(await hook('post-tool', { ...common, ...created })).toEqual(SILENT);
    expect(await hook('post-tool', { ...common, ...edited })).toEqual(SILENT);
    for (const name of ['stop', 'pre-compact', 'stop'])
      expect(await hook(name, { ...common, last_assistant_message: `Pushed with ${secret}.` })).toMatchObject({
        ...{ code: 0, stderr: '' },
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
      [2, 'message', 'edit', 'src/a.ts'],
      [3, 'message', 'user', 'Use [SECRET_1] to push.'],
      [4, 'message', 'agent', 'Pushed with [SECRET_1].'],
      [6, 'message', 'agent', 'As [SECRET_1] and [SECRET\\_9].'],
    ]);
  });

  it('do nothing, start nothing and report success without a daemon, also after one was killed', async () => {
    const { project } = at;
    await at.run(CTXD, ['server', 'start']);
    const { pid } = await at.status();
    process.kill(pid, 'SIGKILL');
    while (isAlive(pid)) await new Promise(setImmediate);
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
    for (const name of HOOKS) {
      for (const broken of ['', '{"session_id":', '[]']) expect(await hook(name, broken)).toMatchObject(QUIET);
      expect(await hook(name, { cwd: '/', last_assistant_message: 'x' })).toEqual(SILENT);
      expect(await at.run(CTXD, ['hook', name, '/nowhere'], { input: '{}' })).toEqual(SILENT);
    }
    expect(await hook('stop', 'x'.repeat(65 * 1024 * 1024))).toEqual(SILENT);
  });
});
