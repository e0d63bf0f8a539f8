import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SchemaResponse__Output } from '#src/protocol/generated/tool.js';
import { answered, certificateOf, close, connect, refused } from '../helpers/door.ts';
import { TestRepository } from '../helpers/git-servers.ts';
import { CTXD, type Finished, type Installation, install } from '../helpers/installation.ts';
import { type MadeTool, makeTool } from '../helpers/made-tool.ts';
import { newSigner } from '../helpers/minisign.ts';

interface ListedTool {
  name: string;
  version: string;
  bundle_sha256: string;
  grants: string[];
  state: string;
  schema_tokens: number;
  last_used: string;
  installed_from: { source: string; commit: string; signer: string } | null;
}

let at: Installation;
let sources: string;

/** What --yes may give from the start: a ceiling that is changed costs a restart. */
const CEILING = '["log","network:*.weather.example","network:api.*"]';

beforeAll(async () => {
  at = await install({ init: false, settings: { 'install.yes_grants': CEILING } });
  sources = realpathSync(mkdtempSync(join(tmpdir(), 'tools-')));
});
afterAll(async () => {
  await at.remove();
  rmSync(sources, { recursive: true, force: true });
});

/** A new project of the installation. */
async function newProject(): Promise<string> {
  const project = realpathSync(mkdtempSync(join(sources, 'project-')));
  const { code, stderr } = await at.run(CTXD, ['init', '--no-toolchains', '--no-network'], { cwd: project });
  expect(stderr).toBe('');
  expect(code).toBe(0);
  return project;
}

const SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  additionalProperties: false,
};
const sha256Of = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');

function newTool(tool: MadeTool = {}): string {
  const dir = mkdtempSync(join(sources, 'tool-'));
  makeTool(dir, tool);
  return dir;
}

function newRepository(tool: MadeTool = {}): TestRepository {
  const repository = new TestRepository(newTool(tool));
  repository.commit({});
  return repository;
}

const ctxd = (project: string, ...words: string[]): Promise<Finished> => at.run(CTXD, words, { cwd: project });

async function listed(project: string): Promise<ListedTool[]> {
  const { stdout } = await ctxd(project, 'tool', 'list', '--json');
  return (JSON.parse(stdout) as ListedTool[]).filter(({ installed_from: from }) => from !== null);
}

const call = (project: string, tool: string, input: object): Promise<Finished> =>
  at.run(`.claude/tools/${tool}/${tool}`, [JSON.stringify(input)], { cwd: project });

async function answerOf(project: string, tool: string): Promise<Record<string, unknown>> {
  const { stdout, stderr } = await call(project, tool, { city: 'Oslo' });
  if (stdout === '') throw new Error(stderr);
  return (JSON.parse(stdout) as { data: Record<string, unknown> }).data;
}

const lockOf = (project: string): string => readFileSync(join(project, 'contextd.lock'), 'utf8');
const bundles = (): string[] => readdirSync(join(at.home, 'data/tools')).sort();
const staged = (): string[] => {
  const dir = join(at.home, 'data/staging');
  return existsSync(dir) ? readdirSync(dir) : [];
};

