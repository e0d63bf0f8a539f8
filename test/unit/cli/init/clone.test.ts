import { execFileSync } from 'node:child_process';
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatLock } from '#src/install/lock-file.js';
import { shapeRuns } from '../../../helpers/property-runs.ts';
import { createFixture, type Fixture, installedText, snapshot, TOOLS } from './tree.ts';

const SETTINGS = '.claude/settings.json';
const IGNORE = '.claude/.gitignore';
const OTHERS = ['weather', 'wx', 'tide', 'moon'];

interface Settings {
  permissions?: { allow?: string[] };
  sandbox?: { excludedCommands?: string[] };
}

async function inProject(use: (project: Fixture, at: (path: string) => string) => Promise<void>): Promise<void> {
  const project = await createFixture();
  try {
    await use(project, (path) => join(project.root, path));
  } finally {
    await project.remove();
  }
}

const settingsOf = async (project: Fixture, file = SETTINGS): Promise<Settings> =>
  JSON.parse(await readFile(join(project.root, file), 'utf8'));

/** Both lists in which a tool is allowed. */
async function allowedIn(project: Fixture, file = SETTINGS): Promise<string[]> {
  const { permissions, sandbox } = await settingsOf(project, file);
  return [...(permissions?.allow ?? []), ...(sandbox?.excludedCommands ?? [])];
}

const withTools = (names: readonly string[]) => [...TOOLS, ...names.map(installedText)];
const blocksIn = (text: string): number => text.split('# contextd: managed by ctxd init').length - 1;

/** Leaves what git would have: no links, no settings of the machine and no record. */
async function cloned(project: Fixture, names: readonly string[]): Promise<void> {
  await rm(project.projectsDir, { recursive: true });
  const links = [...TOOLS.map(({ name }) => name), ...names].map((name) => `.claude/tools/${name}/${name}`);
  for (const path of ['.claude/bin', '.claude/settings.local.json', ...links])
    await rm(join(project.root, path), { recursive: true, force: true });
}

/** What an earlier version wrote into the shared settings for installed tools, and lines of a person. */
async function addAllowed(project: Fixture, commands: readonly string[]): Promise<void> {
  const settings = await settingsOf(project);
  settings.permissions?.allow?.push(...commands.map((command) => `Bash(${command})`));
  settings.sandbox?.excludedCommands?.push(...commands);
  await writeFile(join(project.root, SETTINGS), JSON.stringify(settings, null, 2));
}

