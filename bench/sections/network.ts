import { fork } from 'node:child_process';
import { lookup } from 'node:dns/promises';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installForBench, SAFE_BASH_LINK } from '../lib/machine.ts';
import { type Contender, race, runProcess, spreadOf, timed } from '../lib/measure.ts';
import { makeProject, openSandbox, type SandboxHost } from '../lib/sandbox-host.ts';
import { missingRow, type Outcome, rowsOf, type Section, type Table } from '../lib/section.ts';
import { findToolchain, goRoot, javaHome, npmRoot, rustRoot } from '../lib/toolchains.ts';

const NONE = 'without a network';
const WITH = 'with the network of its project';
const OUTSIDE = 'outside';
const BY_VARIABLES = 'inside, by the proxy variables';
const BY_NAME = 'inside, with nothing set';
/** How much longer a sandbox with a network may take to start. */
const START_AIM = 1.1;
/** How much longer a transfer may take inside. */
const TRANSFER_AIM = 1.5;
/** How long the second run may take, of the first. */
const CACHE_AIM = 0.5;
/** Transfers and builds take seconds. */
const ROUNDS_MAX = 5;
const TIMEOUT_MS = 300_000;

/** What the network adds: to the start of a sandbox, to downloads, and what its caches save. */
export const networkSection: Section = {
  async run({ rounds }) {
    const few = Math.min(rounds, ROUNDS_MAX);
    const tables = [...(await compareStarts(rounds)), ...(await compareTransfers(few)), ...(await compareRuns(few))];
    return { tables, facts: [] } satisfies Outcome;
  },
};

async function compareStarts(rounds: number): Promise<Table[]> {
  const project = makeProject();
  const [pooled, cold] = [await openSandbox({}), await openSandbox({ preforked: 0 })];
  const contenders = (host: SandboxHost): Contender[] =>
    ([NONE, WITH] as const).map((name) => ({
      name,
      once: () => done(host.runTrue(project, undefined, name === WITH ? 'project' : 'none')),
      after: () => host.refilled(project),
    }));
  try {
    const tables: Table[] = [];
    for (const [title, host] of Object.entries({ 'pre-forked': pooled, cold })) {
      const rows = rowsOf(await race(contenders(host), rounds));
      const aims = [{ row: WITH, atMost: START_AIM, times: NONE }];
      tables.push({ title: `bash -c true in a sandbox, ${title}, ms`, base: NONE, rows, aims });
    }
    return tables;
  } finally {
    await Promise.all([pooled.stop(), cold.stop()]);
    rmSync(project, { recursive: true, force: true });
  }
}

const TRANSFERS: Readonly<Record<string, readonly string[]>> = {
  '300 MB by HTTPS from this machine, ms': ['/large'],
  '1,000 small requests over one connection, ms': ['/[1-1000]'],
  '1,000 small requests over connections of their own, ms': ['/[1-1000]?close'],
};

async function compareTransfers(rounds: number): Promise<Table[]> {
  const server = await startServer().catch((cause: unknown) => String(cause));
  if (typeof server === 'string') return Object.keys(TRANSFERS).map((title) => missing(title, server));
  const host = await openSandbox({});
  const project = makeProject();
  host.allow(project, server.place);
  const tables: Table[] = [];
  try {
    for (const [title, paths] of Object.entries(TRANSFERS)) {
      const urls = paths.map((path) => `https://${server.place}${path}`);
      const argv = ['curl', '-kfsS', '--http1.1', '-o', '/dev/null', ...urls];
      const contenders = [
        { name: OUTSIDE, once: () => done(runProcess('curl', argv.slice(1))) },
        { name: BY_VARIABLES, once: () => done(host.runWithNetwork(project, argv)) },
        { name: BY_NAME, once: () => done(host.runWithNetwork(project, ['curl', '--noproxy', '*', ...argv.slice(1)])) },
      ];
      const rows = rowsOf(await race(contenders, rounds));
      const aims = [BY_VARIABLES, BY_NAME].map((row) => ({ row, atMost: TRANSFER_AIM, times: OUTSIDE }));
      tables.push({ title, base: OUTSIDE, rows, aims });
    }
    return tables;
  } finally {
    await host.stop();
    await server.stop();
    rmSync(project, { recursive: true, force: true });
  }
}

interface DownloadServer {
  /** `NAME:PORT` */
  readonly place: string;
  stop(): Promise<void>;
}

