import { execFile } from 'node:child_process';
import { chmod, chown, lstat, mkdir, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { mergesFor } from '#src/cli/init/layout.js';
import { VIEW_NAMES } from '#src/tokens/views/read-view.js';
import { shapeRuns } from '../helpers/property-runs.ts';
import { createFixture, type Fixture, PROXY, snapshot, TOOLS, toolText } from '../unit/cli/init/tree.ts';

const run = promisify(execFile);
let project: Fixture;
beforeEach(async () => {
  project = await createFixture();
});
afterEach(() => project.remove());

const at = (path: string) => join(project.root, path);
const json = async (path: string): Promise<unknown> => JSON.parse(await readFile(at(path), 'utf8'));
async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(at(path)), { recursive: true });
  await writeFile(at(path), text);
}

/** What only a person may do with ctxd. */
const DENIED = [
  'network allow',
  'network deny',
  'network remove',
  'network mirrors',
  'network on',
  'network off',
  'network credential',
  'http',
  'allow',
  'approve',
  'quarantine',
  'scrub allow',
  'scrub reveal',
  'scrub approve',
  'undo',
  'config set',
  'config unset',
  'backup',
  'server install',
  'server uninstall',
  'tool install',
  'tool update',
  'tool rollback',
  'tool remove',
  'memory promote',
  'memory forget',
  'upstream add',
  'upstream approve',
  'upstream import',
  'upstream remove',
  'upstream restart',
  'init',
].map((words) => `Bash(*ctxd ${words}*)`);

