import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import {
  chmod,
  chown,
  lchown,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { layoutFor } from '#src/cli/init/layout.js';
import { prepareInit, prepareUninstall } from '#src/cli/init/project.js';
import { createTool } from '#src/cli/new-tool/create-tool.js';
import { CTXD, install, OTHER_UID, ROOT } from '../helpers/installation.ts';
import { PROXY, TOOLS } from '../unit/cli/init/tree.ts';

const EXCHANGER = join(import.meta.dirname, '../fixtures/exchange-directory.ts');
const isRoot = process.getuid?.() === 0;
if (!isRoot) console.warn('SKIPPED: what root does in directories of other users (only root can)');

/** The directories in which `ctxd init` works, and `ctxd tool new` here. */
const PLACES = ['.claude', '.claude/tools', '.claude/bin', '.claude/tools/safe_bash', '.claude/skills', 'mine'];

let base: string;
beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'contextd-owned-')));
  await chmod(base, 0o755);
});
afterEach(() => rm(base, { recursive: true, force: true }));

/** Owner, mode and bytes of everything below a directory of root, and of itself. */
async function stateOf(directory: string): Promise<Record<string, string>> {
  const state: Record<string, string> = {};
  for (const path of ['', ...(await readdir(directory, { recursive: true })).sort()]) {
    const full = join(directory, path);
    const stats = await lstat(full);
    const bytes = stats.isFile() ? (await readFile(full)).toString('hex') : '';
    state[path] = `${stats.uid}:${stats.gid} ${stats.mode.toString(8)} ${bytes}`;
  }
  return state;
}

/** A directory of root that looks like a project in which `ctxd init` was run: whatever is done to it by path succeeds. */
async function makeCanary(): Promise<string> {
  const canary = join(base, 'canary');
  await mkdir(canary, { mode: 0o755 });
  await (await prepareInit(canary, layoutFor(TOOLS, canary, PROXY), join(base, 'state'))).apply();
  await mkdir(join(canary, 'mine/evil'), { recursive: true });
  for (const path of PLACES) await writeFile(join(canary, path, 'note'), 'of root', { mode: 0o644 });
  return canary;
}

/** A directory of another user, with a project in it. */
async function makeForeign(): Promise<string> {
  const project = join(base, 'home', 'project');
  await mkdir(join(project, 'mine'), { recursive: true });
  for (const path of [dirname(project), project, join(project, 'mine')]) await chown(path, OTHER_UID, OTHER_UID);
  return project;
}

/** A moment in the work of root: a path of the project is made or removed. The directory around it is exchanged then. */
interface Moment {
  readonly change: 'made' | 'removed';
  readonly path: string;
}

