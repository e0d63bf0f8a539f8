import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type BenchInstallation, inheritedPath, installForBench, SAFE_BASH_LINK } from '../lib/machine.ts';
import { race, runProcess, timed } from '../lib/measure.ts';
import { missingRow, type Outcome, rowsOf, type Section } from '../lib/section.ts';
import { ask, findToolchain, goRoot, npmRoot, rustRoot } from '../lib/toolchains.ts';

/** A build or a test run takes seconds, not milliseconds. */
const ROUNDS_MAX = 10;
const TIMEOUT_MS = 300_000;
/** How much longer a warm run may take inside. */
const AIM = 1.2;

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
  { name: 'go test', command: 'cd go && go test ./...', files: GO_FILES, toolchain: goRoot },
  { name: 'go test -count=1', command: 'cd go && go test -count=1 ./...', files: GO_FILES, toolchain: goRoot },
  {
    name: 'cargo build',
    command: 'cd rust && touch src/main.rs && cargo build --offline',
    files: {
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
  const outside = { name: 'outside', once: () => run('bash', ['-c', command], { cwd: at.project, env: hostEnv }) };
  const input = JSON.stringify({ command, timeout_ms: TIMEOUT_MS });
  const inside = {
    name: 'inside',
    once: () => run(join(at.project, SAFE_BASH_LINK), [input], { cwd: at.project, env: at.env }),
  };
  try {
    const [firstInside, firstOutside] = [await timed(inside.once), await timed(outside.once)];
    const rows = rowsOf(await race([outside, inside], rounds));
    return {
      tables: [{ title, base: 'outside', rows, aims: [{ row: 'inside', atMost: AIM, times: 'outside' }] }],
      facts: [
        { name: `${name}: the first run inside, ms`, value: Math.round(firstInside) },
        { name: `${name}: the first run outside, ms`, value: Math.round(firstOutside) },
      ],
    };
  } catch (cause) {
    return missing(title, cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : String(cause));
  }
}

function missing(title: string, why: string): Outcome {
  return { tables: [{ title, base: null, rows: [missingRow('inside', why)], aims: [] }], facts: [] };
}

async function run(...args: Parameters<typeof runProcess>): Promise<undefined> {
  await runProcess(...args);
}