describe('ctxd init', () => {
  it('FR-2.1 FR-2.2 creates a directory for every tool with its schema, texts and links', async () => {
    await project.init();
    for (const { name, schemaJson, toolMd } of TOOLS) {
      const dir = `.claude/tools/${name}`;
      expect((await readdir(at(dir))).sort()).toEqual(['TOOL.md', 'TOOL_EXTENDED.md', name, 'schema.json'].sort());
      expect(await readFile(at(`${dir}/schema.json`), 'utf8')).toBe(`${schemaJson}\n`);
      expect(await readFile(at(`${dir}/TOOL.md`), 'utf8')).toBe(toolMd);
      expect(await readlink(at(`${dir}/${name}`))).toBe(PROXY);
      expect(await readlink(at(`.claude/bin/${name}`))).toBe(PROXY);
    }
  });

  it('tells Claude Code about the tools: rules, a skill, the permission, the sandbox, the PATH', async () => {
    await project.init();
    expect(await readFile(at('.claude/rules/contextd.md'), 'utf8')).toContain('`safe_bash ');
    expect(await readFile(at('.claude/skills/contextd/SKILL.md'), 'utf8')).toMatch(
      /^---\nname: contextd\ndescription: /,
    );
    const names = TOOLS.map(({ name }) => name);
    const commands = [...names.map((name) => `.claude/tools/${name}/${name} *`), ...names.map((name) => `${name} *`)];
    expect(await json('.claude/settings.json')).toEqual({
      permissions: { allow: commands.map((command) => `Bash(${command})`), deny: DENIED },
      sandbox: { excludedCommands: commands },
      hooks: { SessionStart: [{ hooks: [{ type: 'command', command: expect.stringContaining('CLAUDE_ENV_FILE') }] }] },
    });
  });

  it('allows names and absolute paths in the settings of this machine, which git ignores, and ends sessions there', async () => {
    await project.init();
    const names = TOOLS.map(({ name }) => name);
    const commands = [
      ...names.map((name) => `.claude/tools/${name}/${name} *`),
      ...names.map((name) => `${name} *`),
      ...names.map((name) => `${at('.claude/bin')}/${name} *`),
    ];
    const end = `'/opt/contextd/bin/ctxd' session end '${project.root}' --hook `;
    const hook = (command: string) => [
      { hooks: [expect.objectContaining({ command: expect.stringContaining(command) })] },
    ];
    // An absolute path, and an answer that ends the turn if the program does not start.
    const command = expect.stringContaining(`'${at('.claude/bin/contextd-hook')}' || printf '%s' '{"continue":false,`);
    const masking = { hooks: [{ type: 'command', command, timeout: 60 }] };
    expect(await json('.claude/settings.local.json')).toEqual({
      permissions: { allow: commands.map((command) => `Bash(${command})`), deny: DENIED },
      sandbox: { excludedCommands: commands },
      hooks: {
        SessionStart: [
          ...hook('CLAUDE_ENV_FILE'),
          ...hook(`'/opt/contextd/bin/ctxd' hook session-start '${project.root}' `),
        ],
        SessionEnd: hook(end),
        PreCompact: hook(`'/opt/contextd/bin/ctxd' hook pre-compact '${project.root}' `),
        Stop: hook(`'/opt/contextd/bin/ctxd' hook stop '${project.root}' `),
        PostToolUse: [
          {
            matcher: 'TodoWrite|TaskCreate|TaskUpdate',
            hooks: [expect.objectContaining({ command: expect.stringContaining("' hook post-tool '") })],
          },
          { matcher: '*', ...masking },
        ],
        PreToolUse: [{ matcher: 'Edit|MultiEdit|Write|NotebookEdit|Read|NotebookRead|Grep|Glob|LS', ...masking }],
        PostToolBatch: [masking],
        UserPromptSubmit: [masking],
      },
    });
    expect(await readFile(at('.claude/.gitignore'), 'utf8')).toContain('\n/settings.local.json\n');
  });

  it('allows no absolute path that a shell or a rule would read as something else', async () => {
    const rules = (root: string) =>
      mergesFor({ core: ['safe_bash'], installed: [], absent: [] }, root, PROXY, false, []).get(
        '.claude/settings.local.json',
      );
    expect(rules('/home/me/a-b_c@1.2')).toMatchObject({ entries: { length: 16 + DENIED.length } });
    for (const name of ['a b', 'a*', 'a)', 'a(b', "it's", 'a"b', '$HOME', 'a;b', 'a\\b', 'a?', '[a]', '{a,b}', '~a'])
      expect(rules(`/home/me/${name}`), name).toMatchObject({ entries: { length: 14 + DENIED.length } });
  });

  it('names every view in the skill', async () => {
    await project.init();
    const skill = await readFile(at('.claude/skills/contextd/SKILL.md'), 'utf8');
    expect(VIEW_NAMES).toHaveLength(12);
    expect(skill).toContain(`\`view\` (${VIEW_NAMES.join(', ')})`);
    const documents = await readFile(join(import.meta.dirname, '../../tools/tool_view/TOOL_EXTENDED.md'), 'utf8');
    expect(VIEW_NAMES.filter((name) => !documents.includes(`\`${name}\``) && !documents.includes(`"${name}"`))).toEqual(
      [],
    );
  });

  it('tells OpenCode about the rules and the plugin, which OpenCode can load', async () => {
    await project.init();
    expect(await json('opencode.json')).toMatchObject({
      instructions: ['.claude/rules/contextd.md'],
      plugin: ['./.claude/opencode/contextd.js'],
    });
    const plugin = await import(pathToFileURL(at('.claude/opencode/contextd.js')).href);
    const parents: Record<string, string> = { grandchild: 'child', child: 'top' };
    const get = async ({ path }: { path: { id: string } }) => ({ data: { id: path.id, parentID: parents[path.id] } });
    const hooks = await plugin.contextd({ client: { session: { get } } });
    const output = { env: { PATH: '/usr/bin' } };
    await hooks['shell.env']({ sessionID: 'grandchild' }, output);
    expect(output.env).toEqual({ PATH: `${at('.claude/bin')}:/usr/bin`, CONTEXTD_SESSION_ID: 'top' });
  });

  it('changes nothing if run again', async () => {
    await project.init();
    const [tree, state] = [await snapshot(project.root), await snapshot(project.projectsDir)];
    expect(await project.init()).toEqual({ created: [], updated: [], removed: [], kept: [] });
    expect(await snapshot(project.root)).toEqual(tree);
    expect(await snapshot(project.projectsDir)).toEqual(state);
  });

  it('changes nothing when run again after the user edited the files', async () => {
    await put('.claude/settings.json', '{"model":"opus"}');
    await project.init();
    const settings = await readFile(at('.claude/settings.json'), 'utf8');
    await put('.claude/settings.json', settings.replace('"opus"', '"sonnet" , "x": [1]'));
    const tree = await snapshot(project.root);
    expect(await project.init()).toEqual({ created: [], updated: [], removed: [], kept: [] });
    expect(await snapshot(project.root)).toEqual(tree);
    await project.uninstall();
    expect(await json('.claude/settings.json')).toEqual({ model: 'sonnet', x: [1] });
  });

  it('updates its own older files, and removes a tool that no longer exists', async () => {
    await project.init();
    const changes = await project.init([toolText('safe_bash', 2), toolText('safe_read')], '/new/bin/contextd-proxy');
    expect(changes.updated).toContain('.claude/tools/safe_bash/TOOL.md');
    expect(changes.updated).toContain('.claude/bin/safe_read');
    expect(await readFile(at('.claude/tools/safe_bash/TOOL.md'), 'utf8')).toContain('version 2');
    expect(await readlink(at('.claude/tools/safe_read/safe_read'))).toBe('/new/bin/contextd-proxy');
    await expect(lstat(at('.claude/tools/safe_write'))).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await readFile(at('.claude/.gitignore'), 'utf8')).not.toContain('safe_write');
    await project.uninstall();
    expect(await snapshot(project.root)).toEqual({});
  });

  it('adopts files that another machine committed, even from another version', async () => {
    await project.init();
    await rm(project.projectsDir, { recursive: true });
    for (const path of ['.claude/bin', ...TOOLS.map(({ name }) => `.claude/tools/${name}/${name}`)]) {
      await rm(at(path), { recursive: true });
    }
    await project.init(TOOLS.map(({ name }) => toolText(name, 2)));
    expect(await readFile(at('.claude/tools/safe_bash/TOOL.md'), 'utf8')).toContain('version 2');
    await project.uninstall();
    expect(await snapshot(project.root)).toEqual({});
  });

  it('keeps a rule that another machine committed with changes of its own, and adopts the rest', async () => {
    await project.init();
    const rule = `${await readFile(at('.claude/rules/contextd.md'), 'utf8')}Ours: run make lint first.\n`;
    await put('.claude/rules/contextd.md', rule);
    await rm(project.projectsDir, { recursive: true });
    await rm(at('.claude/bin'), { recursive: true });
    expect(await project.init()).toMatchObject({ kept: ['.claude/rules/contextd.md'] });
    expect(await readFile(at('.claude/rules/contextd.md'), 'utf8')).toBe(rule);
    expect((await project.uninstall())?.kept).toEqual(['.claude/rules/contextd.md']);
    expect(Object.keys(await snapshot(project.root))).toEqual([
      '.claude',
      '.claude/rules',
      '.claude/rules/contextd.md',
    ]);
  });

  it('keeps each entry that the user had before', async () => {
    const mine = '{"permissions":{"allow":["Bash(.claude/tools/*)"]}}';
    await put('.claude/settings.json', mine);
    await put('.claude/.gitignore', 'mine');
    await project.init();
    expect(await json('.claude/settings.json')).toMatchObject({
      permissions: { allow: expect.arrayContaining(['Bash(.claude/tools/*)', 'Bash(safe_bash *)']) },
    });
    await put('.claude/settings.json', `${await readFile(at('.claude/settings.json'), 'utf8')}\n`);
    await project.uninstall();
    expect(await json('.claude/settings.json')).toEqual(JSON.parse(mine));
    expect(await readFile(at('.claude/.gitignore'), 'utf8')).toBe('mine');
  });

  it('ignores exactly its links in git', async () => {
    const git = (...words: string[]) =>
      run('git', ['-C', project.root, ...words], { env: { PATH: process.env.PATH, HOME: project.root } });
    await put('.claude/bin/mine', '');
    await project.init();
    await git('init', '-q');
    await git('add', '-A');
    const tracked = (await git('ls-files')).stdout.trim().split('\n');
    expect(tracked).toContain('.claude/tools/safe_bash/schema.json');
    expect(tracked).toContain('.claude/rules/contextd.md');
    expect(tracked).toContain('.claude/bin/mine');
    expect(tracked.filter((path) => /safe_\w+$/.test(path))).toEqual([]);
  });

  it.runIf(process.getuid?.() === 0)('run by root, gives the new files to the owner of the project', async () => {
    await chown(project.root, 65534, 65534);
    await project.init();
    for (const path of await readdir(project.root, { recursive: true }))
      expect((await lstat(at(path))).uid, path).toBe(65534);
  });

  it('adds to settings with comments and trailing commas, and restores them byte for byte', async () => {
    const settings =
      '// of the team\n{\n  "model": "opus", // not sonnet\n  "permissions": {\n    /* none */\n  },\n}\n';
    const opencode = '{\n  // mine\n  "instructions": ["a.md",],\n}';
    await put('.claude/settings.json', settings);
    await put('opencode.json', opencode);
    const before = await snapshot(project.root);
    await project.init();
    expect(await readFile(at('opencode.json'), 'utf8')).toBe(
      '{\n  // mine\n  "instructions": ["a.md",".claude/rules/contextd.md",],\n  "plugin": [\n    "./.claude/opencode/contextd.js"\n  ],\n}',
    );
    const changed = await readFile(at('.claude/settings.json'), 'utf8');
    for (const line of settings.trim().split('\n')) expect(changed).toContain(line);
    expect(await project.init()).toEqual({ created: [], updated: [], removed: [], kept: [] });
    await project.uninstall();
    expect(await snapshot(project.root)).toEqual(before);
  });

  it('keeps the comments of a settings file that was edited since, also of one that init created', async () => {
    const mine = '{\n  "model": "opus", // mine\n}\n';
    await put('opencode.json', mine);
    await project.init();
    await put('opencode.json', `${await readFile(at('opencode.json'), 'utf8')}// the end\n`);
    await put('.claude/settings.json', `// mine\n${await readFile(at('.claude/settings.json'), 'utf8')}`);
    await project.uninstall();
    expect(await readFile(at('opencode.json'), 'utf8')).toBe(`${mine}// the end\n`);
    expect(await readFile(at('.claude/settings.json'), 'utf8')).toBe('// mine\n{}\n');
  });

  it('keeps the mode of a file it adds to', async () => {
    await put('.claude/settings.json', '{}');
    await chmod(at('.claude/settings.json'), 0o640);
    await project.init();
    expect((await lstat(at('.claude/settings.json'))).mode & 0o777).toBe(0o640);
  });
});

