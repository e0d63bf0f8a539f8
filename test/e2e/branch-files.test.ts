import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DaemonCaller, openCaller } from '../helpers/daemon-caller.ts';
import { type Installation, install } from '../helpers/installation.ts';

let at: Installation;
let daemon: DaemonCaller;

beforeAll(async () => {
  at = await install();
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
    console.log(JSON.stringify(returned));
  });
});