/** Runs the work of root, and the owner of the project beside it. Returns whether a directory was exchanged. */
async function whileExchanged(project: string, canary: string, moment: Moment, work: () => Promise<unknown>) {
  const around = dirname(moment.path) === '.' ? '' : dirname(moment.path);
  const args = [moment.change, join(project, moment.path), join(project, around), join(canary, around)];
  const child = spawn(process.execPath, [EXCHANGER, ...args], {
    uid: OTHER_UID,
    gid: OTHER_UID,
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = once(child, 'exit');
  await once(child.stdout, 'data');
  try {
    await work();
  } catch {
    // What is exchanged is refused. Only what happens outside the project counts here.
  }
  child.kill('SIGKILL');
  await ended;
  return existsSync(`${join(project, around)}.away`);
}

describe.skipIf(!isRoot)('root in the project of another user', () => {
  /** A busy machine starts the other user's program late, each time. */
  const RACE_LIMIT_MS = 240_000;
  /** Each moment is tried as often, because the owner is not always in time. */
  const ROUNDS = 3;
  const MADE = ['.claude', '.claude/tools', '.claude/bin', '.claude/tools/safe_bash', '.claude/bin/safe_bash'];
  const REMOVED = ['.claude/bin/safe_bash', '.claude/tools/safe_bash/schema.json', '.claude/tools/safe_bash'];
  const layoutOf = (project: string) => layoutFor(TOOLS, project, PROXY);
  const stateDir = () => join(base, 'state');

  it.each([
    { command: 'init', change: 'made', paths: MADE },
    { command: 'init --uninstall', change: 'removed', paths: REMOVED },
    { command: 'tool new', change: 'made', paths: [`mine/.weather.${process.pid}`] },
  ] as const)(
    'issue 28: $command changes nothing of root while the owner of the project exchanges a directory for a link',
    async ({ command, change, paths }) => {
      const canary = await makeCanary();
      const before = await stateOf(canary);
      let exchanged = 0;
      for (const path of paths.flatMap((one) => Array<string>(ROUNDS).fill(one))) {
        const project = await makeForeign();
        const initialize = async () => (await prepareInit(project, layoutOf(project), stateDir())).apply();
        const work = {
          init: initialize,
          'init --uninstall': async () => (await prepareUninstall(project, stateDir()))?.apply(),
          'tool new': () =>
            createTool({ name: 'weather', language: 'sh', dir: join(project, 'mine/weather') }, join(ROOT, 'sdk')),
        };
        if (command === 'init --uninstall') await initialize();
        if (await whileExchanged(project, canary, { change, path }, work[command])) exchanged += 1;
        await rm(dirname(project), { recursive: true });
        await rm(stateDir(), { recursive: true, force: true });
      }
      expect(exchanged).toBeGreaterThan(0);
      expect(await stateOf(canary)).toEqual(before);
    },
    RACE_LIMIT_MS,
  );

  it('issue 28: a project in which nothing is exchanged gets files of its owner only', async () => {
    const project = await makeForeign();
    await (await prepareInit(project, layoutFor(TOOLS, project, PROXY), join(base, 'state'))).apply();
    const dir = join(project, 'new/weather');
    expect(await createTool({ name: 'weather', language: 'sh', dir }, join(ROOT, 'sdk'))).toContain('tool.json');
    for (const path of await readdir(project, { recursive: true }))
      expect((await lstat(join(project, path))).uid, path).toBe(OTHER_UID);
    await (await prepareUninstall(project, join(base, 'state')))?.apply();
    expect(await readdir(project)).toEqual(['mine', 'new']);
  });

  it('issue 28: init reads and replaces nothing that the owner of the project could not, and says what to do', async () => {
    const project = await makeForeign();
    const init = async () =>
      (await prepareInit(project, layoutFor(TOOLS, project, PROXY), join(base, 'state'))).apply();
    const unreadable = join(project, 'opencode.json');
    await writeFile(unreadable, '{}', { mode: 0o600 });
    await mkdir(join(project, '.claude'));
    await expect(init()).rejects.toMatchObject({
      code: 'PATH_INVALID',
      message: `${project}/.claude cannot be written by the owner of the project (uid ${OTHER_UID}) (EACCES)`,
      remedy: expect.stringContaining('Make it writable for the owner of the project'),
    });
    expect((await readdir(project)).sort()).toEqual(['.claude', 'mine', 'opencode.json']);
    await chown(join(project, '.claude'), OTHER_UID, OTHER_UID);
    const { created, passed_over } = await init();
    expect(created).toContain('.claude/bin/safe_bash');
    expect(passed_over).toMatchObject([{ why: expect.stringContaining('EACCES') }]);
    expect(await readFile(unreadable, 'utf8')).toBe('{}');
    expect((await lstat(unreadable)).uid).toBe(0);
  });

  it('issue 28: root works in a directory of root below a directory of another user, and follows no link there', async () => {
    const canary = await makeCanary();
    const before = await stateOf(canary);
    const project = await makeForeign();
    await chown(project, 0, 0);
    await symlink(join(canary, '.claude'), join(project, '.claude'));
    const init = async () =>
      (await prepareInit(project, layoutFor(TOOLS, project, PROXY), join(base, 'state'))).apply();
    await expect(init()).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('.claude is a symbolic link'),
    });
    await rm(join(project, '.claude'));
    await init();
    expect((await lstat(join(project, '.claude/bin/safe_bash'))).uid).toBe(0);
    expect(await stateOf(canary)).toEqual(before);
  });

  it('issue 28: commands follow no link that another user placed on the way to a directory of root', async () => {
    const canary = await makeCanary();
    const machine = await install({ owner: OTHER_UID, warm: true });
    const run = (...words: string[]) => machine.run(CTXD, words);
    try {
      const before = await stateOf(canary);
      const home = join(base, 'home');
      const project = await makeForeign();
      for (const [name, target] of [
        ['outside', canary],
        ['inside', project],
      ] as const) {
        await symlink(target, join(home, name));
        await lchown(join(home, name), OTHER_UID, OTHER_UID);
      }
      const refused = { code: 2, stderr: expect.stringContaining('root does not follow the link outside') };
      expect(await run('init', join(home, 'outside'))).toMatchObject(refused);
      expect(await run('allow', 'path', join(home, 'outside/wt'))).toMatchObject(refused);
      expect(await run('tool', 'new', 'weather', '--dir', join(home, 'outside/weather'))).toMatchObject(refused);
      const saved = await run('checkpoint', 'save', '--json');
      const { id } = JSON.parse(saved.stdout);
      expect(await run('checkpoint', 'export', id, join(home, 'outside/cp'))).toMatchObject(refused);
      expect(await stateOf(canary)).toEqual(before);

      // The remedy, and a link to what belongs to the same user.
      expect(await run('tool', 'new', 'weather', '--dir', join(canary, 'weather'))).toMatchObject({ code: 0 });
      expect(await run('tool', 'new', 'weather', '--dir', join(home, 'inside/weather'))).toMatchObject({ code: 0 });
      expect((await lstat(join(project, 'weather/tool.json'))).uid).toBe(OTHER_UID);
      expect(await run('allow', 'path', join(home, 'inside/wt'))).toMatchObject({ code: 0 });
      expect((await lstat(join(project, 'wt'))).uid).toBe(OTHER_UID);
      expect(await run('checkpoint', 'export', id, join(home, 'inside/cp'))).toMatchObject({ code: 0 });
      expect((await lstat(join(project, 'cp'))).uid).toBe(OTHER_UID);
    } finally {
      await machine.remove();
    }
  }, 180_000);
});