describe('ctxd init passes over a client whose file it cannot read', () => {
  it.each([
    ['{"a":1,,}', 'not JSON: line 1: property name expected'],
    ['{\n  // mine\n  "a" 1\n}', 'not JSON: line 3: colon expected'],
    ['}', 'not JSON: line 1: value expected'],
    ['/* open', 'not JSON: line 1: unexpected end of comment'],
    ['{"permissions":{"allow":true}}', 'permissions.allow is not an array'],
    ['[]', 'the file is not an object'],
  ])('FR-2.2: and sets up the others if settings.json holds %j', async (text, why) => {
    await put('.claude/settings.json', text);
    const changes = await project.init();
    expect(changes.passed_over).toEqual([{ client: 'Claude Code', path: '.claude/settings.json', why }]);
    expect(await readFile(at('.claude/settings.json'), 'utf8')).toBe(text);
    expect(changes.created).toEqual(expect.arrayContaining(['opencode.json', '.claude/bin/safe_bash']));
    expect(changes.created).not.toContain('.claude/settings.local.json');
    // A broken file of a client that was set up keeps its record: it is cleaned once it can be read.
    await put('.claude/settings.json', '{}');
    expect((await project.init()).passed_over).toBeUndefined();
    const whole = await readFile(at('.claude/settings.json'), 'utf8');
    await put('.claude/settings.json', `${whole}}`);
    expect((await project.init()).passed_over).toHaveLength(1);
    await put('.claude/settings.json', whole);
    await project.uninstall();
    expect(await readFile(at('.claude/settings.json'), 'utf8')).toBe('{}');
    expect(await readdir(project.root)).toEqual(['.claude']);
  });
});

