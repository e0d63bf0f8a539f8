import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, CTXD, type Finished, type Installation, install } from '../helpers/installation.ts';

let at: Installation;
let base: string;
/** The state directory of the other machine. */
let other: string;
beforeAll(async () => {
  at = await install({ warm: false });
  base = mkdtempSync(join(tmpdir(), 'backup-files-'));
  other = join(base, 'home');
});
afterAll(async () => {
  await on(other, 'server', 'stop');
  rmSync(base, { recursive: true, force: true });
  await at.remove();
});

const SESSION = { CONTEXTD_SESSION_ID: 'moved' };
const on = (home: string, ...args: string[]): Promise<Finished> =>
  at.run(CTXD, args, { env: { ...SESSION, CONTEXTD_HOME: home } });
const ask = (home: string, tool: string, input: object): Promise<Answer> =>
  at.ask(tool, input, { env: { ...SESSION, CONTEXTD_HOME: home } });
const inProject = (path: string) => join(at.project, path);
const textOf = (path: string) => (existsSync(inProject(path)) ? readFileSync(inProject(path), 'utf8') : null);
const bash = async (home: string, command: string, more: object = {}) => {
  const answer = await ask(home, 'safe_bash', { command, ...more });
  expect(answer, JSON.stringify(answer)).toMatchObject({ success: true });
  return answer;
};

/** The project as a copy of it on another machine has it: with other inodes and times of change. */
function moveProject(): void {
  const copy = mkdtempSync(join(base, 'project-'));
  cpSync(at.project, copy, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  for (const name of readdirSync(at.project)) rmSync(inProject(name), { recursive: true });
  cpSync(copy, at.project, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
}

describe('the files of projects in a backup', () => {
  it('NFR-2.3 let undo, checkpoints and branches go on after a restore on another machine', {
    timeout: 180_000,
  }, async () => {
    for (const name of ['edited', 'removed', 'later', 'in-branch', 'gone-in-branch'])
      writeFileSync(inProject(name), `${name}\n`);
    mkdirSync(inProject('replaced'));
    writeFileSync(inProject('replaced/old'), 'old\n');
    await ask(at.home, 'checkpoint_save', { name: 'before' });
    const changed = await bash(at.home, 'echo changed >edited; rm removed; echo new >made');
    const undo = String(changed.refs.find((ref) => ref.startsWith('undo_')));
    const opened = await ask(at.home, 'branch', { description: 'try', prompt: 'Try it.', files: 'own' });
    const branch = String(opened.data.branch_id);
    const inside =
      'echo own >>in-branch; rm gone-in-branch; rm -r replaced; mkdir replaced; echo n >replaced/new; chmod 0 made';
    await bash(at.home, inside, { branch });
    const nested = await ask(at.home, 'branch', { description: 'more', prompt: 'More.', files: 'own', branch });
    const child = String(nested.data.branch_id);
    await bash(at.home, 'echo nested >nested', { branch: child });

    const file = join(base, 'state.backup');
    const made = await on(at.home, 'backup', 'create', file);
    expect(made).toMatchObject({ code: 0, stderr: '' });
    expect(made.stdout).toContain('the undo, checkpoints and branches of 1 project');
    expect(made.stdout).toContain('what was in files of projects');
    expect(made.stdout).not.toContain('left out');
    await on(at.home, 'server', 'stop');
    const restored = await on(other, 'backup', 'restore', file);
    expect(restored).toMatchObject({ code: 0, stderr: '' });
    expect(restored.stdout).toContain('copy the projects to the same paths');
    moveProject();

    expect((await bash(other, 'cat in-branch nested; ls replaced', { branch: child })).data.stdout).toBe(
      'in-branch\nown\nnested\nnew\n',
    );
    await bash(other, 'chmod 644 made', { branch });
    const returned = async (id: string) => ask(other, 'return', { branch: id, message: 'done' });
    const inner = await returned(child);
    expect(inner, JSON.stringify(inner)).toMatchObject({ success: true, data: { files: { state: 'merged' } } });
    writeFileSync(inProject('later'), 'a person\n');
    const outer = await returned(branch);
    expect(outer, JSON.stringify(outer)).toMatchObject({ success: true, data: { files: { state: 'merged' } } });
    expect(['in-branch', 'gone-in-branch', 'replaced/old', 'replaced/new', 'nested', 'later'].map(textOf)).toEqual([
      'in-branch\nown\n',
      null,
      null,
      'n\n',
      'nested\n',
      'a person\n',
    ]);
    const merge = String(outer.refs.find((ref) => ref.startsWith('undo_')));
    for (const which of [merge, undo]) {
      const undone = await on(other, 'undo', which, '--yes');
      expect(undone.code, undone.stdout + undone.stderr).toBe(0);
    }
    expect(['edited', 'removed', 'made', 'replaced/old', 'nested'].map(textOf)).toEqual([
      'edited\n',
      'removed\n',
      null,
      'old\n',
      null,
    ]);
    await bash(other, 'echo wrong >edited');
    const listed = await on(other, 'checkpoint', 'list', '--json');
    const checkpoint = /cp_\w+/.exec(listed.stdout)?.[0] ?? listed.stdout;
    const back = await on(other, 'checkpoint', 'restore', checkpoint, '--files', 'report');
    expect(back.stdout + back.stderr).toContain('edited');
  });
});