describe('ctxd tool install', () => {
  it('FR-2.1 FR-2.2 FR-9.2 FR-10.5 NFR-4.1 NFR-4.2 API-2 DATA-1 installs, links and locks a tool that answers at once', async () => {
    const project = await newProject();
    const tool = newTool();
    const { code, stdout, stderr } = await ctxd(project, 'tool', 'install', tool, '--yes');
    expect(stderr).toContain('weather 1.0.0: "Tell the weather of a city."');
    expect([code, stdout]).toEqual([0, expect.stringContaining('weather 1.0.0 is installed, from ')]);

    expect(await answerOf(project, 'weather')).toMatchObject({ version: '1.0.0', input: { city: 'Oslo' } });
    expect(readdirSync(join(project, '.claude/tools/weather')).sort()).toEqual(
      ['TOOL.md', 'TOOL_EXTENDED.md', 'schema.json', 'weather'].sort(),
    );
    expect(lstatSync(join(project, '.claude/tools/weather/weather')).isSymbolicLink()).toBe(true);

    const [entry] = await listed(project);
    expect(entry).toMatchObject({ name: 'weather', version: '1.0.0', state: 'ready', grants: [] });
    expect(stderr).toContain(`its schema costs ${entry?.schema_tokens} tokens`);
    expect(entry?.last_used).toBe(new Date().toISOString().slice(0, 10));
    expect(JSON.parse(lockOf(project))).toEqual({
      format: 1,
      tools: { weather: { version: '1.0.0', source: tool, sha256: entry?.bundle_sha256, grants: [] } },
    });
    expect(staged()).toEqual([]);

    // A later init keeps it, and the removal leaves nothing of it.
    await ctxd(project, 'init', '--no-toolchains', '--no-network');
    expect(await answerOf(project, 'weather')).toMatchObject({ version: '1.0.0' });
    const asked = await ctxd(project, 'tool', 'remove', 'weather');
    expect([asked.code, asked.stderr]).toEqual([1, expect.stringContaining('weather was not removed. Answer yes')]);
    expect(await answerOf(project, 'weather')).toMatchObject({ version: '1.0.0' });
    expect((await ctxd(project, 'tool', 'remove', 'weather', '--yes')).stdout).toContain('is no longer a tool of');
    expect(existsSync(join(project, '.claude/tools/weather'))).toBe(false);
    expect(existsSync(join(project, 'contextd.lock'))).toBe(false);
    expect(await listed(project)).toEqual([]);
  });

  it('FR-10.4 changes nothing without a yes: no state, no file, nothing staged', async () => {
    const project = await newProject();
    const before = bundles();
    const { code, stderr } = await ctxd(project, 'tool', 'install', newTool({ version: '7.7.7' }));
    expect(code).toBe(1);
    expect(stderr).toContain('weather was not installed. A person answers yes at a terminal');
    expect(await listed(project)).toEqual([]);
    // The daemon clears up when ctxd has gone.
    await expect.poll(() => [bundles(), staged()]).toEqual([before, []]);
    expect(existsSync(join(project, 'contextd.lock'))).toBe(false);
    expect(existsSync(join(project, '.claude/tools/weather'))).toBe(false);
  });

  it('--yes gives the grants below the ceiling only, and says how to raise it', async () => {
    const project = await newProject();
    const beyond = newTool({ grants: ['log', 'network:api.weather.example', 'network:www.other.example'] });
    const refused = await ctxd(project, 'tool', 'install', beyond, '--yes');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('reach www.other.example');
    expect(refused.stderr).toContain('--yes does not give weather what it asks for: network:www.other.example.');
    expect(await listed(project)).toEqual([]);

    const tool = newTool({ grants: ['log', 'network:api.weather.example'] });
    expect((await ctxd(project, 'tool', 'install', tool, '--yes')).code).toBe(0);
    expect((await listed(project))[0]?.grants).toEqual(['log', 'network:api.weather.example']);
  });

  it('issue 17 part 4: two projects use two versions of one tool at the same time', async () => {
    const [first, second] = [await newProject(), await newProject()];
    const dir = newTool({ version: '1.0.0' });
    await ctxd(first, 'tool', 'install', dir, '--yes');
    makeTool(dir, { version: '2.0.0' });
    await ctxd(second, 'tool', 'install', dir, '--yes');
    const rounds = await Promise.all(
      [first, second, first, second].map(async (project) => (await answerOf(project, 'weather')).version),
    );
    expect(rounds).toEqual(['1.0.0', '2.0.0', '1.0.0', '2.0.0']);
    expect((await at.run('.claude/tools/weather/weather', ['--schema'], { cwd: first })).code).toBe(0);
  });

  it('FR-9.3 shows what an update changes before it applies, asks again for more, and can be rolled back', async () => {
    const project = await newProject();
    const dir = newTool({ version: '1.0.0' });
    await ctxd(project, 'tool', 'install', dir, '--yes');
    const same = await ctxd(project, 'tool', 'update', '--check', '--all');
    expect([same.code, same.stdout]).toEqual([0, expect.stringContaining('weather 1.0.0 is what')]);

    makeTool(dir, { version: '1.1.0', files: { 'cities.txt': 'Oslo\n' } });
    const check = await ctxd(project, 'tool', 'update', '--check', 'weather');
    expect(check.code).toBe(1);
    for (const line of ['instead of 1.0.0; its arguments stay', '+ cities.txt', '~ main.sh'])
      expect(check.stdout).toContain(line);
    expect((await listed(project))[0]?.version).toBe('1.0.0');

    expect((await ctxd(project, 'tool', 'update', 'weather', '--yes')).stdout).toContain('weather 1.1.0 is updated');
    expect((await answerOf(project, 'weather')).version).toBe('1.1.0');

    makeTool(dir, { version: '1.2.0', grants: ['exec'] });
    const more = await ctxd(project, 'tool', 'update', 'weather', '--yes');
    expect([more.code, more.stderr]).toEqual([1, expect.stringContaining('(new)')]);
    expect((await answerOf(project, 'weather')).version).toBe('1.1.0');

    const asked = await ctxd(project, 'tool', 'rollback', 'weather');
    expect([asked.code, asked.stderr]).toEqual([1, expect.stringContaining('weather stays at 1.1.0')]);
    expect(asked.stderr).toContain(
      `now: weather 1.1.0 from ${dir}\nbefore: weather 1.0.0 from ${dir}; granted to it then`,
    );
    expect((await listed(project))[0]?.version).toBe('1.1.0');
    expect((await ctxd(project, 'tool', 'rollback', 'weather', '--yes')).stdout).toContain('weather is 1.0.0 again');
    expect((await answerOf(project, 'weather')).version).toBe('1.0.0');
    expect(lockOf(project)).toContain('"version": "1.0.0"');
    for (const answer of [['--yes'], []]) {
      const none = await ctxd(project, 'tool', 'rollback', 'weather', ...answer);
      expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('had no other version of weather')]);
      expect(none.stderr).not.toContain('stays at');
    }
  });

  it('issue 17 part 7: rollback names the commit that returns, and skips the same bytes from another place', async () => {
    const project = await newProject();
    const repository = newRepository({ version: '1.0.0' });
    const source = `git::file://${repository.dir}`;
    const commit = repository.git('rev-parse', 'HEAD').trim();
    await ctxd(project, 'tool', 'install', source, '--yes');
    makeTool(repository.dir, { version: '2.0.0' });
    repository.commit({});
    for (const tag of ['v2', 'v2-again']) repository.git('tag', tag);
    for (const tag of ['v2', 'v2-again']) await ctxd(project, 'tool', 'install', `${source}@${tag}`, '--yes');
    makeTool(repository.dir, { version: '3.0.0' });
    repository.commit({});
    await ctxd(project, 'tool', 'install', source, '--yes');

    expect((await ctxd(project, 'tool', 'rollback', 'weather', '--yes')).stdout).toContain('weather is 2.0.0 again');
    const asked = await ctxd(project, 'tool', 'rollback', 'weather');
    expect(asked.stderr).toContain(`before: weather 1.0.0 from ${source}, commit ${commit.slice(0, 12)}`);
    expect((await ctxd(project, 'tool', 'rollback', 'weather', '--yes')).stdout).toContain('weather is 1.0.0 again');
    // What was left behind is not the version before the next one.
    await ctxd(project, 'tool', 'install', source, '--yes');
    expect((await ctxd(project, 'tool', 'rollback', 'weather', '--yes')).stdout).toContain('weather is 1.0.0 again');
  });

  it('issue 17: in a clone, no tool is allowed that is not here, doctor names it, and --uninstall leaves nothing of it', async () => {
    const project = await newProject();
    makeTool(join(project, 'tools/weather'));
    await ctxd(project, 'tool', 'install', './tools/weather', '--yes');
    const colleague = realpathSync(mkdtempSync(join(sources, 'clone-')));
    const isCommitted = (path: string): boolean => !lstatSync(path).isSymbolicLink() && !path.endsWith('.local.json');
    cpSync(project, colleague, { recursive: true, filter: isCommitted });

    expect((await ctxd(colleague, 'init', '--no-toolchains', '--no-network', '--yes')).code).toBe(0);
    for (const file of ['settings.json', 'settings.local.json'])
      expect(readFileSync(join(colleague, '.claude', file), 'utf8')).not.toContain('weather');
    const ignored = '.claude/.gitignore';
    expect(readFileSync(join(colleague, ignored), 'utf8')).toBe(readFileSync(join(project, ignored), 'utf8'));
    const checks = async (where: string) =>
      (JSON.parse((await ctxd(where, 'doctor', '--json')).stdout) as { checks: Record<string, string>[] }).checks;
    const absent = { name: 'tools', status: 'warn', detail: 'not installed here: weather' };
    expect(await checks(colleague)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ ...absent, remedy: expect.stringMatching(/ctxd tool install$/) }),
        expect.objectContaining({ name: 'installed tools', status: 'ok', detail: `none in ${colleague}` }),
        expect.objectContaining({ name: 'core tools', detail: expect.not.stringContaining('weather') }),
      ]),
    );

    expect((await ctxd(colleague, 'tool', 'install', '--yes')).code).toBe(0);
    expect(readFileSync(join(colleague, '.claude/settings.local.json'), 'utf8')).toContain('"Bash(weather *)"');
    expect(readFileSync(join(colleague, '.claude/settings.json'), 'utf8')).not.toContain('weather');
    const after = await checks(colleague);
    expect(after).toContainEqual(
      expect.objectContaining({ name: 'installed tools', detail: `weather 1.0.0 in ${colleague}: hashes match` }),
    );
    expect(after).not.toContainEqual(expect.objectContaining({ name: 'tools' }));

    // Without the tool again: what the clone brought goes too.
    await ctxd(colleague, 'init', '--uninstall');
    expect(existsSync(join(colleague, '.claude'))).toBe(false);
    const other = realpathSync(mkdtempSync(join(sources, 'clone-')));
    cpSync(project, other, { recursive: true, filter: isCommitted });
    await ctxd(other, 'init', '--no-toolchains', '--no-network', '--yes');
    await ctxd(other, 'init', '--uninstall');
    expect(existsSync(join(other, '.claude'))).toBe(false);
  });

  it('the lock file reproduces exactly, or says what differs, and asks on each machine', async () => {
    const project = await newProject();
    const dir = newTool();
    await ctxd(project, 'tool', 'install', dir, '--yes');

    const colleague = await newProject();
    cpSync(join(project, 'contextd.lock'), join(colleague, 'contextd.lock'));
    const asked = await ctxd(colleague, 'tool', 'install');
    expect([asked.code, asked.stderr]).toEqual([1, expect.stringContaining('was not installed')]);
    expect((await call(colleague, 'weather', {})).code).not.toBe(0);
    expect((await ctxd(colleague, 'tool', 'install', '--yes')).code).toBe(0);
    expect(lockOf(colleague)).toBe(lockOf(project));
    expect((await listed(colleague))[0]?.bundle_sha256).toBe((await listed(project))[0]?.bundle_sha256);

    const third = await newProject();
    cpSync(join(project, 'contextd.lock'), join(third, 'contextd.lock'));
    appendFileSync(join(dir, 'main.sh'), '# changed\n');
    const differs = await ctxd(third, 'tool', 'install', '--yes');
    expect(differs.code).toBe(1);
    expect(differs.stderr).toContain('is not what contextd.lock names: its files have the hash ');
    expect(await listed(third)).toEqual([]);
  });

  it('issue 17 part 3: a lock file that names another source asks for every grant again, also for the same bytes', async () => {
    const project = await newProject();
    const repository = newRepository({ grants: ['network:api.weather.example', 'log'] });
    for (const tag of ['v1', 'v2']) repository.git('tag', tag);
    expect((await ctxd(project, 'tool', 'install', `git::file://${repository.dir}@v1`, '--yes')).code).toBe(0);
    await ctxd(project, 'config', 'unset', 'install.yes_grants');
    await ctxd(project, 'server', 'restart');
    const [before] = await listed(project);

    // What was granted is not asked for again.
    const same = await ctxd(project, 'tool', 'install', '--yes');
    expect([same.code, same.stderr]).toEqual([0, expect.not.stringContaining('(new)')]);

    const moved = lockOf(project).replace('@v1"', '@v2"');
    writeFileSync(join(project, 'contextd.lock'), moved);
    const asked = await ctxd(project, 'tool', 'install');
    expect([asked.code, asked.stderr]).toEqual([1, expect.stringContaining('weather was not updated')]);
    expect(asked.stderr.match(/ \(new\)$/gm)).toHaveLength(2);
    expect(asked.stderr).toContain(`the one before came from git::file://${repository.dir}@v1`);
    const refused = await ctxd(project, 'tool', 'install', '--yes');
    expect(refused.stderr).toContain('--yes does not give weather what it asks for: network:api.weather.example.');
    expect(refused.code).toBe(1);
    expect(await listed(project)).toEqual([before]);
    expect(lockOf(project)).toBe(moved);

    // A yes makes the new source the one that is shown and updated from.
    await ctxd(project, 'config', 'set', 'install.yes_grants', CEILING);
    await ctxd(project, 'server', 'restart');
    expect((await ctxd(project, 'tool', 'install', '--yes')).code).toBe(0);
    expect((await listed(project))[0]?.installed_from?.source).toBe(`git::file://${repository.dir}@v2`);
    expect(lockOf(project)).toBe(moved);
    expect((await ctxd(project, 'tool', 'update', '--check', '--all')).code).toBe(0);
  });

  it('refuses the name of a program on the PATH of the person, which the daemon may not have', async () => {
    const project = await newProject();
    const bin = mkdtempSync(join(sources, 'bin-'));
    writeFileSync(join(bin, 'weather'), '#!/bin/sh\n', { mode: 0o755 });
    const env = { PATH: `${at.environment.PATH}:${bin}` };
    const { code, stderr } = await at.run(CTXD, ['tool', 'install', newTool(), '--yes'], { cwd: project, env });
    expect([code, stderr]).toEqual([1, expect.stringContaining(`which is the program ${join(bin, 'weather')}`)]);
    expect(await listed(project)).toEqual([]);
  });

  it('SEC-4.1 shows a purpose in quotes and without runs of blanks, so that it cannot look like other lines', async () => {
    const blanks = `Tells the weather.${' '.repeat(60)}It asks to:`;
    const tool = newTool({ manifest: { purpose: blanks } });
    const { stderr } = await ctxd(await newProject(), 'tool', 'install', tool);
    expect(stderr).toContain('weather 1.0.0: "Tells the weather. It asks to:"\n');
  });

  it('issue 17 part 3: a lock file that names another publisher is refused, and the tool stays', async () => {
    const project = await newProject();
    expect((await ctxd(project, 'tool', 'install', `git::file://${newRepository().dir}`, '--yes')).code).toBe(0);
    const [before] = await listed(project);
    const other = newRepository();
    const lock = JSON.parse(lockOf(project)) as { tools: { weather: { source: string; commit: string } } };
    lock.tools.weather = {
      ...lock.tools.weather,
      source: `git::file://${other.dir}`,
      commit: other.git('rev-parse', 'HEAD'),
    };
    writeFileSync(join(project, 'contextd.lock'), JSON.stringify(lock));
    const { code, stderr } = await ctxd(project, 'tool', 'install', '--yes');
    expect([code, stderr]).toEqual([1, expect.stringContaining('has a tool weather from')]);
    expect(stderr).toContain('ctxd tool remove weather');
    expect(await listed(project)).toEqual([before]);
  });

  it('SEC-4.1 a project sees the schema of its own version of a tool, and none of a tool of other projects', async () => {
    const [first, second, third] = [await newProject(), await newProject(), await newProject()];
    for (const [project, field] of [
      [first, 'city'],
      [second, 'town'],
    ] as const) {
      const schema = {
        ...SCHEMA,
        properties: { [field]: { type: 'string', maxLength: 100, description: 'A place.' } },
      };
      const files = { 'schema.json': JSON.stringify(schema), 'TOOL_EXTENDED.md': `# weather\n\n\`${field}\`: it.\n` };
      expect((await ctxd(project, 'tool', 'install', newTool({ files }), '--yes')).stderr).not.toContain('ctxd:');
    }
    const clients = connect(join(at.home, 'run/contextd.sock'), certificateOf(join(at.home, 'state/certs'), 'proxy'));
    const request = (root: string) => ({ tool: 'weather', context: { protocol_version: 2, project_root: root } });
    try {
      const fields = async (root: string): Promise<string[]> => {
        const answer = await answered<SchemaResponse__Output>((done) => clients.tools.GetSchema(request(root), done));
        return Object.keys((JSON.parse(answer.schema_json) as { properties: object }).properties);
      };
      expect([await fields(first), await fields(second)]).toEqual([['city'], ['town']]);
      for (const root of [third, '', '/no/such/project']) {
        const { code, details } = await refused((done) => clients.tools.GetSchema(request(root), done));
        expect([code, details]).toEqual([status.NOT_FOUND, 'there is no tool named "weather"']);
      }
    } finally {
      close(clients);
    }
  });

  it('issue 17 part 2: the lock file names a tool of the project by its place in it, so that a colleague installs it', async () => {
    const [project, colleague] = [await newProject(), await newProject()];
    makeTool(join(project, 'tools/weather'));
    await ctxd(project, 'tool', 'install', './tools/weather', '--yes');
    expect(JSON.parse(lockOf(project)).tools.weather.source).toBe('./tools/weather');
    cpSync(join(project, 'contextd.lock'), join(colleague, 'contextd.lock'));
    const gone = await ctxd(colleague, 'tool', 'install', '--yes');
    expect([gone.code, gone.stderr]).toEqual([
      1,
      expect.stringContaining('contextd.lock names ./tools/weather for weather, which is not in the project'),
    ]);
    cpSync(join(project, 'tools'), join(colleague, 'tools'), { recursive: true });
    mkdirSync(join(colleague, 'below'));
    expect((await at.run(CTXD, ['tool', 'install', '--yes'], { cwd: join(colleague, 'below') })).stderr).not.toContain(
      'ctxd:',
    );
    expect(await answerOf(colleague, 'weather')).toMatchObject({ version: '1.0.0' });
    expect(lockOf(colleague)).toBe(lockOf(project));
  });

  it('issue 17 part 8: one bad tool of a lock file or an update is named, and keeps no other from being installed', async () => {
    const [project, colleague] = [await newProject(), await newProject()];
    const dirs = ['alpha', 'beta', 'gamma'].map((name) => newTool({ name }));
    for (const dir of dirs) await ctxd(project, 'tool', 'install', dir, '--yes');
    cpSync(join(project, 'contextd.lock'), join(colleague, 'contextd.lock'));
    rmSync(dirs[1] ?? '', { recursive: true });
    const all = await ctxd(colleague, 'tool', 'install', '--yes', '--json');
    expect(all.code).toBe(1);
    expect(JSON.parse(all.stdout)).toMatchObject({
      tools: [
        { name: 'alpha', state: 'installed' },
        { name: 'gamma', state: 'installed' },
      ],
      failed: [
        {
          name: 'beta',
          code: 'PATH_NOT_FOUND',
          message: expect.stringContaining('a place of the machine that added it'),
        },
      ],
    });
    expect((await listed(colleague)).map(({ name }) => name)).toEqual(['alpha', 'gamma']);

    makeTool(dirs[2] ?? '', { name: 'gamma', version: '2.0.0' });
    const check = await ctxd(project, 'tool', 'update', '--check', '--all');
    expect(check.code).toBe(1);
    for (const line of ['alpha 1.0.0 is what', 'gamma 2.0.0: ', 'beta was left as it was: '])
      expect(check.stdout).toContain(line);
    expect((await ctxd(project, 'tool', 'update', '--all', '--yes')).code).toBe(1);
    expect((await listed(project)).map(({ version }) => version)).toEqual(['1.0.0', '1.0.0', '2.0.0']);
  });

  it('a failure with --json is one JSON value; an unknown source lists the forms, a line each', async () => {
    const project = await newProject();
    const { code, stdout, stderr } = await ctxd(project, 'tool', 'install', 'weather', '--json');
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({
      error: { code: 'ARGS_INVALID', message: expect.stringContaining('"weather"') },
    });
    const [first, ...forms] = stderr.trimEnd().split('\n');
    expect(first).toMatch(
      /^ctxd: "weather" is not a source.* such as `ctxd tool install github\.com\/org\/tool@v1`\.$/,
    );
    expect(forms).toHaveLength(5);
    expect(forms[0]).toMatch(/^ {2}github\.com\/ORG\/REPO/);
    const usage = await ctxd(project, 'tool', 'install', '--no-such-option', '--json');
    expect([usage.code, JSON.parse(usage.stdout).error.code]).toEqual([2, 'ARGS_INVALID']);
  });

  it.each([
    ['text', 'oops', 'it is not JSON'],
    ['a newer format', '{"format":2,"tools":{}}', 'has format 2, this contextd reads 1'],
    ['a name that leads elsewhere', '{"format":1,"tools":{"../x":{}}}', 'is not the name of a tool'],
    ['no hash', '{"format":1,"tools":{"a":{"version":"1","source":"./a","grants":[]}}}', 'no usable "sha256"'],
  ])('refuses a lock file with %s before anything is fetched', async (_what, text, fault) => {
    const project = await newProject();
    writeFileSync(join(project, 'contextd.lock'), text);
    for (const words of [['install'], ['install', newTool(), '--yes']]) {
      const { code, stderr } = await ctxd(project, 'tool', ...words);
      expect([code, stderr]).toEqual([1, expect.stringContaining(fault)]);
    }
    expect(readFileSync(join(project, 'contextd.lock'), 'utf8')).toBe(text);
  });

  it('SEC-4.1 refuses a bundle that was changed on disk, and an installation repairs it', async () => {
    const project = await newProject();
    const dir = newTool({ version: '4.0.0' });
    await ctxd(project, 'tool', 'install', dir, '--yes');
    const [tool] = await listed(project);
    appendFileSync(join(at.home, 'data/tools', tool?.bundle_sha256 ?? '', 'main.sh'), 'echo changed\n');
    const refused = await call(project, 'weather', {});
    expect(refused.code).toBe(4);
    expect(refused.stdout).toContain('INTEGRITY_FAILED');
    expect((await listed(project))[0]?.state).toBe('its files were changed');
    expect((await ctxd(project, 'tool', 'install', '--yes')).code).toBe(0);
    expect((await answerOf(project, 'weather')).version).toBe('4.0.0');
  });

  it.each([
    ['a core tool', { name: 'safe_bash' }, 'a name that contextd or a shell uses itself'],
    ['a later core tool', { name: 'memory_forget' }, 'a name that contextd or a shell uses itself'],
    ['a builtin', { name: 'test' }, 'a name that contextd or a shell uses itself'],
    ['a program of other machines', { name: 'git' }, 'which is the name of a program that many machines have'],
    ['a program on PATH', { name: 'x86_64' }, 'which is the program /'],
  ])('refuses the name of %s', async (_what, tool, fault) => {
    const project = await newProject();
    const { code, stderr } = await ctxd(project, 'tool', 'install', newTool(tool), '--yes');
    expect([code, stderr]).toEqual([1, expect.stringContaining(fault)]);
  });

  it('refuses a second tool of the same name from another publisher', async () => {
    const project = await newProject();
    await ctxd(project, 'tool', 'install', newTool(), '--yes');
    const repository = newRepository({ version: '9.0.0' });
    const { code, stderr } = await ctxd(project, 'tool', 'install', `git::file://${repository.dir}`, '--yes');
    expect([code, stderr]).toEqual([1, expect.stringContaining('has a tool weather from')]);
    expect(stderr).toContain('ctxd tool remove weather');
    expect((await answerOf(project, 'weather')).version).toBe('1.0.0');
  });

  it('issue 17 part 3: a signature is shown, can be required, and --yes takes no version that has lost it', async () => {
    const project = await newProject();
    const signer = newSigner();
    const dir = newTool({ version: '1.0.0' });
    const signTool = (): void => {
      const files = readdirSync(dir).filter((name) => !name.startsWith('SHA256SUMS'));
      const sums = files.map((name) => `${sha256Of(join(dir, name))}  ./${name}\n`).join('');
      writeFileSync(join(dir, 'SHA256SUMS'), sums);
      writeFileSync(join(dir, 'SHA256SUMS.minisig'), signer.sign(Buffer.from(sums)));
    };
    await ctxd(project, 'config', 'set', 'install.trusted_keys', JSON.stringify([signer.key]));
    await ctxd(project, 'config', 'set', 'install.require_signature', 'true');
    await ctxd(project, 'server', 'restart');
    const unsigned = await ctxd(project, 'tool', 'install', dir, '--yes');
    expect([unsigned.code, unsigned.stderr]).toEqual([1, expect.stringContaining('install.trusted_keys')]);
    signTool();
    const first = await ctxd(project, 'tool', 'install', dir, '--yes');
    expect([first.code, first.stderr]).toEqual([0, expect.stringContaining(`signed by ${signer.key} (minisign)`)]);
    appendFileSync(join(dir, 'main.sh'), '# changed\n');
    expect((await ctxd(project, 'tool', 'update', 'weather', '--yes')).stderr).toContain('another sha256 for main.sh');

    await ctxd(project, 'config', 'unset', 'install.require_signature');
    await ctxd(project, 'server', 'restart');
    for (const name of ['SHA256SUMS', 'SHA256SUMS.minisig']) rmSync(join(dir, name));
    const lost = await ctxd(project, 'tool', 'update', 'weather', '--yes');
    expect([lost.code, lost.stderr]).toEqual([1, expect.stringContaining('by a version that is not signed')]);
    expect((await listed(project))[0]?.installed_from?.signer).toBe(`${signer.key} (minisign)`);
  });

  it('lists every rule that a tool breaks, and keeps nothing of it', async () => {
    const project = await newProject();
    const { code, stderr } = await ctxd(
      project,
      'tool',
      'install',
      newTool({ files: { 'TOOL.md': '# other\n' } }),
      '--yes',
    );
    expect([code, stderr]).toEqual([1, expect.stringContaining('TOOL.md form')]);
    expect(staged()).toEqual([]);
  });

  it('does not take over a directory, a link or a file that is in the way', async () => {
    const project = await newProject();
    mkdirSync(join(project, 'elsewhere'));
    symlinkSync(join(project, 'elsewhere'), join(project, '.claude/tools/weather'));
    const { code, stderr } = await ctxd(project, 'tool', 'install', newTool(), '--yes');
    expect([code, stderr]).toEqual([1, expect.stringContaining('.claude/tools/weather is a symbolic link')]);
    expect(readdirSync(join(project, 'elsewhere'))).toEqual([]);
    expect(await listed(project)).toEqual([]);
  });

  it('the commands of one session never see the lock file change under their hands', async () => {
    const project = await newProject();
    await ctxd(project, 'tool', 'install', newTool(), '--yes');
    const before = lockOf(project);
    await call(project, 'safe_bash', { command: 'echo "{}" > contextd.lock; rm -f contextd.lock; true' });
    expect(lockOf(project)).toBe(before);
  });
});

