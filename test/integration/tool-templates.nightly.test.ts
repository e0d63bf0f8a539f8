import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LANGUAGES, type Language } from '#src/cli/new-tool/create-tool.js';
import { findMissing, GO } from '../helpers/build-go-programs.ts';
import { CTXD, type Finished, ROOT } from '../helpers/installation.ts';
import { runCtxd } from '../helpers/run-ctxd.ts';
import { runProgram } from '../helpers/run-program.ts';
import { openToolDaemon, type ToolDaemon } from '../helpers/tool-daemon.ts';

/** Milliseconds for Go to build the packages of the SDK once. */
const BUILD_MS = 300_000;
const here = mkdtempSync(join(tmpdir(), 'ctxd-new-'));
afterAll(() => rmSync(here, { recursive: true, force: true }));

/** Runs ctxd with the machine's PATH, a home of its own, and no daemon; `tool test` in a process, whose environment it passes on. */
function ctxd(...words: string[]): Promise<Finished> {
  const { PATH = '', HOME = '', GOPATH, GOPROXY, GOMODCACHE, GOCACHE } = process.env;
  const own = Object.entries({
    GOPATH: GOPATH ?? join(HOME, 'go'),
    GOPROXY,
    GOMODCACHE,
    GOCACHE: GOCACHE ?? join(HOME, '.cache', 'go-build'),
  });
  const set = own.filter((entry): entry is [string, string] => entry[1] !== undefined);
  const env = {
    PATH,
    HOME: join(here, '.home'),
    CONTEXTD_HOME: join(here, '.home', 'c'),
    ...GO,
    ...Object.fromEntries(set),
  };
  return words[1] === 'test' ? runProgram(CTXD, words, { cwd: here, env }) : runCtxd(words, { cwd: here, env });
}

async function fails(...words: string[]): Promise<string> {
  const { code, stderr, stdout } = await ctxd(...words);
  expect({ code, stdout }).toEqual({ code: expect.any(Number), stdout: '' });
  expect(code).toBeGreaterThan(0);
  return stderr;
}

const missingGo = findMissing('go-plugin');
const missing = (language: Language): boolean => language === 'go' && missingGo !== null;

const nameOf = (language: Language): string => `city_${language}`;
const KEY = randomBytes(15).toString('hex');
/** A project with the tools of all languages, and with `keyed`, which was granted two variables. */
let daemon: ToolDaemon;
beforeAll(async () => {
  for (const language of LANGUAGES) {
    const made = await ctxd('tool', 'new', nameOf(language), '--lang', language);
    expect(made).toMatchObject({ code: 0, stderr: '' });
  }
  const go = nameOf('go');
  if (!missing('go'))
    execFileSync('go', ['build', '-o', go, '.'], { cwd: join(here, go), env: { ...process.env, ...GO } });
  await makeKeyed(join(here, 'keyed'));
  const tools = [...LANGUAGES.filter((language) => !missing(language)).map(nameOf), 'keyed'];
  const variables = { CITY_API: 'city.example.com', CITY_API_KEY: KEY };
  daemon = await openToolDaemon(
    tools.map((name) => join(here, name)),
    { 'tools.env': JSON.stringify(variables) },
  );
}, BUILD_MS);
afterAll(() => daemon?.close());

async function makeKeyed(dir: string): Promise<void> {
  await ctxd('tool', 'new', 'keyed', '--lang', 'sh');
  const manifest: object = JSON.parse(readFileSync(join(dir, 'tool.json'), 'utf8'));
  const grants = ['env:CITY_API', 'env:CITY_API_KEY'];
  writeFileSync(join(dir, 'tool.json'), JSON.stringify({ ...manifest, grants }));
  writeFileSync(join(dir, 'main.sh'), '#!/bin/sh\nprintf "%s %s\\n" "$CITY_API" "$CITY_API_KEY"\n');
}

