import { existsSync, lstatSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DaemonCaller, openCaller } from '../helpers/daemon-caller.ts';
import { CTXD, type Installation, install } from '../helpers/installation.ts';

let at: Installation;
let daemon: DaemonCaller;

beforeAll(async () => {
  at = await install({ warm: true });
  daemon = await openCaller(at, 'branch-files');
});
afterAll(async () => {
  daemon.close();
  await at.remove();
});

const call = async (tool: string, input: object) => (await daemon.call(tool, input)).envelope;
const open = async (more: object = {}) => {
  const opened = await call('branch', { description: 'try it', prompt: 'Try it.', files: 'own', ...more });
  expect(opened).toMatchObject({ success: true, data: { files: 'own' } });
  return String(opened.data.branch_id);
};
const run = async (branch: string | null, command: string) => {
  const envelope = await call('safe_bash', { command, ...(branch === null ? {} : { branch }) });
  expect(envelope, JSON.stringify(envelope)).toMatchObject({ success: true });
  return String(envelope.data.stdout ?? '');
};
const inProject = (path: string) => join(at.project, path);
const textOf = (path: string) => (existsSync(inProject(path)) ? readFileSync(inProject(path), 'utf8') : null);

describe('a branch with files of its own', () => {
  it('issue 19 part 4 keeps its files from the project until it returns, and then merges them', async () => {
    writeFileSync(inProject('kept.txt'), 'kept\n');
    writeFileSync(inProject('gone.txt'), 'gone\n');
    const id = await open();
    await run(id, 'echo new >made.txt; echo more >>kept.txt; rm gone.txt; mkdir -p a/b; echo deep >a/b/c');
    expect([textOf('made.txt'), textOf('kept.txt'), textOf('gone.txt')]).toEqual([null, 'kept\n', 'gone\n']);
    expect(await run(id, 'cat made.txt kept.txt; ls')).toContain('new\nkept\nmore\n');
    const returned = await call('return', { branch: id, message: 'done' });
    expect(returned, JSON.stringify(returned)).toMatchObject({ success: true, data: { files: { state: 'merged' } } });
    expect([textOf('made.txt'), textOf('kept.txt'), textOf('gone.txt')]).toEqual(['new\n', 'kept\nmore\n', null]);
    expect(textOf('a/b/c')).toBe('deep\n');
    const { files_changed: changed } = returned.meta as { files_changed?: readonly string[] };
    expect(changed?.toSorted()).toEqual(['A a/b/c', 'A made.txt', 'D gone.txt', 'M kept.txt']);
    const undo = returned.refs.find((ref) => ref.startsWith('undo_'));
    const undone = await at.run(CTXD, ['undo', String(undo), '--yes']);
    expect(undone.code, undone.stdout + undone.stderr).toBe(0);
    expect([textOf('made.txt'), textOf('kept.txt'), textOf('gone.txt')]).toEqual([null, 'kept\n', 'gone\n']);
  });

  it('issue 19 part 4 a conflict writes nothing and keeps the branch open; a person resolves it path by path', async () => {
    const lines = (changed: Record<number, string>) =>
      `${Array.from({ length: 9 }, (_, i) => changed[i] ?? `line ${i}`).join('\n')}\n`;
    for (const name of ['text.txt', 'mine.txt', 'theirs.txt']) writeFileSync(inProject(name), lines({}));
    const id = await open();
    await run(id, 'sed -i "s/line 1/branch 1/" text.txt mine.txt theirs.txt; echo free >free.txt');
    for (const name of ['text.txt', 'mine.txt', 'theirs.txt']) writeFileSync(inProject(name), lines({ 7: 'person 7' }));
    const refused = await call('return', { branch: id, message: 'done' });
    expect(refused.data.error_code).toBe('CONFLICT');
    for (const part of ['nothing was written', 'text.txt', 'mine.txt', 'theirs.txt', 'changed in both'])
      expect(refused.error).toContain(part);
    expect([textOf('free.txt'), textOf('mine.txt')]).toEqual([null, lines({ 7: 'person 7' })]);
    expect(await run(id, 'cat free.txt')).toContain('free');

    const diff = await at.run(CTXD, ['branch', 'diff', id, '--patch']);
    expect(diff.stdout, diff.stderr).toContain('A free.txt');
    expect(diff.stdout).toContain('conflict: text.txt (changed in both)');
    expect(diff.stdout).toContain('+branch 1');
    const unresolved = await at.run(CTXD, ['branch', 'merge', id, '--keep-base', 'mine.txt', '--yes']);
    expect(unresolved.code).not.toBe(0);
    expect(textOf('free.txt')).toBeNull();
    const choices = ['--keep-base', 'mine.txt', '--take-branch', 'theirs.txt', '--merge-text', 'text.txt', '--yes'];
    const merged = await at.run(CTXD, ['branch', 'merge', id, ...choices]);
    expect(merged.code, merged.stdout + merged.stderr).toBe(0);
    expect(textOf('mine.txt')).toBe(lines({ 7: 'person 7' }));
    expect(textOf('theirs.txt')).toBe(lines({ 1: 'branch 1' }));
    expect(textOf('text.txt')).toBe(lines({ 1: 'branch 1', 7: 'person 7' }));
    expect(textOf('free.txt')).toBe('free\n');
    const late = await call('safe_bash', { command: 'true', branch: id });
    expect(late).toMatchObject({ data: { error_code: 'CONFLICT' }, error: expect.stringContaining('were merged') });
    expect(await call('return', { branch: id, message: 'done' })).toMatchObject({ success: true });
  });

  it('issue 19 part 4 a branch in a branch merges into the outer one only, and what never merges is listed', async () => {
    await run(
      null,
      'git init -q . 2>/dev/null; git -c user.name=a -c user.email=a@example.com commit -q --allow-empty -m first',
    );
    const outer = await open();
    const inner = await open({ branch: outer });
    await run(outer, 'echo outer >outer.txt');
    await run(inner, 'cat outer.txt; echo inner >inner.txt; mkdir -p sub && echo x >sub/.envrc && mkfifo pipe');
    await run(inner, 'git add inner.txt; git -c user.name=a -c user.email=a@example.com commit -qm "inner work"');
    const first = await call('return', { branch: inner, message: 'done' });
    expect(first, JSON.stringify(first)).toMatchObject({ success: true, data: { files: { state: 'merged' } } });
    const files = first.data.files as { not_merged: string[]; commits_not_merged: string[] };
    expect(files.not_merged.join()).toContain('pipe: it is a socket, pipe or device');
    expect(files.commits_not_merged.join()).toMatch(/[0-9a-f]{7} inner work/);
    expect([textOf('inner.txt'), textOf('outer.txt')]).toEqual([null, null]);
    expect(await run(outer, 'cat inner.txt outer.txt')).toContain('inner\nouter\n');
    expect(await call('return', { branch: outer, message: 'done' })).toMatchObject({ success: true });
    expect([textOf('inner.txt'), textOf('outer.txt')]).toEqual(['inner\n', 'outer\n']);
    expect(existsSync(inProject('sub/.envrc'))).toBe(false);
  });

  it('SEC-2.3 a merged link into what commands write is set aside, and one that leads out of the project is reported', async () => {
    const id = await open();
    const home = await run(null, `awk '$5 == ENVIRON["HOME"] { print $4 }' /proc/self/mountinfo`);
    expect(home).toMatch(/storage\/.+\/home\n$/);
    await run(id, `mkdir -p ~/repo; ln -s '${home.trim()}/repo' docs; ln -s /etc/hosts hosts`);
    const returned = await call('return', { branch: id, message: 'done' });
    expect(returned, JSON.stringify(returned)).toMatchObject({
      success: true,
      data: {
        files: {
          set_aside: [expect.stringMatching(/^docs: it leads to .*storage/)],
          reported: ['hosts: it leads out of the project, to /etc/hosts'],
        },
      },
    });
    expect(existsSync(inProject('hosts'))).toBe(true);
    expect(() => lstatSync(inProject('docs'))).toThrow('ENOENT');
  });

  it('issue 19 part 4 discards files, closes what is in it first, and refuses to merge under a call that still works', async () => {
    const outer = await open();
    const inner = await open({ branch: outer });
    await run(inner, 'echo 1 >never.txt');
    const discarded = await call('return', { branch: outer, message: 'no', files: 'discard' });
    expect(discarded).toMatchObject({ success: true, data: { files: { state: 'discarded' }, children: [inner] } });
    expect(textOf('never.txt')).toBeNull();

    const busy = await open();
    const working = call('safe_bash', { command: 'echo 1 >started.txt; sleep 4', branch: busy });
    await expect.poll(() => run(busy, 'ls')).toContain('started.txt');
    const refused = await call('return', { branch: busy, message: 'too early' });
    expect(refused).toMatchObject({ data: { error_code: 'CONFLICT' }, error: expect.stringContaining('1 call still') });
    await working;
    const both = await Promise.all([1, 2].map(() => call('return', { branch: busy, message: 'done' })));
    expect(both.map(({ success }) => success).sort()).toEqual([false, true]);
    expect(textOf('started.txt')).toBe('1\n');
  });

  it('issue 19 part 4 files of a branch that did not return outlive its session and a killed daemon, for a person to merge', async () => {
    const id = await open();
    await run(id, 'echo kept >orphan.txt');
    process.kill((await at.status()).pid, 'SIGKILL');
    daemon.close();
    await at.run(CTXD, ['server', 'start']);
    daemon = await openCaller(at, 'branch-files');
    expect(await run(id, 'cat orphan.txt')).toContain('kept');
    await at.run(CTXD, ['session', 'end', '--session', 'branch-files']);
    const listed = JSON.parse((await at.run(CTXD, ['branch', 'list', '--json'])).stdout) as {
      id: string;
      files: string;
    }[];
    expect(listed.find((one) => one.id === id)).toMatchObject({ files: 'open', state: 'session' });
    expect(textOf('orphan.txt')).toBeNull();
    const merged = await at.run(CTXD, ['branch', 'merge', id, '--yes']);
    expect(merged.code, merged.stdout + merged.stderr).toBe(0);
    expect(textOf('orphan.txt')).toBe('kept\n');
  });
});
