import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { runCli } from '#src/cli/program.js';
import { readEnvironment } from '#src/config/env.js';
import { resolvePaths } from '#src/config/paths.js';
import { countTokens, makeFolder, makeInstalledTool, makeTool, SCHEMA } from '../catalog/verify-tool/tool-files.ts';

interface World {
  installRoot: string;
  cwd: string;
}

/** An installation with one tool in its folder, and no daemon anywhere. */
async function makeWorld(): Promise<World> {
  const installRoot = dirname(await makeTool({}, 'tools')).replace(/\/tools$/, '');
  return { installRoot, cwd: await makeFolder() };
}

async function verify({ installRoot, cwd }: World, ...words: string[]) {
  const env = readEnvironment({ HOME: cwd, CONTEXTD_HOME: join(cwd, 'c'), PATH: '/usr/bin:/bin' });
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const paths = { ...resolvePaths(env, installRoot), proxyBinary: '/opt/contextd/bin/contextd-proxy' };
  const streams = { stdin: Readable.from([]), stdout, stderr };
  const signal = new AbortController().signal;
  const [out, err] = [text(stdout), text(stderr)];
  const code = await runCli(['tool', 'verify', ...words], { ...streams, env, paths, version: '1', cwd, signal });
  stdout.end();
  stderr.end();
  return { code, out: await out, err: await err };
}

describe('ctxd tool verify', () => {
  it('FR-2.3 FR-2.4 checks all tools of the installation and their sum', async () => {
    const world = await makeWorld();
    const { code, out, err } = await verify(world);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/^ok {4}good_tool schema\.json cost: \d+ of at most 500 tokens$/m);
    // A single tool has a limit of its own.
    expect(out).not.toContain('all schemas');
    await rename(await makeTool(), join(world.installRoot, 'tools', 'second'));
    const both = await verify(world);
    expect(both.code).toBe(1);
    expect(both.out).toMatch(
      /^fail {2}second tool\.json: it names the tool good_tool\n {6}Give tool and directory the same name\.$/m,
    );
    expect(both.out).toMatch(/^ok {4}all schemas \(2\): \d+ of at most 1499 tokens$/m);
  });

  it('prints one JSON value with every figure', async () => {
    const { code, out } = await verify(await makeWorld(), 'good_tool', '--json');
    const cost = countTokens(JSON.stringify(SCHEMA));
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      passed: true,
      together: null,
      tools: [{ name: 'good_tool', dir: expect.stringMatching(/\/tools\/good_tool$/), schema_tokens: cost }],
    });
    expect(JSON.parse(out).tools[0].checks).toContainEqual({
      rule: 'schema.json cost',
      passed: true,
      detail: `${cost} of at most 500 tokens`,
      remedy: '',
      figure: cost,
      limit: 500,
      unit: 'tokens',
    });
  });

  it('accepts directories, and names of tools in the installation, the current project and the current directory', async () => {
    const world = await makeWorld();
    const installed = await makeInstalledTool();
    const broken = await makeTool({ 'schema.json': '{' });
    const dirs = async (...words: string[]) => {
      const { code, out } = await verify(world, ...words, '--json');
      return [code, ...JSON.parse(out).tools.map(({ dir }: { dir: string }) => dir)];
    };
    expect(await dirs(broken, installed)).toEqual([1, broken, installed]);
    expect(await dirs('good_tool')).toEqual([0, join(world.installRoot, 'tools', 'good_tool')]);
    await rm(join(world.installRoot, 'tools', 'good_tool'), { recursive: true });
    world.cwd = dirname(installed).replace(/\/tools$/, '');
    expect(await dirs('good_tool')).toEqual([0, installed]);
    world.cwd = dirname(broken);
    expect(await dirs('good_tool')).toEqual([1, broken]);
    expect(await dirs('./good_tool/')).toEqual([1, broken]);
    world.cwd = broken;
    expect(await dirs('.')).toEqual([1, broken]);
  });

  it('names the places of tools for an unknown name, and the fault of a directory without a tool', async () => {
    const world = await makeWorld();
    expect(await verify(world, 'no_such')).toEqual({
      code: 1,
      out: '',
      err: expect.stringMatching(/^ctxd: there is no tool "no_such"\. Pass a tool in .*\n$/),
    });
    const { code, out } = await verify(world, './no_such');
    expect(code).toBe(1);
    expect(out).toContain('fail  no_such directory: the directory cannot be read (ENOENT)\n');
  });

  it('never lets the content of a file control the terminal', async () => {
    const world = await makeWorld();
    const dir = join(world.cwd, 'x\u001b[2J');
    await mkdir(dir);
    await writeFile(join(dir, 'tool.json'), '{"\\u001b[2J":1}');
    const { out } = await verify(world, dir);
    expect(out).toContain('\\u001b[2J');
    expect(out).not.toContain('\u001b');
  });
});
