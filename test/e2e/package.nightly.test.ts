import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { publint } from 'publint';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ROOT } from '../helpers/installation.ts';
import { runProgram } from '../helpers/run-program.ts';

/** Milliseconds for npm to pack, or to install everything that contextd depends on, on a busy machine. */
const NPM_MS = 600_000;
/** Not packed, or made by `npm pack` itself. */
const NOT_COPIED = new Set(['.git', 'node_modules', 'coverage', 'test', 'bench', 'bin/contextd-proxy']);
/** How this machine reaches its registry. */
const REGISTRY_ACCESS = /^(npm_config_.*|(https?|no)_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR))$/i;

let base: string;
let archive: string;

const PATH = `${join(ROOT, 'node_modules', '.bin')}:${process.env.PATH ?? ''}`;

/** Packed from a copy: `npm pack` replaces bin/contextd-proxy for a moment, which other tests call. */
beforeAll(async () => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'pack-')));
  const copy = join(base, 'copy');
  cpSync(ROOT, copy, { recursive: true, filter: (path) => !NOT_COPIED.has(relative(ROOT, path)) });
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  archive = join(base, (await npm(copy, 'pack', '--silent', '--pack-destination', base)).trim());
}, NPM_MS);

afterAll(() => rmSync(base, { recursive: true, force: true }));

async function run(cwd: string, env: Record<string, string>, program: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runProgram(program, args, { cwd, env });
  if (code !== 0) throw new Error(`${program} ${args.join(' ')}: exit code ${code}\n${stderr}${stdout}`);
  return stdout;
}

async function npm(cwd: string, ...args: string[]): Promise<string> {
  const own = Object.entries(process.env).filter(([name]) => REGISTRY_ACCESS.test(name));
  const env = { ...Object.fromEntries(own), PATH, HOME: process.env.HOME ?? '' } as Record<string, string>;
  // With --prefix, npm looks for the machine's settings below it.
  const settings = await run(ROOT, env, 'npm', 'config', 'get', 'globalconfig');
  return run(cwd, { ...env, NPM_CONFIG_GLOBALCONFIG: settings.trim() }, 'npm', ...args);
}

it('NFR-4.3 publint finds no fault in the package', async () => {
  const bytes = readFileSync(archive);
  const tarball = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
  const { messages } = await publint({ pack: { tarball }, strict: true });
  // Inside a sandbox dist/sdk is mounted as the package `contextd` itself, and there its field counts.
  const field = { filePath: './dist/sdk/package.json', field: 'exports' };
  const ignored = { code: 'NESTED_PACKAGE_JSON_FIELD_IGNORED', args: field };
  expect(messages).toEqual([expect.objectContaining(ignored)]);
});

it(
  'NFR-4.3 npm install -g makes a ctxd that works, and a project that depends on the package imports the SDK',
  async () => {
    const prefix = join(base, 'prefix');
    const [project, scratch] = [join(base, 'project'), join(base, 'scratch')];
    for (const dir of [project, scratch]) mkdirSync(dir);
    const quick = ['--no-audit', '--no-fund', '--prefer-offline'];
    await npm(base, 'install', '--global', '--prefix', prefix, ...quick, archive);

    const env = { PATH, HOME: base, CONTEXTD_HOME: join(base, 'home') };
    const ctxd = (...args: string[]): Promise<string> => run(project, env, join(prefix, 'bin', 'ctxd'), ...args);
    const call = (tool: string, input: string): Promise<string> =>
      run(project, env, `.claude/tools/${tool}/${tool}`, input);
    try {
      await ctxd('server', 'start');
      await ctxd('init', '--no-toolchains', '--no-network');
      expect(await call('safe_bash', 'echo packed')).toContain('packed');
      await ctxd('tool', 'new', 'weather', '--lang', 'ts', '--dir', '../weather');
      expect(await ctxd('tool', 'test', '../weather')).toMatch(/^passed: /);
      await ctxd('tool', 'install', '../weather', '--yes');
      expect(await call('weather', '{"city":"Oslo"}')).toContain('59.91');
    } finally {
      await ctxd('server', 'stop');
    }

    writeFileSync(join(scratch, 'package.json'), '{ "name": "scratch", "private": true, "type": "module" }\n');
    await npm(scratch, 'install', ...quick, join(prefix, 'lib', 'node_modules', 'contextd'));
    const lines = [
      "import { serveTool } from 'contextd/sdk';",
      "import { runTool } from 'contextd/sdk/test';",
      'console.log(typeof serveTool, typeof runTool);',
    ];
    writeFileSync(join(scratch, 'main.js'), lines.join('\n'));
    expect(await run(scratch, env, 'node', 'main.js')).toBe('function function\n');
  },
  NPM_MS,
);
