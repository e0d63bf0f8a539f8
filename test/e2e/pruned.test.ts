import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ROOT } from '../helpers/installation.ts';
import { runProgram } from '../helpers/run-program.ts';

/** What a checkout has besides what a build makes. */
const SHIPPED = ['package.json', 'package-lock.json', 'tools', 'docs', 'proto', 'sdk', 'scripts', 'bin', 'dist', 'src'];

let base: string;
let copy: string;
let env: Record<string, string>;

async function run(program: string, args: readonly string[], cwd = copy): Promise<string> {
  const { code, stdout, stderr } = await runProgram(program, args, { cwd, env });
  if (code !== 0) throw new Error(`${program} ${args.join(' ')}: exit code ${code}\n${stderr}${stdout}`);
  return stdout;
}

/** Packages are linked: to remove one is to remove a name. The proxy works at the place for which it was built. */
beforeAll(async () => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'pruned-')));
  copy = join(base, 'copy');
  mkdirSync(copy);
  env = { PATH: process.env.PATH ?? '', HOME: base, CONTEXTD_HOME: join(base, 'home') };
  await run('cp', ['-al', join(ROOT, 'node_modules'), copy]);
  await run('cp', ['-a', ...SHIPPED.map((name) => join(ROOT, name)), copy]);
  await run('node_modules/.bin/node', ['dist/scripts/build-proxy.js']);
  await run('node_modules/.bin/node', ['dist/scripts/prune.js']);
});

afterAll(async () => {
  await run('bin/ctxd', ['server', 'stop']);
  rmSync(base, { recursive: true, force: true });
});

it('issue 37: a pruned installation keeps Node, the proxy, and the packages that its programs load with what these need', async () => {
  const loaded: string[] = JSON.parse(readFileSync(join(copy, 'dist/program/packages.json'), 'utf8'));
  expect(loaded).toContain('@aws-sdk/client-s3');
  const imports = ['reflect-metadata', ...loaded].map((name) => `await import('${name}');`).join('\n');
  await run('node_modules/.bin/node', ['--input-type=module', '--eval', imports]);
  for (const name of ['typescript', 'bun', 'vitest', 'hono', '@grpc/grpc-js', '@biomejs/biome'])
    expect([name, existsSync(join(copy, 'node_modules', name))]).toEqual([name, false]);
  expect(readdirSync(join(copy, 'node_modules/.bin'))).toEqual(['node']);
  const [megabytes = ''] = (await run('du', ['-sm', copy])).split('\t');
  expect(Number(megabytes)).toBeLessThan(320);
});

it('issue 37: a pruned installation starts a daemon with new certificates, runs tools and has no fault of its own', async () => {
  const project = join(base, 'project');
  mkdirSync(project);
  await run(join(copy, 'bin/ctxd'), ['init', '--no-toolchains', '--no-network'], project);
  expect(await run('.claude/tools/safe_bash/safe_bash', ['echo $((40 + 2))'], project)).toBe('42\n');
  const { stdout } = await runProgram(join(copy, 'bin/ctxd'), ['doctor'], { cwd: project, env });
  expect(stdout).toContain('contextd-proxy');
  expect(stdout).not.toMatch(/\bbun\b|npm ci|Install contextd again/);
});

it('issue 37: packages that other checkouts share stay', async () => {
  const sharing = join(base, 'sharing');
  mkdirSync(join(sharing, 'dist/scripts'), { recursive: true });
  await run('cp', ['-r', join(ROOT, 'dist/src'), join(ROOT, 'dist/program'), join(sharing, 'dist')]);
  await run('cp', [
    '-r',
    join(ROOT, 'dist/scripts/prune.js'),
    join(ROOT, 'package.json'),
    join(sharing, 'dist/scripts'),
  ]);
  const shared = join(base, 'shared');
  mkdirSync(join(shared, 'typescript'), { recursive: true });
  symlinkSync(shared, join(sharing, 'node_modules'));
  await expect(run(join(ROOT, 'node_modules/.bin/node'), [join(sharing, 'dist/scripts/prune.js')])).rejects.toThrow(
    'no directory of this installation alone',
  );
  expect(readdirSync(shared)).toEqual(['typescript']);
});

it('issue 37: prepare.sh sees that packages and build are gone, and the compiler writes all files again', () => {
  expect(existsSync(join(copy, 'node_modules/.contextd-lock'))).toBe(false);
  expect(existsSync(join(copy, 'dist/.built'))).toBe(false);
  expect(readdirSync(join(copy, 'dist')).filter((name) => name.includes('tsbuildinfo'))).toEqual([]);
});
