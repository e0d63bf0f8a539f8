import { execFile } from 'node:child_process';
import { chmod, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { layoutFor } from '#src/cli/init/layout.js';
import type { Addition } from '#src/cli/init/merged-file.js';
import { prepareInit } from '#src/cli/init/project.js';
import { ContextdError } from '#src/core/errors.js';
import { CTXD, install } from '../helpers/installation.ts';
import { createFixture, type Fixture, PROXY, snapshot, TOOLS, toolText } from '../unit/cli/init/tree.ts';

const run = promisify(execFile);
let project: Fixture;
beforeEach(async () => {
  project = await createFixture();
});
afterEach(() => project.remove());

const at = (path: string) => join(project.root, path);
const json = async (path: string) => JSON.parse(await readFile(at(path), 'utf8'));

async function plant(root: string, path: string): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), '#!/bin/sh\necho evil\n', { mode: 0o755 });
}

/** The command at the end of a remedy. */
function commandOf(remedy: string | undefined): string {
  return /move it away: (cd .*?)(?: Nothing was changed\.)?$/.exec(remedy ?? '')?.[1] ?? 'false';
}

async function refusalOf(work: Promise<unknown>): Promise<ContextdError> {
  const thrown = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (thrown instanceof ContextdError) return thrown;
  throw new Error('it was not refused');
}