describe('ctxd init passes over a client in whose place is no file that it can read', () => {
  const place = '.claude/settings.json';
  it.each([
    ['a directory', () => mkdir(at(place)), /^a directory$/],
    ['a pipe', () => run('mkfifo', [at(place)]), /^neither a file nor a directory$/],
    ['a link, which it does not follow', () => symlink('../outside', at(place)), /^a symbolic link to \.\.\/outside$/],
    ['no text', () => writeFile(at(place), Buffer.from([0xff, 0xfe])), /^not UTF-8 text$/],
    ['huge', () => put(place, ' '.repeat(2_000_000)), /^a file of 2000000 bytes/],
  ] as const)('FR-2.2: and sets up the others if settings.json is %s', async (_, make, why) => {
    await mkdir(at('.claude'), { recursive: true });
    await put('outside', '{}');
    await make();
    const changes = await project.init();
    const passed = { client: 'Claude Code', path: place, why: expect.stringMatching(why) };
    expect(changes.passed_over).toEqual([passed]);
    expect(changes.created).toEqual(expect.arrayContaining(['opencode.json', '.claude/bin/safe_bash']));
    expect(await readFile(at('outside'), 'utf8')).toBe('{}');
  });
});

describe('ctxd init refuses and changes nothing', () => {
  const refusedNaming = async (...paths: string[]) => {
    const tree = await snapshot(project.root);
    const error: unknown = await project.init().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'CONFLICT', remedy: expect.stringContaining('Nothing was changed') });
    for (const path of paths) expect(error).toMatchObject({ message: expect.stringContaining(path) });
    expect(await snapshot(project.root)).toEqual(tree);
    await expect(lstat(project.projectsDir)).rejects.toMatchObject({ code: 'ENOENT' });
  };

  it.each([
    '.claude',
    '.claude/tools',
    '.claude/tools/safe_bash',
    '.claude/rules',
    '.claude/skills/contextd',
    '.claude/bin',
  ])('if %s is a link that leads out of the project', async (path) => {
    const outside = join(project.root, '..', 'outside');
    await mkdir(outside);
    await mkdir(dirname(at(path)), { recursive: true });
    await symlink(outside, at(path));
    await refusedNaming(`${path} is a symbolic link`);
    expect(await readdir(outside)).toEqual([]);
  });

  it.each(['.claude/tools/safe_bash/schema.json'])('if %s is a link, even to a good file', async (path) => {
    const outside = join(project.root, '..', 'outside');
    await writeFile(outside, '{}');
    await mkdir(dirname(at(path)), { recursive: true });
    await symlink(outside, at(path));
    await refusedNaming(`${path} is`, 'symbolic link');
    expect(await readFile(outside, 'utf8')).toBe('{}');
  });

  it('if a path of a tool is taken, and names all taken paths at once', async () => {
    await put('.claude/tools/safe_bash/safe_bash', '#!/bin/sh\necho mine\n');
    await put('.claude/tools/safe_read/schema.json', '{"mine":true}');
    await put('.claude/rules/contextd.md', 'my rules');
    await put('.claude/skills/contextd', 'a file');
    await refusedNaming(
      '.claude/tools/safe_bash/safe_bash',
      '.claude/tools/safe_read/schema.json',
      '.claude/rules/contextd.md',
      '.claude/skills/contextd is a file',
    );
  });

  it('if a link of that name leads elsewhere', async () => {
    await mkdir(at('.claude/bin'), { recursive: true });
    await symlink('/bin/sh', at('.claude/bin/safe_bash'));
    await refusedNaming('.claude/bin/safe_bash is not from ctxd init (a symbolic link to /bin/sh)');
  });
});