/** By the name of this machine, so that inside and outside ask for the same. Throws if there is no address or no openssl. */
async function startServer(): Promise<DownloadServer> {
  const name = hostname().toLowerCase();
  const { address } = await lookup(name, { family: 4 });
  const dir = mkdtempSync(join(tmpdir(), 'bench-download-'));
  const file = join(dir, 'identity.pem');
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', file];
  await runProcess('openssl', [
    'req',
    '-x509',
    ...key,
    '-out',
    join(dir, 'cert'),
    '-days',
    '2',
    '-subj',
    `/CN=${name}`,
  ]);
  await runProcess('sh', ['-c', 'cat "$1/cert" >>"$1/identity.pem"', 'sh', dir]);
  const program = fileURLToPath(new URL('../lib/download-main.js', import.meta.url));
  const child = fork(program, [address, file], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const port = await new Promise<unknown>((resolve, reject) => {
    child.once('message', resolve);
    child.once('exit', () => reject(new Error('the server ended')));
  });
  return {
    place: `${name}:${port}`,
    async stop() {
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.disconnect();
      await gone;
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

interface Work {
  readonly group: string;
  readonly command: string;
  readonly files: Readonly<Record<string, string>>;
  readonly toolchain: () => Promise<string>;
}

const WORKS: Readonly<Record<string, Work>> = {
  'npm ci': {
    group: 'npm',
    command: '[ -e package-lock.json ] || npm install --package-lock-only; npm ci --no-audit --no-fund',
    files: { 'package.json': '{"name":"net","version":"1.0.0","dependencies":{"qs":"6.14.0"}}\n' },
    toolchain: npmRoot,
  },
  'cargo build': {
    group: 'crates',
    command: 'cargo build',
    files: {
      'Cargo.toml': '[package]\nname = "net"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\nitoa = "1"\n',
      'src/main.rs': 'fn main() {\n    println!("{}", itoa::Buffer::new().format(1));\n}\n',
    },
    toolchain: rustRoot,
  },
  'go build': {
    group: 'go',
    command: 'go mod tidy && go build ./...',
    files: {
      'go.mod': 'module example.com/net\n\ngo 1.20\n\nrequire github.com/gorilla/mux v1.8.1\n',
      'net.go': 'package net\n\nimport _ "github.com/gorilla/mux"\n',
    },
    toolchain: goRoot,
  },
  'mvn compile': {
    group: 'maven',
    command: 'mvn -B -q compile',
    files: {
      'pom.xml':
        '<project><modelVersion>4.0.0</modelVersion><groupId>com.example</groupId><artifactId>net</artifactId><version>1</version>' +
        '<properties><maven.compiler.source>11</maven.compiler.source><maven.compiler.target>11</maven.compiler.target></properties>' +
        '<dependencies><dependency><groupId>com.google.code.gson</groupId><artifactId>gson</artifactId><version>2.11.0</version></dependency></dependencies></project>\n',
      'src/main/java/A.java':
        'public final class A { public static String a() { return new com.google.gson.Gson().toJson(1); } }\n',
    },
    toolchain: javaHome,
  },
};

/** The first run of a build in a new project, which downloads, and the runs after it, each in a sandbox of its own. */
async function compareRuns(rounds: number): Promise<Table[]> {
  const tables: Table[] = [];
  for (const [name, work] of Object.entries(WORKS)) {
    const title = `${name}, with caches that carry over between calls, ms`;
    tables.push(await compareRun(title, work, rounds).catch((cause: unknown) => missing(title, firstLine(cause))));
  }
  return tables;
}

async function compareRun(title: string, { group, command, files, toolchain }: Work, rounds: number): Promise<Table> {
  const found = await findToolchain(toolchain);
  if (found === null) return missing(title, 'its programs were not found');
  const at = await installForBench(found === '/usr' ? {} : { 'sandbox.ro_paths': JSON.stringify([found]) });
  try {
    await at.ctxd('network', 'allow', group, '--yes');
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(at.project, path)), { recursive: true });
      writeFileSync(join(at.project, path), text);
    }
    const input = JSON.stringify({ command, timeout_ms: TIMEOUT_MS });
    const once = (): Promise<undefined> =>
      done(runProcess(join(at.project, SAFE_BASH_LINK), [input], { cwd: at.project, env: at.env }));
    const first = await timed(once);
    const later = await race([{ name: 'the second run', once }], rounds);
    const rows = [{ name: 'the first run', times: spreadOf([first]), note: '' }, ...rowsOf(later)];
    const aims = [{ row: 'the second run', atMost: CACHE_AIM, times: 'the first run' }];
    return { title, base: 'the first run', rows, aims };
  } finally {
    await at.remove();
  }
}

function missing(title: string, why: string): Table {
  return { title, base: null, rows: [missingRow('inside', why)], aims: [] };
}

function firstLine(cause: unknown): string {
  return (cause instanceof Error ? cause.message : String(cause)).split('\n')[0]?.slice(0, 300) ?? '';
}

async function done(work: Promise<unknown>): Promise<undefined> {
  await work;
}