describe.each(LANGUAGES)('a tool made with ctxd tool new --lang %s', (language) => {
  const name = nameOf(language);
  const dir = join(here, name);

  it('FR-2.3 FR-2.4 fits every rule of ctxd tool verify', async () => {
    const { code, stdout } = await ctxd('tool', 'verify', dir);
    expect({ code, failed: stdout.split('\n').filter((line) => !line.startsWith('ok')) }).toEqual({
      code: 0,
      failed: [''],
    });
    expect(readdirSync(dir)).toContain('README.md');
    const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const texts = files.map(({ parentPath, name: file }) => readFileSync(join(parentPath, file), 'utf8'));
    expect(texts.filter((text) => text.includes('tool_name'))).toEqual([]);
  });

  it.skipIf(missing(language))(
    'FR-1.4 has a test that passes, and that fails if the tool is wrong',
    async () => {
      expect(await ctxd('tool', 'test', name)).toMatchObject({ code: 0, stdout: expect.stringMatching(/^passed: /) });
      const wrong = join(here, 'wrong', name);
      cpSync(dir, wrong, { recursive: true });
      const [file, right, changed] = LINES[language];
      const source = readFileSync(join(wrong, file), 'utf8');
      expect(source).toContain(right);
      writeFileSync(join(wrong, file), source.replace(right, changed));
      const failed = await ctxd('tool', 'test', wrong);
      expect({ code: failed.code, stdout: failed.stdout }).toEqual({
        code: 1,
        stdout: expect.stringMatching(/^failed with exit status \d+: /),
      });
    },
    BUILD_MS,
  );

  it.skipIf(missing(language))(
    'FR-1.4 FR-2.2 answers through its link and a daemon, and refuses what its schema refuses',
    async () => {
      const { success, data } = await daemon.ask(name, { city: 'São Paulo' });
      const place = { city: 'São Paulo', latitude: -23.55, longitude: -46.63 };
      expect({ success, data }).toEqual({ success: true, data: place });
      expect(await daemon.call(name, 'Oslo')).toMatchObject({ code: 0, stdout: 'Oslo: 59.91, 10.75\n' });
      const unknown = JSON.stringify(await daemon.ask(name, { city: 'constructor' }));
      for (const text of [UNKNOWN_CITY[language], 'here is no city constructor', 'Ask for one of these: Oslo, Nairobi'])
        expect(unknown).toContain(text);
      expect((await daemon.ask(name, { txt: 'x' })).data).toMatchObject({ error_code: 'ARGS_INVALID' });
    },
  );
});

/** A part of the tool, its file, and what makes it wrong. */
const LINES: Readonly<Record<Language, readonly [file: string, right: string, changed: string]>> = {
  ts: ['tool.ts', '59.91', '60.91'],
  go: ['main.go', '59.91', '60.91'],
  python: ['main.py', '59.91', '60.91'],
  sh: ['main.sh', '59.91', '60.91'],
};

/** A program of the runtime `exec` has no codes: it fails. */
const UNKNOWN_CITY: Readonly<Record<Language, string>> = {
  ts: 'NOT_FOUND',
  go: 'NOT_FOUND',
  python: 'TOOL_CRASHED',
  sh: 'TOOL_CRASHED',
};

describe('ctxd tool new', () => {
  it('prints what to do next', async () => {
    const { stdout } = await ctxd('tool', 'new', 'said', '--lang', 'go', '--dir', 'a folder/of mine');
    const dir = "'a folder/of mine'";
    expect(stdout.split('\n').slice(1)).toEqual([
      `  (cd ${dir} && CGO_ENABLED=0 go build -o said .)`,
      `  ctxd tool test ${dir}`,
      `  ctxd tool verify ${dir}`,
      `  ctxd tool install './a folder/of mine'`,
      '',
    ]);
    expect(stdout).toContain(`said is in ${join(here, 'a folder/of mine')}`);
    // The folder has another name than the tool.
    const { stdout: failed } = await ctxd('tool', 'verify', 'a folder/of mine');
    expect(failed.split('\n').filter((line) => line.startsWith('fail'))).toEqual(['fail  said entry: said is missing']);
  });

  it('takes an empty folder, and changes nothing in one that is not', async () => {
    mkdirSync(join(here, 'empty'));
    const { ino } = statSync(join(here, 'empty'));
    expect(await ctxd('tool', 'new', 'hello', '--dir', 'empty')).toMatchObject({ code: 0 });
    // A shell that is in it stays in it.
    expect(statSync(join(here, 'empty')).ino).toBe(ino);
    const before = readdirSync(join(here, 'empty'));
    const refused = await fails('tool', 'new', 'hello', '--lang', 'sh', '--dir', 'empty');
    expect(refused).toContain('is there already');
    // Issue 30.3: the folder may be the person's project.
    expect(refused).toContain('--dir ./');
    expect(refused).not.toContain('remove');
    expect(readdirSync(join(here, 'empty'))).toEqual(before);
    writeFileSync(join(here, 'plain'), 'mine');
    expect(await fails('tool', 'new', 'hello', '--dir', 'plain')).toContain('is there already');
    expect(readdirSync(here).filter((name) => name.endsWith('.tmp') || name.startsWith('.plain'))).toEqual([]);
  });

  it('refuses a name that no tool can have, and a language without a template', async () => {
    for (const name of ['Weather', '9lives', 'a-b', '../x', 'x'.repeat(65)])
      expect(await fails('tool', 'new', name)).toContain('cannot be the name of a tool');
    for (const name of ['safe_bash', 'jobs', 'safe_jobs', 'test'])
      expect(await fails('tool', 'new', name)).toContain('is a name that contextd or a shell uses itself');
    for (const name of ['git', 'npm'])
      expect(await fails('tool', 'new', name)).toContain('is the name of a program that many machines have');
    expect(await fails('tool', 'new', 'hello', '--lang', 'rust')).toContain('no template for the language "rust"');
    for (const name of ['Weather', 'safe_bash', 'hello']) expect(existsSync(join(here, name))).toBe(false);
  });

  it('ctxd tool test says which tests it finds', async () => {
    mkdirSync(join(here, 'nothing'));
    expect(await fails('tool', 'test', 'nothing')).toContain('there is no test in');
    expect(await fails('tool', 'test', 'no-such-folder')).toContain('cannot be read (ENOENT)');
  });
});