/** After how many pieces of progress the daemon dies; the last is after the answer. install-killed.nightly.test.ts has every step. */
const DEATHS = [1, 6] as const;

describe('an installation that dies', () => {
  it('leaves the state before or a tool that works, wherever the daemon is killed', async () => {
    const project = await newProject();
    const dir = newTool({
      files: Object.fromEntries([...Array(400)].map((_, i) => [`lib/${i}.txt`, `${i}\n`.repeat(500)])),
    });
    const outcomes = new Set<string>();
    for (const death of DEATHS) {
      const { pid } = await at.status();
      const child = spawn(CTXD, ['tool', 'install', dir, '--yes'], { cwd: project, env: at.environment });
      const over = new Promise((resolve) => child.on('close', resolve));
      const text: string[] = [];
      child.stderr.on('data', (chunk: Buffer) => {
        text.push(chunk.toString());
        if (text.length >= death) kill(pid);
      });
      if (death === DEATHS.at(-1)) child.stdout.once('data', () => kill(pid));
      await over;
      kill(pid);
      await ctxd(project, 'server', 'start');
      const [tool] = await listed(project);
      outcomes.add(tool === undefined ? 'before' : 'after');
      if (tool === undefined) expect(existsSync(join(project, 'contextd.lock'))).toBe(false);
      expect(staged()).toEqual([]);
      expect(bundles().filter((name) => !/^[0-9a-f]{64}$/.test(name))).toEqual([]);
      expect((await ctxd(project, 'tool', 'install', dir, '--yes')).code).toBe(0);
      expect(await answerOf(project, 'weather')).toMatchObject({ version: '1.0.0' });
      await ctxd(project, 'tool', 'remove', 'weather', '--yes');
    }
    expect(outcomes.has('before')).toBe(true);
  }, 300_000);

  it('Ctrl-C leaves nothing behind', async () => {
    const project = await newProject();
    const before = bundles();
    const child = spawn(CTXD, ['tool', 'install', newTool({ version: '5.5.5' })], {
      cwd: project,
      env: at.environment,
    });
    const over = new Promise((resolve) => child.on('close', resolve));
    child.stderr.once('data', () => child.kill('SIGINT'));
    await over;
    await expect.poll(staged).toEqual([]);
    expect(bundles()).toEqual(before);
    expect(await listed(project)).toEqual([]);
  });
});

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It is gone already.
  }
}

/** The hash that the lock file names, computed as docs/plugins.md says, by nothing of contextd. */
describe('the hash of a bundle', () => {
  it('FR-10.4 is that of its files, their paths and their execute bits', async () => {
    const project = await newProject();
    const dir = newTool({ version: '3.3.3' });
    await ctxd(project, 'tool', 'install', dir, '--yes');
    const total = createHash('sha256');
    for (const file of readdirSync(dir).sort()) {
      const bytes = createHash('sha256')
        .update(readFileSync(join(dir, file)))
        .digest('hex');
      total.update(`${file}\0${file === 'main.sh' ? 'x' : '-'}\0${bytes}\n`);
    }
    expect((await listed(project))[0]?.bundle_sha256).toBe(total.digest('hex'));
  });
});
