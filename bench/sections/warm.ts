import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { SHELL_LINK } from '../../src/cli/init/client-settings.ts';
import { type BenchInstallation, inheritedPath, installForBench, SAFE_BASH_LINK } from '../lib/machine.ts';
import { type Contender, race, runProcess, timed } from '../lib/measure.ts';
import { findPeer, type Peer } from '../lib/peers.ts';
import { missingRow, type Outcome, type Row, rowsOf, type Section } from '../lib/section.ts';
import { ask, findToolchain, goRoot, npmRoot, rustRoot } from '../lib/toolchains.ts';

/** A build or a test run takes seconds, not milliseconds. */
const ROUNDS_MAX = 10;
const TIMEOUT_MS = 300_000;
/** How much longer a warm run may take inside. */
const AIM = 1.2;
/** The same for contextd as the shell of a client. */
const SHELL_AIM = 1.3;
const [OUTSIDE, INSIDE, SHELL, SRT] = ['outside', 'inside', "inside, as a client's shell", 'srt'];

interface Work {
  readonly name: string;
  readonly command: string;
  /** By name, below the project. */
  readonly files: Readonly<Record<string, string>>;
  /** The directory of the toolchain: its `bin` is used inside and outside. */
  toolchain(): Promise<string>;
}

const GO_FILES = {
  'go/go.mod': 'module example.com/warm\n\ngo 1.20\n',
  'go/warm.go':
    'package warm\n\nimport (\n\t"encoding/json"\n\t"net/http"\n\t"net/http/httptest"\n)\n\nfunc Get() (string, error) {\n' +
    '\th := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { json.NewEncoder(w).Encode("ok") })\n' +
    '\tr := httptest.NewRecorder()\n\th.ServeHTTP(r, httptest.NewRequest("GET", "/", nil))\n\treturn r.Body.String(), nil\n}\n',
  'go/warm_test.go':
    'package warm\n\nimport "testing"\n\nfunc TestGet(t *testing.T) {\n\tif s, err := Get(); s != "\\"ok\\"\\n" || err != nil {\n\t\tt.Fatal(s, err)\n\t}\n}\n',
};

const WORKS: readonly Work[] = [
  {
    name: 'make',
    command: 'make -C c',
    files: {
      'c/Makefile': 'all: check\nwarm: warm.c\n\t$(CC) -O2 -o $@ $<\ncheck: warm\n\t./warm\n',
      'c/warm.c':
        '#include <stdio.h>\nint main(void) {\n  double sum = 0;\n  for (long i = 1; i < 200000000; i++) sum += 1.0 / i;\n' +
        '  printf("%.3f\\n", sum);\n  return sum < 1;\n}\n',
    },
    toolchain: async () => ((await ask('make', '--version')) && (await ask('cc', '--version')) ? '/usr' : ''),
  },
  { name: 'go test', command: 'cd go && go test ./...', files: GO_FILES, toolchain: goRoot },
  { name: 'go test -count=1', command: 'cd go && go test -count=1 ./...', files: GO_FILES, toolchain: goRoot },
  {
    name: 'cargo build',
    command: 'cd rust && touch src/main.rs && cargo build --offline',
    files: {
      // As `cargo new` makes it. What is not ignored can be undone, and its builds would be kept too.
      'rust/.gitignore': '/target\n',
      'rust/Cargo.toml': '[package]\nname = "warm"\nversion = "0.1.0"\nedition = "2021"\n',
      'rust/src/main.rs':
        'fn main() {\n    let v: Vec<String> = std::env::args().collect();\n    println!("{v:?}");\n}\n',
    },
    toolchain: rustRoot,
  },
  {
    name: 'npm test',
    command: 'cd js && npm test',
    files: {
      'js/package.json': '{"name":"warm","version":"1.0.0","scripts":{"test":"node --test test/"}}\n',
      'js/test/warm.test.js':
        "const test = require('node:test');\nconst assert = require('node:assert');\ntest('adds', () => assert.equal(1 + 1, 2));\n",
    },
    toolchain: npmRoot,
  },
  {
    name: 'pytest',
    command: 'cd py && python3 -m pytest -q',
    files: { 'py/test_warm.py': 'def test_adds():\n    assert 1 + 1 == 2\n' },
    toolchain: async () => (await ask('python3', '-c', 'import sys, pytest; print(sys.base_prefix)')).trim(),
  },
];