describe('the SDK for TypeScript', () => {
  it('FR-1.4 has types that the template fits, and refuses a tool without a name', async () => {
    const dir = join(here, 'typed');
    await ctxd('tool', 'new', 'typed', '--dir', 'typed');
    const sdk = join(dir, 'node_modules', '@contextd', 'sdk');
    mkdirSync(dirname(sdk), { recursive: true });
    cpSync(join(ROOT, 'dist', 'sdk'), sdk, { recursive: true });
    cpSync(join(ROOT, 'node_modules', '@types'), join(dir, 'node_modules', '@types'), { recursive: true });
    cpSync(join(ROOT, 'node_modules', 'undici-types'), join(dir, 'node_modules', 'undici-types'), { recursive: true });
    const tsc = (): Promise<Finished> =>
      runProgram(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', '.'], { cwd: dir });
    expect(await tsc()).toMatchObject({ code: 0, stdout: '' });
    writeFileSync(
      join(dir, 'main.ts'),
      "import { serveTool } from '@contextd/sdk';\nserveTool({ execute: () => ({ data: {} }) });\n",
    );
    expect(await tsc()).toMatchObject({
      stdout: expect.stringMatching(/main\.ts\(2,\d+\): error TS2345: .*[\s\S]*'name'/),
    });
  });
});

describe('a variable that a tool was granted', () => {
  it('SEC-1.1 reaches the tool, and its value is masked in answers if its name says that it is secret', async () => {
    const { data } = await daemon.ask('keyed', { city: '' });
    expect(data).toEqual({ text: 'city.example.com [SECRET_1]\n' });
  });
});

/** The commands of one section of a document, in their order. */
function commandsOf(document: string, heading: string): string[] {
  const text = readFileSync(join(ROOT, 'docs', document), 'utf8');
  const start = text.indexOf(`## ${heading}\n`);
  const section = text.slice(start, text.indexOf('\n## ', start));
  return section.split('\n').flatMap((line) => (line.startsWith('    ') ? [line.slice(4)] : []));
}

/** Runs them in one shell, as a person would who has `ctxd` on PATH and a daemon of their own. */
async function follow(commands: readonly string[]) {
  const dir = mkdtempSync(join(here, 'guide-'));
  const ann = ['AUTHOR', 'COMMITTER'].flatMap((who) => [
    [`GIT_${who}_NAME`, 'Ann'],
    [`GIT_${who}_EMAIL`, 'ann@example.com'],
  ]);
  const PATH = `${dirname(CTXD)}:${process.env.PATH}`;
  const env = { ...process.env, ...GO, ...Object.fromEntries(ann), PATH, CONTEXTD_HOME: join(dir, '.c') };
  const run = (script: string) => runProgram('sh', ['-c', script], { cwd: dir, env: env as Record<string, string> });
  try {
    return await run(['set -e', ...commands].join('\n'));
  } finally {
    await run('ctxd server stop');
  }
}

describe('the guides', () => {
  it.skipIf(missing('go'))(
    'docs/plugins.md: the commands for a tool of your own work, in their order',
    async () => {
      const commands = commandsOf('plugins.md', 'A tool in ten minutes');
      expect(commands.length).toBeGreaterThan(5);
      expect(await follow(commands)).toMatchObject({ code: 0 });
    },
    BUILD_MS,
  );

  it(
    'issue 17 part 6: docs/tools.md leads from nothing to a published tool that answers, and to its next version',
    async () => {
      const commands = commandsOf('tools.md', 'From nothing to a published tool, in ten minutes');
      const { code, stdout } = await follow(commands);
      expect(code).toBe(0);
      expect(stdout).toContain('Oslo');
      expect(stdout.trimEnd().split('\n').at(-1)).toMatch(/^weather\t1\.1\.0\t.*weather\.git@v2/);
    },
    BUILD_MS,
  );
});

describe('the package', () => {
  it('offers the SDK as contextd/sdk, with its harness', async () => {
    const script = `import { ContextdError, serveTool } from 'contextd/sdk';
import { runTool } from 'contextd/sdk/test';
const tool = { name: 'x', execute() { throw new ContextdError('CONFLICT', 'taken'); } };
const fault = await runTool(tool, {}, { workspace: '/' }).catch((thrown) => thrown);
console.log(fault instanceof ContextdError, fault.code, typeof serveTool);`;
    const { stdout } = await runProgram(process.execPath, ['--input-type=module', '-e', script], { cwd: ROOT });
    expect(stdout).toBe('true CONFLICT function\n');
  });
});
