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
import { formatMessage } from 'publint/utils';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ROOT } from '../helpers/installation.ts';
import { runProgram } from '../helpers/run-program.ts';

/** Milliseconds for npm to pack, or to install everything that contextd depends on. */
const NPM_MS = 300_000;
/** Not packed, or made by `npm pack` itself. */
const NOT_COPIED = new Set(['.git', 'node_modules', 'coverage', 'test', 'bench', 'bin/contextd-proxy']);

let base: string;
let archive: string;
let environment: Record<string, string>;

/** Packed from a copy: `npm pack` replaces bin/contextd-proxy for a moment, which other tests call. */
beforeAll(async () => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'pack-')));
  environment = {
    PATH: `${join(ROOT, 'node_modules', '.bin')}:${process.env.PATH ?? ''}`,
    HOME: process.env.HOME ?? base,
    CONTEXTD_HOME: join(base, 'home'),
  };
  const copy = join(base, 'copy');
  cpSync(ROOT, copy, { recursive: true, filter: (path) => !NOT_COPIED.has(relative(ROOT, path)) });
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  archive = join(base, (await npm(copy, 'pack', '--silent', '--pack-destination', base)).trim());
}, NPM_MS);

afterAll(() => rmSync(base, { recursive: true, force: true }));

async function run(cwd: string, program: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runProgram(program, args, { cwd, env: environment });
  if (code !== 0) throw new Error(`${program} ${args.join(' ')}: exit code ${code}\n${stderr}${stdout}`);
  return stdout;
}

function npm(cwd: string, ...args: string[]): Promise<string> {
  return run(cwd, 'npm', ...args);
}

it('NFR-4.3 publint finds no fault in the package', async () => {
  const bytes = readFileSync(archive);
  const tarball = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
  const { messages, pkg } = await publint({ pack: { tarball }, strict: true });
  // Inside a sandbox dist/sdk is mounted as the package `contextd` itself, and there its field counts.
  const faults = messages.map((message) => formatMessage(message, pkg) ?? message.code);
  expect(faults.filter((fault) => !fault.includes('./dist/sdk/package.json has an "exports" field'))).toEqual([]);
});

it(
  'NFR-4.3 npm install -g makes a ctxd that works: the daemon starts, a project is set up, and a call answers',
  async () => {
    const prefix = join(base, 'prefix');
    const project = join(base, 'project');
    mkdirSync(project);
    await npm(base, 'install', '--global', '--prefix', prefix, '--no-audit', '--no-fund', '--prefer-offline', archive);
    const ctxd = join(prefix, 'bin', 'ctxd');
    try {
      await run(project, ctxd, 'server', 'start');
      await run(project, ctxd, 'init');
      const call = join(project, '.claude', 'tools', 'safe_bash', 'safe_bash');
      expect(await run(project, call, 'echo packed; cat .env 2>/dev/null; true')).toContain('packed');
      await run(project, ctxd, 'tool', 'new', 'weather', '--lang', 'sh', '--dir', join(base, 'weather'));
      await run(project, ctxd, 'tool', 'test', join(base, 'weather'));
    } finally {
      await run(project, ctxd, 'server', 'stop');
    }
  },
  NPM_MS,
);

it(
  'NFR-4.3 a project that depends on the package imports the SDK and its harness',
  async () => {
    const scratch = join(base, 'scratch');
    mkdirSync(scratch);
    writeFileSync(join(scratch, 'package.json'), '{ "name": "scratch", "private": true, "type": "module" }\n');
    await npm(scratch, 'install', '--no-audit', '--no-fund', '--prefer-offline', archive);
    writeFileSync(
      join(scratch, 'main.js'),
      `import { serveTool } from 'contextd/sdk';
import * as test from 'contextd/sdk/test';
console.log(typeof serveTool, Object.keys(test).sort().join(' '));
`,
    );
    expect(await run(scratch, 'node', 'main.js')).toMatch(/^function \S/);
  },
  NPM_MS,
);
