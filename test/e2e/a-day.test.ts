import { chownSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DaemonCaller, openCaller } from '../helpers/daemon-caller.ts';
import { CTXD, type Installation, install, OTHER_UID } from '../helpers/installation.ts';

/** Tokens that the answer of a tool may cost when a call asks for no budget (CE-1.4, CE-4.1, issue 19 parts 6 and 7). */
const MOST = { session_init: 800, checkpoint_restore: 3_000, other: 2_000 };
const POEM = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];
const lines = (changed: Record<number, string> = {}) => POEM.map((line, i) => `${changed[i] ?? line}\n`).join('');

/** Root works in a project of another user, the case that has more to get wrong. main-job.test.ts has root in its own. */
const OWNERS = process.getuid?.() === 0 ? [OTHER_UID] : [undefined];

describe.each(OWNERS)('issue 19: a day with an agent in a project of user %s', (owner) => {
  let at: Installation;
  let daemon: DaemonCaller;
  const read = (name: string): string => readFileSync(join(at.project, name), 'utf8');
  /** The person's editor. */
  const edit = (name: string, text: string): void => {
    writeFileSync(join(at.project, name), text);
    if (owner !== undefined) chownSync(join(at.project, name), owner, owner);
  };
  // openCaller counts the tokens of each answer again.
  const call = async (tool: string, input: object = {}) => {
    const { envelope } = await daemon.call(tool, input);
    const most = Object.entries(MOST).find(([name]) => name === tool)?.[1] ?? MOST.other;
    expect([tool, envelope.tokens_used <= most]).toEqual([tool, true]);
    return envelope;
  };
  const done = async (tool: string, input: object = {}) => {
    const envelope = await call(tool, input);
    expect(envelope).toMatchObject({ success: true });
    return envelope;
  };
  const sh = (command: string, more: object = {}) => done('safe_bash', { command, ...more });
  const open = async (description: string, more: object = {}) => {
    const { data } = await done('branch', { description, prompt: `Do it: ${description}.`, files: 'own', ...more });
    return String(data.branch_id);
  };
  const ctxd = async (...words: string[]) => {
    const { code, stdout, stderr } = await at.run(CTXD, words);
    return { code, said: stdout + stderr };
  };
  const kill = async (): Promise<void> => {
    daemon.close();
    process.kill((await at.status()).pid, 'SIGKILL');
    await at.run(CTXD, ['server', 'start']);
    daemon = await openCaller(at, 'day');
  };

  // What the morning leaves to the afternoon.
  let outer: string;
  let inner: string;
  let checkpoint: string;

  beforeAll(async () => {
    at = await install({ warm: true, ...(owner === undefined ? {} : { owner }) });
    daemon = await openCaller(at, 'day');
    const identity = '-c user.name=Ann -c user.email=ann@example.com';
    edit('poem.txt', lines());
    edit('check.sh', 'grep -q TEN poem.txt || { echo "error: no line ten" >&2; exit 1; }\n');
    await sh(`git init -q && git add poem.txt check.sh && git ${identity} commit -qm First`);
  });
  afterAll(async () => {
    daemon.close();
    await at.remove();
  });

  it('works, and does a side task in a branch within a branch, whose files nobody else sees', async () => {
    await done('session_init', { task: 'the tenth line' });
    expect(await call('safe_bash', { command: 'sh check.sh' })).toMatchObject({ data: { exit_code: 1 } });
    await done('safe_write', { path: 'notes.md', content: 'ten is missing\n' });
    outer = await open('write the tenth line');
    await sh('echo TEN >>poem.txt; mkdir lib && echo outer >lib/outer.txt', { branch: outer });
    await done('safe_write', { path: 'lib/made.txt', content: 'by a core tool\n', branch: outer });
    inner = await open('try another form', { branch: outer });
    await sh('grep -q TEN poem.txt && echo inner >lib/inner.txt && rm notes.md', { branch: inner });
    expect((await sh('ls lib', { branch: outer })).data.stdout).toBe('made.txt\nouter.txt\n');
    expect((await sh('ls lib', { branch: inner })).data.stdout).toBe('inner.txt\nmade.txt\nouter.txt\n');
    expect(read('poem.txt')).toBe(lines());
    expect(existsSync(join(at.project, 'lib'))).toBe(false);
  });

  it('goes on in both branches after the daemon was killed, and the inner one returns into the outer one', async () => {
    await kill();
    expect((await sh('cat lib/inner.txt; ls', { branch: inner })).data.stdout).toMatch(/^inner\n(?!.*notes)/s);
    const { data } = await done('return', { branch: inner, message: 'It works.' });
    expect(data.message).toBe('It works.');
    expect((await sh('cat lib/inner.txt; ls', { branch: outer })).data.stdout).toMatch(/^inner\n(?!.*notes)/s);
    expect(existsSync(join(at.project, 'lib'))).toBe(false);
    expect(read('notes.md')).toBe('ten is missing\n');
  });

  it('survives a compaction: a new agent finds its way with session_init alone', async () => {
    const saved = await done('checkpoint_save', { note: 'next: return the outer branch' });
    checkpoint = String(saved.data.checkpoint_id);
    const text = String((await done('session_init')).data.text);
    // From here on, the agent knows only what it has read.
    expect(/\bbr_[0-9a-z]{10}\b/.exec(text)?.[0]).toBe(outer);
    expect(/\bcp_[0-9a-z]{10}\b/.exec(text)?.[0]).toBe(checkpoint);
    expect(text).toContain('sh check.sh');
    const { data } = await done('checkpoint_restore', { id: checkpoint });
    expect(data.content).toContain('next: return the outer branch');
    expect(data.content).toContain('write the tenth line');
  });

  it('takes back what a call did through bash, and all files to the checkpoint', async () => {
    await sh('rm notes.md; echo spoiled >poem.txt');
    expect((await ctxd('undo', '--yes')).code).toBe(0);
    expect([read('poem.txt'), read('notes.md')]).toEqual([lines(), 'ten is missing\n']);
    await sh('echo spoiled again >poem.txt');
    await sh('echo extra >extra.txt');
    await done('checkpoint_restore', { id: checkpoint, files: 'apply' });
    expect([read('poem.txt'), existsSync(join(at.project, 'extra.txt'))]).toEqual([lines(), false]);
  });

  it('returns with a conflict that writes nothing, and merges when a person has resolved it', async () => {
    edit('poem.txt', lines({ 0: 'ONE' }));
    edit('lib.txt', 'of a person\n');
    const refused = await call('return', { branch: outer, message: 'The tenth line is there.' });
    expect(refused).toMatchObject({ success: false, data: { error_code: 'CONFLICT' } });
    expect(`${refused.error}`).toContain('poem.txt');
    expect([read('poem.txt'), existsSync(join(at.project, 'lib'))]).toEqual([lines({ 0: 'ONE' }), false]);
    expect((await ctxd('branch', 'list')).said).toContain(outer);
    expect((await ctxd('branch', 'diff', outer)).said).toMatch(/poem\.txt.*changed in both/);
    const merged = await ctxd('branch', 'merge', outer, '--merge-text', 'poem.txt', '--yes');
    expect(merged).toMatchObject({ code: 0 });
    expect(read('poem.txt')).toBe(`${lines({ 0: 'ONE' })}TEN\n`);
    expect([read('lib/outer.txt'), read('lib/inner.txt'), read('lib/made.txt')]).toEqual([
      'outer\n',
      'inner\n',
      'by a core tool\n',
    ]);
    expect([existsSync(join(at.project, 'notes.md')), read('lib.txt')]).toEqual([false, 'of a person\n']);
    expect((await sh('sh check.sh')).data.exit_code).toBe(0);
  });

  it('returns a branch without a conflict by itself, and a person can undo the merge', async () => {
    const id = await open('a title');
    await sh('{ echo TITLE; cat poem.txt; } >new && mv new poem.txt', { branch: id });
    const returned = await done('return', { branch: id, message: 'Has a title now.' });
    expect(returned.meta.files_changed).toEqual(['M poem.txt']);
    expect(read('poem.txt')).toMatch(/^TITLE\nONE\n/);
    expect((await ctxd('undo', '--yes')).code).toBe(0);
    expect(read('poem.txt')).toBe(`${lines({ 0: 'ONE' })}TEN\n`);
  });

  it('CE-4.2 gives the same bytes for every context of the day after another restart', async () => {
    await kill();
    const { stdout, code } = await at.run(CTXD, ['session', 'replay', 'day', '--json']);
    const { contexts } = JSON.parse(stdout) as { contexts: { result: string }[] };
    expect(code).toBe(0);
    expect(contexts.length).toBeGreaterThan(1);
    expect(contexts.filter(({ result }) => result !== 'same')).toEqual([]);
  });
});