describe('ctxd init after its files were changed', () => {
  it('keeps and reports a file that a person edited, and updates the others', async () => {
    await project.init();
    await put('.claude/tools/safe_bash/TOOL.md', 'mine');
    const changes = await project.init([toolText('safe_bash', 2)]);
    expect(changes.kept).toEqual(['.claude/tools/safe_bash/TOOL.md']);
    expect(changes.updated).toContain('.claude/tools/safe_bash/schema.json');
    expect(await readFile(at('.claude/tools/safe_bash/TOOL.md'), 'utf8')).toBe('mine');
  });

  it('works after --uninstall kept an edited file, and creates the file again once it is deleted', async () => {
    const before = await snapshot(project.root);
    await project.init();
    await put('.claude/rules/contextd.md', 'my rules');
    expect((await project.uninstall())?.kept).toEqual(['.claude/rules/contextd.md']);
    expect((await project.uninstall())?.kept).toEqual(['.claude/rules/contextd.md']);
    const again = await project.init();
    expect(again.kept).toEqual(['.claude/rules/contextd.md']);
    expect(await readFile(at('.claude/rules/contextd.md'), 'utf8')).toBe('my rules');
    await rm(at('.claude/rules/contextd.md'));
    expect(await project.init()).toMatchObject({ created: ['.claude/rules/contextd.md'], kept: [] });
    expect((await project.uninstall())?.kept).toEqual([]);
    expect(await snapshot(project.root)).toEqual(before);
    expect(await readdir(project.projectsDir)).toEqual([]);
  });

  it('removes the directories of an edited file once the file is gone', async () => {
    await project.init();
    await put('.claude/rules/contextd.md', 'my rules');
    await project.uninstall();
    await rm(at('.claude/rules/contextd.md'));
    await project.uninstall();
    expect(await snapshot(project.root)).toEqual({});
    expect(await readdir(project.projectsDir)).toEqual([]);
  });

  it('SEC-4.2 replaces a link that leads elsewhere', async () => {
    await project.init();
    await rm(at('.claude/bin/safe_bash'));
    await symlink('/bin/sh', at('.claude/bin/safe_bash'));
    expect((await project.init()).updated).toEqual(['.claude/bin/safe_bash']);
    expect(await readlink(at('.claude/bin/safe_bash'))).toBe(PROXY);
  });

  it('suggests the command that moves a file of the same name away', async () => {
    await put('.claude/rules/contextd.md', 'my rules');
    await expect(project.init()).rejects.toMatchObject({
      code: 'CONFLICT',
      remedy: expect.stringContaining('mv .claude/rules/contextd.md .claude/rules/contextd.md.old'),
    });
    await run('mv', [at('.claude/rules/contextd.md'), at('.claude/rules/contextd.md.old')]);
    expect((await project.init()).created).toContain('.claude/rules/contextd.md');
  });
});

