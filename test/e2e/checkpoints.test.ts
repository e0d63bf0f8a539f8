import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { getEncoding } from 'js-tiktoken';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DaemonCaller, openCaller } from '../helpers/daemon-caller.ts';
import { CTXD, type Installation, install } from '../helpers/installation.ts';
import { makeTool } from '../helpers/made-tool.ts';
import { generate, seededRandom } from '../helpers/sample-patterns.ts';

const cl100k = getEncoding('cl100k_base');
const SECRET = generate('ghp_[0-9a-zA-Z]{36}', seededRandom(7));

let at: Installation;
let daemon: DaemonCaller;
beforeAll(async () => {
  at = await install();
  daemon = await openCaller(at, 'one');
});
afterAll(async () => {
  daemon.close();
  await at.remove();
});

const call = async (tool: string, input: object) => (await daemon.call(tool, input)).envelope;
const ctxd = async (words: string[], where = at) => {
  const { code, stdout, stderr } = await where.run(CTXD, ['checkpoint', ...words]);
  return { code, stdout, stderr };
};
const hook = (name: string, input: object) =>
  at.run(CTXD, ['hook', name], { input: JSON.stringify({ session_id: 'one', cwd: at.project, ...input }) });
const save = async (input: object = {}) => String((await call('checkpoint_save', input)).data.checkpoint_id);
const restored = async (input: object) => String((await call('checkpoint_restore', input)).data.content);

/** Changes rows of the state database while no daemon has it. */
async function whileStopped(change: (database: DatabaseSync) => void): Promise<void> {
  daemon.close();
  await at.run(CTXD, ['server', 'stop']);
  const database = new DatabaseSync(join(at.home, 'state/contextd.db'));
  change(database);
  database.close();
  await at.run(CTXD, ['server', 'start']);
  daemon = await openCaller(at, 'one');
}

