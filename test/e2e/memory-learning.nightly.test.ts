import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type DaemonCaller, openCaller } from '../helpers/daemon-caller.ts';
import { CTXD, type Installation, install } from '../helpers/installation.ts';
import { generate } from '../helpers/sample-patterns.ts';
import { seededRandom } from '../helpers/secret-samples.ts';

let at: Installation;
let daemon: DaemonCaller;

beforeAll(async () => {
  at = await install();
  daemon = await openCaller(at, 'learning');
});
afterAll(async () => {
  daemon.close();
  await at.remove();
});

const call = async (tool: string, input: object) => (await daemon.call(tool, input)).envelope;
const ctxd = async (...words: string[]) => {
  const { code, stdout, stderr } = await at.run(CTXD, ['memory', ...words]);
  return { code, stderr, stdout, json: () => JSON.parse(stdout) };
};
const listed = async (...words: string[]) => (await ctxd('list', '--json', '--limit', '10000', ...words)).json();

describe('ctxd memory learn', () => {
  it('issue 18 makes a memory of what failed and what repaired it, masked and with the ids of the calls', async () => {
    const secret = generate('ghp_[a-zA-Z0-9]{36}', seededRandom(81));
    const command = `test -f table.sql || { echo "error: no table for ${secret}" >&2; exit 3; }`;
    const failed = await call('safe_bash', { command });
    const made = await call('safe_write', { path: 'table.sql', content: 'CREATE TABLE users;' });
    const passed = await call('safe_bash', { command });
    expect([failed.data.exit_code, passed.data.exit_code]).toEqual([3, 0]);
    const learned = await ctxd('learn', '--task', `Set up ${secret}`, '--json');
    expect(learned.code).toBe(0);
    await expect.poll(() => listed('--pending')).toEqual([]);
    const memories = await listed();
    expect(memories.map(({ title }: { title: string }) => title)).toEqual([
      expect.stringContaining('what made it succeed'),
      'Set up [SECRET:github-pat]',
    ]);
    const [{ id }] = memories;
    const [memory] = (await ctxd('get', id, '--json')).json();
    const ids = [failed, made, passed].map(({ meta }) => meta.request_id);
    expect(memory).toMatchObject({ outcome: 'success', origin: 'distilled', context: 'table.sql', provenance: ids });
    expect(memory.content).toContain('no table for [SECRET:github-pat]');
    expect(memory.content).toContain('- changed table.sql\n    CREATE TABLE users;');
    for (const one of memories) expect(JSON.stringify(one)).not.toMatch(/ghp_|\[SECRET_\d/);
  });

  it('issue 18 refuses calls and sessions that are not on record', async () => {
    const missing = `req_${'0'.repeat(26)}`;
    expect(await ctxd('learn', missing)).toMatchObject({ code: 1, stderr: expect.stringContaining(missing) });
    expect(await ctxd('learn', '--session', 'nobody')).toMatchObject({ code: 1 });
    expect(await ctxd('learn', '--outcome', 'great')).toMatchObject({ code: 2 });
  });
});

describe('ctxd memory report', () => {
  it('issue 18 says that nothing is held out, and counts sessions once something is', async () => {
    expect((await ctxd('report')).stdout).toContain('nothing is held out now');
    await at.run(CTXD, ['config', 'set', 'memory.holdout', '0.5']);
    await at.run(CTXD, ['server', 'restart']);
    await ctxd('add', 'The turbine needs oil', '--content', 'Pour it in before the start.');
    let shown = 0;
    for (let i = 0; i < 12; i++) {
      const session = await openCaller(at, `held-${i}`);
      const { envelope } = await session.call('memory_search', { query: 'turbine oil' });
      shown += (envelope.data.memories as unknown as unknown[]).length;
      session.close();
    }
    const { holdout, memories } = (await ctxd('report', '--json')).json();
    expect(holdout).toBe(0.5);
    expect(memories).toMatchObject([
      { title: 'The turbine needs oil', shown: 0, shown_open: shown, held_out_open: 12 - shown, low: -1, high: 1 },
    ]);
    expect(memories[0].verdict).toBe('too little data');
    await at.run(CTXD, ['config', 'set', 'memory.holdout', '0']);
    await at.run(CTXD, ['server', 'restart']);
  });
});

describe('ctxd memory import', () => {
  it('issue 18 reads the notes of Claude Code, names files that it cannot read, and adds nothing twice', async () => {
    const secret = generate('ghp_[a-zA-Z0-9]{36}', seededRandom(82));
    const notes = join(at.home, 'memory');
    mkdirSync(notes);
    const files = {
      'MEMORY.md': '# Memory\n- [Testing](feedback_testing.md) — real databases\n\n## Deploy\nNever on Fridays.\n',
      'feedback_testing.md': `---\nname: real-databases\ndescription: >-\n  No mocks\n  in tests\nmetadata:\n  type: feedback\n---\n\nUse ${secret}.\n`,
      'build.md': 'Run `make`.\n\n```\n## no heading\n```\n\n# Cache\n## Clearing\nrm -rf .cache\n',
      'empty.md': '',
      'torn.md': '---\nname: torn\nbody',
      'other.txt': 'no note',
    };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(notes, name), text);
    writeFileSync(join(notes, 'binary.md'), Buffer.from([0xff, 0xfe, 0x00]));
    const before = (await listed()).length;
    const first = await ctxd('import', notes);
    expect(first).toMatchObject({ code: 1, stdout: '4 stored, 0 were there already, 3 were left out\n' });
    expect(first.stderr.trim().split('\n')).toEqual([
      'ctxd: memory/binary.md was left out: it is not UTF-8',
      'ctxd: memory/empty.md was left out: it is empty',
      'ctxd: memory/torn.md was left out: its frontmatter has no end',
    ]);
    const found = (await listed()).slice(before);
    expect(found).toMatchObject([
      { title: 'Memory: Deploy', source: 'memory/MEMORY.md', origin: 'import', tags: ['claude'] },
      { title: 'build', content: 'Run `make`.\n\n```\n## no heading\n```' },
      { title: 'Cache: Clearing', content: 'rm -rf .cache' },
      {
        title: 'real-databases',
        description: 'No mocks in tests',
        content: 'Use [SECRET:github-pat].',
        tags: ['claude', 'feedback'],
        source: 'memory/feedback_testing.md',
      },
    ]);
    expect((await ctxd('import', notes, '--json')).json()).toEqual({ stored: 0, unchanged: 4, refused: 3 });
    expect((await ctxd('import', join(notes, 'build.md'), '--json')).json()).toMatchObject({ stored: 0, unchanged: 2 });
  });

  it('issue 18 takes the memories of another project, as imported and only once', async () => {
    const other = mkdtempSync(join(tmpdir(), 'other-'));
    onTestFinished(() => rmSync(other, { recursive: true, force: true }));
    expect(await ctxd('import', '--from-project', other)).toMatchObject({ code: 1 });
    await at.run(CTXD, ['init'], { cwd: other });
    await at.run(CTXD, ['memory', 'add', 'A lesson of the other', '--content', 'x', '--project', other]);
    await at.run(CTXD, ['memory', 'add', 'A global lesson', '--content', 'y', '--project', other]);
    const [, global] = JSON.parse((await at.run(CTXD, ['memory', 'list', '--json'], { cwd: other })).stdout);
    await at.run(CTXD, ['memory', 'promote', '--yes', global.id], { cwd: other });
    expect((await ctxd('import', '--from-project', other, '--json')).json()).toMatchObject({ stored: 1, unchanged: 0 });
    expect((await ctxd('import', '--from-project', other, '--json')).json()).toMatchObject({ stored: 0, unchanged: 1 });
    const found = (await listed()).find(({ title }: { title: string }) => title === 'A lesson of the other');
    expect(found).toMatchObject({
      origin: 'import',
      source: expect.stringContaining('project /'),
      project: at.project,
    });
    expect(await ctxd('import', '--from-project', '.')).toMatchObject({ code: 2 });
    expect(await ctxd('import')).toMatchObject({ code: 2 });
  });

  it('issue 18 reports faults in the order of the lines, also of lines that are too long', async () => {
    const file = join(at.home, 'faulty.jsonl');
    const good = JSON.stringify({ title: 'A good line', content: 'x' });
    const long = JSON.stringify({ title: 'Long', content: 'x'.repeat(2_000_000) });
    writeFileSync(
      file,
      [good, JSON.stringify({ title: 'No outcome', content: 'x', outcome: 'no' }), long, '7', good].join('\n'),
    );
    const { stdout, stderr } = await ctxd('import', file);
    expect(stdout).toBe('1 stored, 1 were there already, 3 were left out\n');
    expect([...stderr.matchAll(/line (\d)/g)].map(([, line]) => line)).toEqual(['2', '3', '4']);
    const taken = join(at.home, 'qdrant:other.jsonl');
    writeFileSync(taken, good);
    expect(await ctxd('import', taken)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('names another machine'),
    });
  });

  it('issue 18 a person is asked before memories are promoted or forgotten', async () => {
    const own = (await listed()).filter(({ scope }: { scope: string }) => scope === 'project');
    const [{ id }] = own;
    for (const command of ['promote', 'forget'])
      expect(await ctxd(command, id)).toMatchObject({ code: 1, stderr: expect.stringContaining('passes --yes') });
    expect((await ctxd('get', id, '--json')).json()).toMatchObject([{ id, scope: 'project' }]);
    const wrong = await ctxd('feedback', id, 'great');
    expect(wrong.stderr).toContain('Pass success, failure, mixed');
  });

  it('issue 18 goes on after it was killed: everything is there, and once', async () => {
    const file = join(at.home, 'many.jsonl');
    const count = 6_000;
    const lines = Array.from({ length: count }, (_, i) =>
      JSON.stringify({ title: `Lesson ${i} x`, content: `About ${i}` }),
    );
    writeFileSync(file, lines.join('\n'));
    const before = (await listed()).length;
    const child = spawn(CTXD, ['memory', 'import', file], { cwd: at.project, env: at.environment });
    const ended = once(child, 'exit');
    while ((await listed()).length === before);
    child.kill('SIGKILL');
    expect(await ended).toEqual([null, 'SIGKILL']);
    const left = (await listed()).length - before;
    expect(left).toBeLessThan(count);
    const { stored, unchanged, refused } = (await ctxd('import', file, '--json')).json();
    expect({ all: stored + unchanged, refused }).toEqual({ all: count, refused: 0 });
    // What the killed import had sent may still have been on its way when it was counted.
    expect(unchanged).toBeGreaterThanOrEqual(left);
    expect((await listed()).length).toBe(before + count);
  });

  it('issue 18 shows on a terminal how far it is', async () => {
    const file = join(at.home, 'many.jsonl');
    const line = `${CTXD} memory import ${file}`;
    const shown = execFileSync('script', ['-qec', line, '/dev/null'], { cwd: at.project, env: at.environment });
    expect(shown.toString()).toMatch(/import.*\[#+\.*\].*memorie/);
  });
});