describe('ctxd init --uninstall', () => {
  it('has nothing to do without an init', async () => {
    expect(await project.uninstall()).toBeUndefined();
  });

  it('removes everything that init created, and its record', async () => {
    await project.init();
    await project.uninstall();
    expect(await snapshot(project.root)).toEqual({});
    expect(await readdir(project.projectsDir)).toEqual([]);
  });

  it('keeps and reports what was changed or added since', async () => {
    await project.init();
    await put('.claude/tools/safe_bash/TOOL.md', 'mine');
    await put('.claude/tools/safe_read/notes', 'mine');
    await rm(at('.claude/bin/safe_write'));
    await symlink('/bin/sh', at('.claude/bin/safe_write'));
    const changes = await project.uninstall();
    expect(changes?.kept).toEqual(['.claude/tools/safe_bash/TOOL.md', '.claude/bin/safe_write']);
    const left = Object.entries(await snapshot(project.root)).filter(([, what]) => !what.startsWith('directory'));
    expect(left.map(([path]) => path)).toEqual([
      '.claude/bin/safe_write',
      '.claude/tools/safe_bash/TOOL.md',
      '.claude/tools/safe_read/notes',
    ]);
  });

  it('removes only its entries from edited files, and keeps a broken file', async () => {
    await put('opencode.json', '{}');
    await project.init();
    const settings = await readFile(at('.claude/settings.json'), 'utf8');
    await put('.claude/settings.json', settings.replace('"Bash(safe_bash *)"', '"Bash(ls)",\n"Bash(safe_bash *)"'));
    await put('opencode.json', '{ broken');
    const changes = await project.uninstall();
    expect(await json('.claude/settings.json')).toEqual({ permissions: { allow: ['Bash(ls)'] } });
    expect(changes?.kept).toEqual(['opencode.json']);
  });

  it('does not write through a link that was created since', async () => {
    await project.init();
    const outside = join(project.root, '..', 'outside');
    await run('mv', [at('.claude'), outside]);
    await symlink(outside, at('.claude'));
    const before = await snapshot(outside);
    await expect(project.uninstall()).rejects.toMatchObject({
      code: 'CONFLICT',
      message: '.claude is a symbolic link',
    });
    expect(await snapshot(outside)).toEqual(before);
  });

  it('restores every byte of any tree', async () => {
    await fc.assert(
      fc.asyncProperty(anyTree, async (tree) => {
        const fixture = await createFixture();
        try {
          for (const [path, text] of Object.entries(tree)) await plant(join(fixture.root, path), text);
          const before = await snapshot(fixture.root);
          const changes = await fixture.init();
          expect(changes.created.length).toBeGreaterThan(0);
          expect(await fixture.init()).toEqual({ created: [], updated: [], removed: [], kept: [] });
          await fixture.uninstall();
          expect(await snapshot(fixture.root)).toEqual(before);
        } finally {
          await fixture.remove();
        }
      }),
      { numRuns: shapeRuns(12) },
    );
  });
});