/** Builds and tests whose caches are filled: inside through the proxy, as an agent calls them, and outside. */
export const warmSection: Section = {
  async run({ rounds }) {
    const found = await Promise.all(
      WORKS.map(async ({ toolchain, ...work }) => ({ ...work, toolchain: await findToolchain(toolchain) })),
    );
    const listed = new Set(
      found.flatMap(({ toolchain }) => (toolchain === null || toolchain === '/usr' ? [] : toolchain)),
    );
    // One for all, so that Go's library is compiled once inside and once outside.
    const at = await installForBench({ 'sandbox.ro_paths': JSON.stringify([...listed]) });
    const home = mkdtempSync(join(tmpdir(), 'bench-home-'));
    try {
      await at.ctxd('init', '--shell', '--yes');
      const outcomes: Outcome[] = [];
      for (const one of found) outcomes.push(await compare(one, at, home, Math.min(rounds, ROUNDS_MAX)));
      return { tables: outcomes.flatMap(({ tables }) => tables), facts: outcomes.flatMap(({ facts }) => facts) };
    } finally {
      rmSync(home, { recursive: true, force: true });
      await at.remove();
    }
  },
};

interface FoundWork extends Omit<Work, 'toolchain'> {
  /** Null if it is not on this machine, or this account cannot use it. */
  readonly toolchain: string | null;
}

async function compare(work: FoundWork, at: BenchInstallation, home: string, rounds: number): Promise<Outcome> {
  const { name, command, files, toolchain } = work;
  const title = `${name}, warm, ms`;
  if (toolchain === null) return missing(title, 'its programs were not found');
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(at.project, path)), { recursive: true });
    writeFileSync(join(at.project, path), text);
  }
  const hostEnv = { HOME: home, PATH: `${join(toolchain, 'bin')}:${inheritedPath()}`, LANG: 'C.UTF-8' };
  const input = JSON.stringify({ command, timeout_ms: TIMEOUT_MS });
  const own = { cwd: at.project, env: at.env };
  const host = { cwd: at.project, env: { ...hostEnv, CLAUDE_CODE_TMPDIR: home } };
  writeFileSync(join(home, '.srt-settings.json'), JSON.stringify(srtSettings(home)));
  const srt = await workingSrt(host);
  const contenders: Contender[] = [
    { name: OUTSIDE, once: () => run('bash', ['-c', command], host) },
    { name: INSIDE, once: () => run(join(at.project, SAFE_BASH_LINK), [input], own) },
    { name: SHELL, once: () => run(join(at.project, SHELL_LINK), ['-c', command], own) },
    ...(srt.path === null ? [] : [srtContender(srt.path, command, host)]),
  ];
  try {
    const facts: Outcome['facts'] = [];
    for (const { name: contender, once } of contenders)
      facts.push({ name: `${name}: the first run ${contender}, ms`, value: Math.round(await timed(once)) });
    const rows: Row[] = rowsOf(await race(contenders, rounds));
    if (srt.path === null) rows.push(missingRow(SRT, srt.missing));
    const aims = [
      { row: INSIDE, atMost: AIM, times: OUTSIDE },
      { row: SHELL, atMost: SHELL_AIM, times: OUTSIDE },
    ];
    return { tables: [{ title, base: OUTSIDE, rows, aims }], facts };
  } catch (cause) {
    return missing(title, firstLine(cause));
  }
}

/** It may be installed and not run, for example where its sandbox lacks a namespace. */
async function workingSrt(host: Parameters<typeof runProcess>[2]): Promise<Peer> {
  const srt = findPeer('srt');
  if (srt.path === null) return srt;
  try {
    await srtContender(srt.path, 'true', host).once();
    return srt;
  } catch (cause) {
    return { path: null, missing: firstLine(cause) };
  }
}

/** Its own default refuses every write. A build writes to the project and to the caches in the home directory. */
function srtSettings(home: string): unknown {
  return {
    network: { allowedDomains: [], deniedDomains: [] },
    filesystem: { denyRead: [], allowWrite: ['.', home], denyWrite: [] },
  };
}

function srtContender(program: string, command: string, host: Parameters<typeof runProcess>[2]): Contender {
  return { name: SRT, once: () => run(process.execPath, [program, 'bash', '-c', command], host) };
}

function missing(title: string, why: string): Outcome {
  return { tables: [{ title, base: null, rows: [missingRow('inside', why)], aims: [] }], facts: [] };
}

function firstLine(cause: unknown): string {
  return (cause instanceof Error ? cause.message : String(cause)).split('\n')[0] ?? '';
}

async function run(...args: Parameters<typeof runProcess>): Promise<undefined> {
  await runProcess(...args);
}