describe('ctxd init in a repository that brings programs', () => {
  it.each([
    ['.claude/bin/git'],
    ['.claude/bin/.hidden'],
    ['.claude/tools/evil/evil'],
    ['.claude/tools/evil/deep/er/evil'],
    ['.claude/tools/evil'],
    ['.claude/tools/safe_bash/other'],
    ['.claude/tools/safe_bash/sub/other'],
    [".claude/bin/it's $(odd)", '.claude/bin/git', '.claude/tools/evil/evil'],
  ])('issue 28: refuses %s before anything is changed, and works after its remedy', async (...paths) => {
    for (const path of paths) await plant(project.root, path);
    const before = await snapshot(project.root);
    const refusal = await refusalOf(project.init());
    expect(refusal).toMatchObject({ code: 'CONFLICT', remedy: expect.stringContaining('Nothing was changed') });
    for (const path of paths) expect(refusal.message).toContain(`${path} is a program that contextd did not create`);
    expect(await snapshot(project.root)).toEqual(before);
    await run('/bin/sh', ['-ec', commandOf(refusal.remedy)]);
    expect((await project.init()).created).toContain('.claude/bin/safe_bash');
    for (const path of paths) await expect(readFile(at(path))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it.each(['.claude/bin/git', '.claude/tools/evil/evil', '.claude/tools/safe_bash/other'])(
    'issue 28: refuses a link at %s, wherever it leads',
    async (path) => {
      await plant(project.root, 'lib/contextd-proxy');
      await mkdir(dirname(at(path)), { recursive: true });
      await symlink(at('lib/contextd-proxy'), at(path));
      const refusal = await refusalOf(project.init());
      expect(refusal.message).toContain(path);
      await run('/bin/sh', ['-ec', commandOf(refusal.remedy)]);
      await project.init();
    },
  );

  it('issue 28: refuses programs that came after an init too, names a few of many, and leaves documents alone', async () => {
    await mkdir(at('.claude/bin'), { recursive: true });
    await writeFile(at('.claude/bin/README.md'), 'of a person');
    await project.init();
    for (let n = 0; n < 20; n++) await plant(project.root, `.claude/tools/mine/p${n}`);
    const refusal = await refusalOf(project.init());
    expect(refusal.message).toContain('15 more programs');
    await run('/bin/sh', ['-ec', commandOf(refusal.remedy)]);
    expect(await project.init()).toEqual({ created: [], updated: [], removed: [], kept: [] });
    // A file system without permission bits shows all files as programs: contextd's own documents are not foreign.
    for (const { name } of TOOLS)
      for (const file of ['TOOL.md', 'schema.json', 'TOOL_EXTENDED.md'])
        await chmod(at(`.claude/tools/${name}/${file}`), 0o777);
    expect(await project.init()).toMatchObject({ created: [], removed: [] });
  });

  it('issue 28: the hooks and the plugin put no directory on PATH that holds such a program', async () => {
    await project.init();
    const hooksIn = async (file: string): Promise<string[]> =>
      (await json(file)).hooks.SessionStart.flatMap((one: { hooks: { command: string }[] }) =>
        one.hooks.map(({ command }) => command),
      ).filter((command: string) => command.includes('CLAUDE_ENV_FILE'));
    const commands = [...(await hooksIn('.claude/settings.json')), ...(await hooksIn('.claude/settings.local.json'))];
    expect(commands).toHaveLength(2);
    const file = join(project.projectsDir, 'env');
    const env = { PATH: '/usr/bin:/bin', CLAUDE_PROJECT_DIR: project.root, CLAUDE_ENV_FILE: file };
    const pathOf = async (): Promise<string> => {
      const plugin = await import(`${pathToFileURL(at('.claude/opencode/contextd.js')).href}?${Math.random()}`);
      const hooks = await plugin.contextd({ client: {} });
      const output = { env: { PATH: '/usr/bin' } };
      await hooks['shell.env']({}, output);
      return output.env.PATH;
    };
    for (const command of commands) {
      await run('/bin/sh', ['-c', command], { env });
      expect(await readFile(file, 'utf8')).toContain(at('.claude/bin'));
      await rm(file);
    }
    expect(await pathOf()).toBe(`${at('.claude/bin')}:/usr/bin`);
    await plant(project.root, '.claude/bin/git');
    for (const command of commands) {
      const { stdout } = await run('/bin/sh', ['-c', command], { env });
      expect(stdout).toMatch(/did not create .*\.claude\/bin\/git\. Ask the person to run ctxd doctor\./);
      await expect(readFile(file)).rejects.toMatchObject({ code: 'ENOENT' });
    }
    expect(await pathOf()).toBe('/usr/bin');
  });

  it('issue 28: ctxd doctor reports such a program, and its remedy works', async () => {
    const machine = await install({ warm: true });
    const doctor = async (): Promise<{ status: string; detail: string; remedy: string } | undefined> => {
      const { stdout } = await machine.run(CTXD, ['doctor', '--json']);
      return JSON.parse(stdout).checks.find(({ name }: { name: string }) => name === 'programs');
    };
    try {
      expect(await doctor()).toBeUndefined();
      for (const path of ['.claude/bin/git', '.claude/tools/evil/evil']) await plant(machine.project, path);
      const check = await doctor();
      expect(check).toMatchObject({ status: 'fail', detail: expect.stringContaining('.claude/bin/git') });
      expect(check?.detail).toContain('.claude/tools/evil/evil');
      const refused = await machine.run(CTXD, ['init']);
      expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('.claude/bin/git') });
      await run('/bin/sh', ['-ec', commandOf(check?.remedy)]);
      expect(await doctor()).toBeUndefined();
      expect(await machine.run(CTXD, ['init'])).toMatchObject({ code: 0 });
    } finally {
      await machine.remove();
    }
  });
});

describe('what an earlier version allowed', () => {
  const EARLIER = ['.claude/tools/*', 'jobs *', 'safe_jobs *', 'safe_bash *'];
  const CORE = [...TOOLS, toolText('jobs')];
  const entriesOf = (commands: readonly string[]) => [
    ...commands.map((command) => ({ path: ['permissions', 'allow'], value: `Bash(${command})` })),
    ...commands.map((command) => ({ path: ['sandbox', 'excludedCommands'], value: command })),
  ];

  /** What an init of that version wrote into the project. */
  async function initEarlier(): Promise<void> {
    const layout = layoutFor(CORE, project.root, PROXY);
    const local = [...EARLIER.slice(1), `${project.root}/.claude/bin/jobs *`];
    const json = (entries: ReturnType<typeof entriesOf>): Addition => ({
      kind: 'json',
      template: '{}\n',
      entries,
      earlier: [],
      obsolete: [],
    });
    const merges = new Map(layout.merges([]));
    merges.set('.claude/settings.json', json(entriesOf(EARLIER)));
    merges.set('.claude/settings.local.json', json(entriesOf(local)));
    await (await prepareInit(project.root, { ...layout, merges: () => merges }, project.projectsDir)).apply();
  }

  const listed = async (file: string): Promise<string[]> => {
    const { permissions, sandbox } = await json(file);
    return [...permissions.allow, ...sandbox.excludedCommands];
  };
  const isWide = (entry: string): boolean =>
    /^(?:Bash\()?(?:\.claude\/tools\/\*|(?:.*\/\.claude\/bin\/)?jobs \*)\)?$/.test(entry);

  it.each(['as it was written', 'edited since', 'committed, in a clone without a record'])(
    'issue 28: loses its rules at the next init, %s, and --uninstall leaves nothing of either',
    async (how) => {
      await initEarlier();
      for (const file of ['.claude/settings.json', '.claude/settings.local.json']) {
        expect((await listed(file)).filter(isWide).length).toBeGreaterThan(1);
        if (how === 'edited since') await writeFile(at(file), `${await readFile(at(file), 'utf8')}\n`);
      }
      if (how.startsWith('committed')) {
        await rm(project.projectsDir, { recursive: true });
        await rm(at('.claude/bin'), { recursive: true });
      }
      await project.init(CORE);
      for (const file of ['.claude/settings.json', '.claude/settings.local.json']) {
        expect((await listed(file)).filter(isWide)).toEqual([]);
        expect(await listed(file)).toEqual(expect.arrayContaining(['Bash(safe_jobs *)', 'Bash(safe_bash *)']));
      }
      expect(await project.init(CORE)).toEqual({ created: [], updated: [], removed: [], kept: [] });
      expect((await project.uninstall())?.kept).toEqual([]);
      expect(await snapshot(project.root)).toEqual({});
    },
  );

  it('issue 28: is removed by --uninstall without another init', async () => {
    await initEarlier();
    expect((await project.uninstall())?.kept).toEqual([]);
    expect(await snapshot(project.root)).toEqual({});
  });
});