const settingsText = fc
  .record(
    {
      model: fc.string(),
      permissions: fc.record(
        { allow: fc.array(fc.oneof(fc.constant('Bash(.claude/tools/*)'), fc.string())), deny: fc.array(fc.string()) },
        { requiredKeys: [] },
      ),
      sandbox: fc.record({ enabled: fc.boolean(), excludedCommands: fc.array(fc.string()) }, { requiredKeys: [] }),
      hooks: fc.record(
        { SessionStart: fc.array(fc.dictionary(fc.string(), fc.jsonValue())), Stop: fc.jsonValue() },
        { requiredKeys: [] },
      ),
      instructions: fc.array(fc.string()),
      mcp: fc.jsonValue(),
    },
    { requiredKeys: [] },
  )
  .chain((value) =>
    fc
      .tuple(fc.constantFrom<string | number | undefined>(undefined, 2, 4, '\t'), fc.constantFrom('', '\n', '\r\n  '))
      .map(([indent, end]) => JSON.stringify(value, null, indent) + end),
  );
const absent = fc.constant(undefined);

/** A possible project: text is a file, null an empty directory, undefined nothing. */
const anyTree = fc.record({
  '.claude/settings.json': fc.option(settingsText, { nil: undefined }),
  'opencode.json': fc.option(settingsText, { nil: undefined }),
  '.claude/.gitignore': fc.oneof(absent, fc.string({ unit: fc.constantFrom('a', '\n', '#', ' ', '\r') })),
  '.claude/tools': fc.oneof(absent, fc.constant(null)),
  '.claude/tools/mine/x': fc.oneof(absent, fc.string()),
  '.claude/bin/mine': fc.oneof(absent, fc.string()),
  '.claude/skills/mine/SKILL.md': fc.oneof(absent, fc.string()),
  '.claude/rules': fc.oneof(absent, fc.constant(null)),
  'src/main.ts': fc.oneof(absent, fc.string()),
});

async function plant(path: string, text: string | null | undefined): Promise<void> {
  if (text === undefined) return;
  await mkdir(text === null ? path : dirname(path), { recursive: true });
  if (text !== null) await writeFile(path, text);
}