describe('checkpoints', () => {
  it('FR-7.1 FR-7.2 FR-7.3 FR-7.4 CE-1.5 CE-2.3 tell an agent that knows nothing what was done, what fails and what is next', async () => {
    await hook('post-tool', {
      tool_name: 'TodoWrite',
      tool_input: { todos: [{ content: 'fix the parser', status: 'pending' }] },
    });
    await call('safe_write', { path: 'src/parser.ts', content: 'export {}\n' });
    await call('safe_bash', { command: 'echo no such rule >&2; exit 3' });
    await call('safe_bash', { command: 'false' });
    await call('safe_bash', { command: 'true' });
    const { data } = await call('checkpoint_save', { name: 'half way', note: `use ${SECRET} to push` });
    expect(data).toEqual({ checkpoint_id: expect.stringMatching(/^cp_[0-9a-z]{10}$/), position: 6 - 1 });
    const id = String(data.checkpoint_id);
    const { data: list } = await call('checkpoint_list', {});
    expect(list.checkpoints).toEqual([
      { id, name: 'half way', saved: expect.any(String), summary: expect.stringContaining('4 calls, 2 failed') },
    ]);
    for (const level of ['summary', 'context', 'full']) {
      const { line, envelope } = await daemon.call('checkpoint_restore', { id, level });
      const content = String(envelope.data.content);
      expect(cl100k.encode(line, [], []).length).toBeLessThan(level === 'summary' ? 301 : 3_000);
      expect(content).toContain('note: "use [SECRET_1] to push"');
      expect(content).toContain('to do: "[ ] fix the parser"');
      expect(content).toContain('failing: "false: exit 1", "echo no such rule >&2; exit 3: exit 3"');
      expect(content).toContain('files written: "src/parser.ts"');
      expect(content.includes('safe_bash true: ok')).toBe(level !== 'summary');
    }
    expect((await call('checkpoint_restore', { id })).data.level).toBe('context');
    expect(at.filesHolding(SECRET)).toEqual([]);
  });

  it('CE-1.5 keep their budgets in a long session, and full shows every event through its cursor', async () => {
    for (let n = 0; n < 60; n++) await call('safe_bash', { command: `echo ${n} ${'überlange Wörter '.repeat(12)}` });
    const id = await save({ note: `${'long note '.repeat(700)}` });
    const sizes = await Promise.all(
      ['summary', 'context'].map(async (level) => {
        const { line, envelope } = await daemon.call('checkpoint_restore', { id, level });
        expect(envelope.truncated).toBe(false);
        return cl100k.encode(line, [], []).length;
      }),
    );
    expect(sizes[0]).toBeLessThanOrEqual(300);
    expect(sizes[1]).toBeLessThan(3_000);
    expect(sizes[1]).toBeGreaterThan(2_000);
    let page = await call('checkpoint_restore', { id, level: 'full' });
    let text = String(page.data.content);
    while (page.has_more) {
      page = await call('checkpoint_restore', { continuation: page.meta.pagination?.cursor });
      expect(page.tokens_used).toBeLessThan(3_000);
      text += String(page.data.content);
    }
    for (let n = 0; n < 60; n++) expect(text).toContain(`safe_bash echo ${n} `);
  });

  it('FR-7.2 are refused if they are missing, of another session, of a newer contextd or damaged', async () => {
    const [newer, damaged, whole] = [await save(), await save(), await save()];
    const refused = async (id: string, caller = daemon) =>
      (await caller.call('checkpoint_restore', { id })).envelope.data.error_code;
    expect(await refused('cp_0000000000')).toBe('NOT_FOUND');
    expect(await refused("' OR 1=1")).toBe('NOT_FOUND');
    const other = await openCaller(at, 'two');
    expect(await refused(whole, other)).toBe('NOT_FOUND');
    expect((await other.call('checkpoint_list', {})).envelope.data.checkpoints).toEqual([]);
    other.close();
    await whileStopped((database) => {
      database.prepare('UPDATE checkpoints SET format = 2 WHERE id = ?').run(newer);
      database.prepare(`UPDATE checkpoints SET body = replace(body, 'calls', 'cells') WHERE id = ?`).run(damaged);
    });
    expect(await refused(newer)).toBe('VERSION_MISMATCH');
    expect(await refused(damaged)).toBe('INTEGRITY_FAILED');
    const both = await Promise.all([restored({ id: whole }), restored({ id: whole })]);
    expect(both[0]).toBe(both[1]);
    expect((await call('checkpoint_restore', { id: whole, level: 'all' })).data.error_code).toBe('ARGS_INVALID');
  });

  it('move to another machine as a checked file without a secret or its number', async () => {
    const id = await save({ name: 'to move', note: `token ${SECRET}, seen as [SECRET_1] and [SECRET_99]` });
    const file = join(at.home, 'exported.json');
    expect(await ctxd(['export', id, file])).toMatchObject({ code: 0 });
    const text = readFileSync(file, 'utf8');
    expect(text).not.toContain(SECRET);
    expect(text).not.toMatch(/SECRET_\d/);
    expect(text).toContain('token [SECRET:');
    expect((await ctxd(['export', id, file])).stderr).toContain('Name a file that does not exist.');
    const there = await install();
    try {
      const imported = await ctxd(['import', file, '--session', 'elsewhere', '--json'], there);
      const item = JSON.parse(imported.stdout);
      expect(item).toMatchObject({ name: 'to move', cause: 'import', session: 'elsewhere' });
      const caller = await openCaller(there, 'elsewhere');
      const { data } = (await caller.call('checkpoint_restore', { id: item.id })).envelope;
      caller.close();
      expect(data.content).toContain('token [SECRET:');
      expect(data.content).toContain('"src/parser.ts"');
      const bad = (change: (text: string) => string) => {
        writeFileSync(join(there.home, 'bad.json'), change(text));
        return ctxd(['import', join(there.home, 'bad.json')], there);
      };
      expect((await bad((whole) => whole.replace('to move', 'to mave'))).stderr).toContain('is damaged');
      expect((await bad((whole) => whole.replace('"format":1', '"format":2'))).stderr).toContain('has format 2');
      expect((await bad((whole) => whole.slice(0, -20))).stderr).toContain('is not an exported checkpoint');
      expect((await bad(() => '[]')).stderr).toContain('is not an exported checkpoint');
      expect(JSON.parse((await ctxd(['list', '--json'], there)).stdout)).toHaveLength(1);
    } finally {
      await there.remove();
    }
  });

  it('survive SIGKILL while they are saved: each that was answered is whole', async () => {
    const { pid } = await at.status();
    const lanes = await Promise.all(Array.from({ length: 4 }, (_, lane) => openCaller(at, `lane-${lane}`)));
    const answered: { lane: number; id: string; note: string }[] = [];
    const saving = lanes.map(async (caller, lane) => {
      for (let n = 0; ; n++) {
        const note = `note ${lane} ${n}`;
        const answer = await caller.call('checkpoint_save', { note }).catch(() => undefined);
        if (answer?.envelope.success !== true) return;
        answered.push({ lane, id: String(answer.envelope.data.checkpoint_id), note });
        if (answered.length === 40) process.kill(pid, 'SIGKILL');
      }
    });
    await Promise.all(saving);
    for (const caller of [...lanes, daemon]) caller.close();
    await at.run(CTXD, ['server', 'start']);
    daemon = await openCaller(at, 'one');
    expect(answered.length).toBeGreaterThanOrEqual(40);
    for (const { lane, id, note } of answered) {
      const caller = await openCaller(at, `lane-${lane}`);
      const { envelope } = await caller.call('checkpoint_restore', { id, level: 'summary' });
      caller.close();
      expect(envelope.data.content).toContain(`note: "${note}"`);
    }
  });

  it('issue 19 part 8: are saved before a compaction, and named after it', async () => {
    const before = await hook('pre-compact', { trigger: 'auto' });
    const id = /cp_[0-9a-z]{10}/.exec(before.stdout)?.[0] ?? '';
    expect(before.code).toBe(0);
    const after = await hook('session-start', { source: 'compact' });
    expect(after.stdout).toContain(`\`checkpoint_restore ${id}\``);
    expect(await restored({ id })).toContain('saved before a compaction');
    expect((await hook('session-start', { source: 'startup' })).stdout).toBe('');
  });

  it('FR-8.3 are open to an installed tool that was granted them', async () => {
    const dir = join(at.home, 'made', 'keeper');
    const source = `import { serveTool } from '@contextd/sdk';
serveTool({
  name: 'keeper',
  async execute({ host }, { city }) {
    const { checkpoint_id: id } = await host.ask('CheckpointSave', { note: city });
    return { data: { restored: await host.ask('CheckpointRestore', { id, level: 'summary' }) } };
  },
});
`;
    makeTool(dir, {
      ...{ name: 'keeper', grants: ['checkpoint_restore', 'checkpoint_save'], files: { 'main.ts': source } },
      manifest: { runtime: 'node', entry: 'main.ts' },
    });
    await at.run(CTXD, ['config', 'set', 'install.yes_grants', '["checkpoint_save","checkpoint_restore"]']);
    daemon.close();
    await at.run(CTXD, ['server', 'restart']);
    daemon = await openCaller(at, 'one');
    expect(await at.run(CTXD, ['tool', 'install', dir, '--yes'])).toMatchObject({ code: 0 });
    const { data } = await at.ask('keeper', { city: 'Oslo' });
    expect(data.restored).toMatchObject({ level: 'summary', content: expect.stringContaining('note: "Oslo"') });
  });
});