describe('a project that was committed with tools of others', () => {
  it('issue 17: names installed tools in the settings of the machine only', () =>
    inProject(async (project) => {
      await project.init(withTools(['weather']));
      expect((await allowedIn(project)).join()).not.toContain('weather');
      expect(await allowedIn(project, '.claude/settings.local.json')).toEqual(
        expect.arrayContaining(['Bash(weather *)', 'weather *', `${project.root}/.claude/bin/weather *`]),
      );
    }));

  it('issue 17: init allows no tool that is not here, keeps one block, and --uninstall leaves only what a person wrote', () =>
    fc.assert(
      fc.asyncProperty(
        fc.subarray(OTHERS, { minLength: 1 }),
        fc.subarray(OTHERS),
        fc.subarray(['make *', 'weatherman *', 'git status', 'weather', 'npm *']),
        fc.subarray(['target', '/bin/mine', '# ours']),
        fc.boolean(),
        (theirs, here, own, ignored, isOlder) =>
          inProject(async (project, at) => {
            await project.init(withTools(theirs));
            const committed = await readFile(at(IGNORE), 'utf8');
            await addAllowed(project, [...(isOlder ? theirs.map((name) => `${name} *`) : []), ...own]);
            await writeFile(at(IGNORE), ignored.map((line) => `${line}\n`).join('') + committed);
            await cloned(project, theirs);

            await project.init();
            const after = await allowedIn(project);
            const absent = theirs.flatMap((name) => [`${name} *`, `Bash(${name} *)`]);
            expect(after.filter((entry) => absent.includes(entry))).toEqual([]);
            expect(after).toEqual(expect.arrayContaining(own.flatMap((one) => [one, `Bash(${one})`])));
            const block = await readFile(at(IGNORE), 'utf8');
            expect(blocksIn(block)).toBe(1);
            expect(block.endsWith(committed)).toBe(true);

            await project.init(withTools(here));
            expect(blocksIn(await readFile(at(IGNORE), 'utf8'))).toBe(1);
            expect(await project.init(withTools(here))).toEqual({ created: [], updated: [], removed: [], kept: [] });

            expect((await project.uninstall())?.kept).toEqual([]);
            const left = Object.entries(await snapshot(project.root)).filter(([, what]) => what.startsWith('file'));
            expect(left.map(([path]) => path)).toEqual([
              ...(ignored.length > 0 ? [IGNORE] : []),
              ...(own.length > 0 ? [SETTINGS] : []),
            ]);
            if (ignored.length > 0) {
              expect(await readFile(at(IGNORE), 'utf8')).toBe(ignored.map((line) => `${line}\n`).join(''));
            }
            if (own.length === 0) return;
            expect(await settingsOf(project)).toEqual({
              permissions: { allow: own.map((one) => `Bash(${one})`) },
              sandbox: { excludedCommands: own },
            });
          }),
      ),
      { numRuns: shapeRuns(6) },
    ));

  it('issue 17: a tool that a colleague commits after init here is not allowed either', () =>
    inProject(async (project, at) => {
      await project.init();
      const folder = '.claude/tools/wx';
      await inProject(async (colleague) => {
        await colleague.init(withTools(['wx']));
        await mkdir(at(folder));
        for (const name of ['schema.json', 'TOOL.md', 'TOOL_EXTENDED.md'])
          await writeFile(at(`${folder}/${name}`), await readFile(join(colleague.root, folder, name)));
      });
      await addAllowed(project, ['wx *', 'make *']);
      await project.init();
      const after = await allowedIn(project);
      expect(after).not.toContain('wx *');
      expect(after).toContain('Bash(make *)');
      await project.uninstall();
      expect(Object.keys(await snapshot(project.root))).toEqual(['.claude', SETTINGS]);
    }));

  it('keeps an entry that a person had before the tool, after the tool is gone', () =>
    inProject(async (project, at) => {
      await mkdir(dirname(at(SETTINGS)));
      const mine = '{"permissions":{"allow":["Bash(weather *)"]}}';
      await writeFile(at(SETTINGS), mine);
      await project.init(withTools(['weather']));
      await project.init();
      expect(await allowedIn(project)).toContain('Bash(weather *)');
      await project.uninstall();
      expect(await readFile(at(SETTINGS), 'utf8')).toBe(mine);
    }));

  it('contextd.lock alone names tools too, but a usual program is never one', () =>
    inProject(async (project, at) => {
      await project.init();
      const entry = { version: '1.0.0', source: 'github.com/acme/wx', sha256: 'a'.repeat(64), grants: [] };
      await writeFile(at('contextd.lock'), JSON.stringify({ format: 1, tools: { wx: entry, npm: entry } }));
      await addAllowed(project, ['wx *', 'npm *']);
      await project.init();
      expect(await allowedIn(project)).not.toContain('wx *');
      expect(await allowedIn(project)).toContain('Bash(npm *)');
      await writeFile(at('contextd.lock'), 'broken');
      expect(await project.init()).toMatchObject({ created: [], kept: [] });
    }));

  it('FR-1.1 --uninstall removes a lock file of tools of this machine, unless git tracks it or it names others', () =>
    inProject(async (project, at) => {
      const tool = (name: string) => ({
        ...{ name, version: '1.0.0', source: `./tools/${name}`, commit: '', archiveSha256: '' },
        ...{ bundleSha256: 'a'.repeat(64), grants: [] },
      });
      const git = (...words: string[]) => execFileSync('git', ['-C', project.root, ...words]);
      for (const [names, isTracked, stays] of [
        [['wx'], false, false],
        [['wx', 'theirs'], false, true],
        [['wx'], true, true],
      ] as const) {
        await project.init(withTools(['wx']));
        await writeFile(at('contextd.lock'), formatLock(names.map(tool)));
        if (isTracked) git('init', '-q');
        if (isTracked) git('add', 'contextd.lock');
        const changes = await project.uninstall();
        expect(changes?.removed.includes('contextd.lock')).toBe(!stays);
        const left = Object.keys(await snapshot(project.root)).filter((path) => !path.startsWith('.git'));
        expect(left).toEqual(stays ? ['contextd.lock'] : []);
      }
    }));

  it('--uninstall keeps and reports a file of an absent tool that a person changed, and removes its links', () =>
    inProject(async (project, at) => {
      await project.init(withTools(['weather', 'wx']));
      await rm(project.projectsDir, { recursive: true });
      await project.init();
      const changed = '.claude/tools/wx/TOOL_EXTENDED.md';
      await writeFile(at(changed), `Ours.\n${await readFile(at(changed), 'utf8')}`);
      await rm(at('.claude/bin/weather'));
      await symlink('/bin/sh', at('.claude/bin/weather'));
      expect((await project.uninstall())?.kept).toEqual([changed]);
      const left = Object.keys(await snapshot(project.root));
      expect(left).toContain('.claude/bin/weather');
      expect(left).not.toContain('.claude/bin/wx');
      expect(left).not.toContain('.claude/tools/weather');
    }));

  it('replaces blocks that an earlier version added twice, also without the rules file', () =>
    inProject(async (project, at) => {
      await project.init();
      const block = await readFile(at(IGNORE), 'utf8');
      await writeFile(at(IGNORE), `${block}mine\n${block}`);
      await cloned(project, []);
      await rm(at('.claude/rules/contextd.md'));
      await project.init();
      expect(await readFile(at(IGNORE), 'utf8')).toBe(`mine\n${block}`);
    }));
});
