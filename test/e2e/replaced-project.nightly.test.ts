import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, CTXD, type Installation, install } from '../helpers/installation.ts';
import { AT_NIGHT } from '../helpers/property-runs.ts';

let at: Installation;
beforeAll(async () => {
  at = await install({ init: false, warm: true });
});
afterAll(() => at.remove());

/** Counts the daemon's commands that were served by a sandbox started ahead. */
async function readyUsed(): Promise<number> {
  const { stdout } = await at.run(CTXD, ['server', 'status', '--json']);
  return JSON.parse(stdout).sandbox.ready_used;
}

async function readyCount(project: string): Promise<number> {
  const { stdout } = await at.run(CTXD, ['server', 'status', '--json']);
  const { ready } = JSON.parse(stdout).sandbox as { ready: { project: string; count: number }[] };
  return ready.find((one) => one.project === project)?.count ?? 0;
}

async function ask(project: string, tool: string, input: object): Promise<Answer> {
  const { stdout, stderr } = await at.run(join(project, `.claude/tools/${tool}/${tool}`), [JSON.stringify(input)], {
    cwd: project,
  });
  expect(stdout, stderr).toMatch(/^\{"success"/);
  return JSON.parse(stdout);
}

async function init(project: string): Promise<void> {
  const done = await at.run(CTXD, ['init'], { cwd: project });
  expect(done.code, done.stderr).toBe(0);
}

async function git(cwd: string, ...args: string[]): Promise<void> {
  const who = ['-c', 'user.name=a', '-c', 'user.email=a@example.com', '-c', 'init.defaultBranch=main'];
  const done = await at.run('git', [...who, ...args], { cwd });
  expect(done.code, done.stderr).toBe(0);
}

/**
 * Each removes the project `name` below `base` and puts another directory in its place. Returns the path of the new
 * one.
 */
const REPLACEMENTS: Readonly<Record<string, (base: string, name: string, round: number) => Promise<string>>> = {
  'removed and made again': async (base, name) => {
    rmSync(join(base, name), { recursive: true });
    mkdirSync(join(base, name), { recursive: true });
    return join(base, name);
  },
  'renamed away and made again': async (base, name, round) => {
    renameSync(join(base, name), join(base, `${name}-old-${round}`));
    mkdirSync(join(base, name), { recursive: true });
    return join(base, name);
  },
  'removed as a git worktree and added again': async (base, name, round) => {
    if (round === 0) {
      rmSync(join(base, name), { recursive: true });
      mkdirSync(join(base, 'main'));
      await git(join(base, 'main'), 'init', '-q');
      await git(join(base, 'main'), 'commit', '-q', '--allow-empty', '-m', 'first');
    } else await git(join(base, 'main'), 'worktree', 'remove', '--force', join(base, name));
    await git(join(base, 'main'), 'worktree', 'add', '-q', '--detach', join(base, name));
    return join(base, name);
  },
  'in a parent directory that was exchanged': async (base, name, round) => {
    renameSync(base, `${base}-${round}`);
    mkdirSync(join(base, name), { recursive: true });
    return join(base, name);
  },
  'behind a link that leads to another directory': async (base, name, round) => {
    const real = join(base, `version-${round}`, name);
    mkdirSync(real, { recursive: true });
    rmSync(join(base, 'current'), { force: true });
    symlinkSync(`version-${round}`, join(base, 'current'));
    return real;
  },
};

const ROUNDS = 2;
/** A folder that is renamed away, or whose parent is, is as new as one that was removed: another directory has its path. */
const ONLY_AT_NIGHT = ['renamed away and made again', 'in a parent directory that was exchanged'];
const WAYS = Object.keys(REPLACEMENTS).filter((how) => AT_NIGHT || !ONLY_AT_NIGHT.includes(how));

describe.each(WAYS)('NFR-3.3 a project folder that was %s', (how) => {
  const replace = REPLACEMENTS[how];
  let base = '';
  beforeAll(() => {
    base = join(mkdtempSync(join(at.project, 'r-')), 'base');
    mkdirSync(base);
    mkdirSync(join(base, 'p'));
  });

  it('is served at once: its files are written and read, the old ones stay untouched, and sandboxes are prepared for it', async () => {
    await init(join(base, 'p'));
    for (let i = 0; i < 4; i++) await ask(join(base, 'p'), 'safe_bash', { command: `echo ${i} >old` });
    for (let round = 0; round < ROUNDS; round++) {
      const project = (await replace?.(base, 'p', round)) ?? '';
      await init(project);
      // The first call after the exchange goes to the tool's own process, not to a new sandbox.
      const written = await ask(project, 'safe_write', { path: `new-${round}`, content: 'new\n' });
      expect(written, written.error ?? '').toMatchObject({ success: true });
      expect(readFileSync(join(project, `new-${round}`), 'utf8')).toBe('new\n');
      const long = await ask(project, 'safe_bash', { command: 'seq 60000; ls' });
      expect(long, long.error ?? '').toMatchObject({ success: true, data: { exit_code: 0 } });
      expect(long.data.stdout).toContain(`new-${round}\n`);
      expect(long.data.stdout).not.toMatch(/^old$/m);
      expect((await ask(project, 'safe_read', { path: `new-${round}` })).data.content).toBe('new\n');
      expect(statSync(join(project, '.claude/settings.json')).isFile()).toBe(true);
      await expect.poll(() => readyCount(project), { timeout: 20_000 }).toBe(2);
      const before = await readyUsed();
      expect((await ask(project, 'safe_bash', { command: 'ls' })).data.stdout).toContain(`new-${round}\n`);
      expect(await readyUsed()).toBe(before + 1);
    }
  }, 300_000);
});
