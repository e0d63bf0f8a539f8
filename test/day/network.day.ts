import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect } from 'vitest';
import { isOnPath } from './checkouts.ts';
import { expectRan, finish, removeMachine, task } from './machine.ts';
import { serveRepositories } from './repositories.ts';

const served = await serveRepositories();
// The person trusts the server of this machine by a variable, as they would trust one of their company.
if (served !== null) process.env.GIT_SSL_CAINFO = served.bundle;

afterAll(async () => {
  await served?.close();
  await removeMachine();
});

interface NetworkTask {
  /** Programs without which the task is not tried. */
  readonly needs: readonly string[];
  /** Groups that the person allows; none: the server of this machine. */
  readonly groups: readonly string[];
  readonly files?: Readonly<Record<string, string>>;
  /** Runs outside before, for files of the project that it makes. */
  readonly prepare?: string;
  readonly command: string;
  readonly stdout?: string | RegExp;
}

const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>com.example</groupId><artifactId>net</artifactId><version>1</version>
  <properties>
    <maven.compiler.source>11</maven.compiler.source><maven.compiler.target>11</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies>
    <dependency><groupId>com.google.code.gson</groupId><artifactId>gson</artifactId><version>2.11.0</version></dependency>
  </dependencies>
</project>
`;
const JAVA = 'public final class A { public static String a() { return new com.google.gson.Gson().toJson("a"); } }\n';
const CARGO = '[package]\nname = "net"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\nitoa = "1"\n';
const PACKAGE = '{"name":"net","version":"1.0.0","dependencies":{"qs":"6.14.0"}}\n';
const IDENTITY = '-c user.name="Ann Example" -c user.email=ann@example.com';

/** The work that fails without a network, with the registries for which the machine's own clients are configured. */
const TASKS: Readonly<Record<string, NetworkTask>> = {
  'npm install': {
    needs: ['npm'],
    groups: ['npm'],
    files: { 'package.json': '{"name":"net","version":"1.0.0"}\n' },
    command: 'npm install --no-audit --no-fund qs@6.14.0 && ls node_modules/qs/package.json',
    stdout: /qs\/package\.json\n$/,
  },
  'npm ci': {
    needs: ['npm'],
    groups: ['npm'],
    files: { 'package.json': PACKAGE },
    prepare: 'npm install --package-lock-only --no-audit --no-fund',
    command: 'npm ci --no-audit --no-fund && ls node_modules/qs/package.json',
    stdout: /qs\/package\.json\n$/,
  },
  'pip install': {
    needs: ['python3'],
    groups: ['pypi'],
    command:
      'python3 -m venv .venv && .venv/bin/pip install -q six==1.16.0 && .venv/bin/python -c "import six; print(6)"',
    stdout: '6\n',
  },
  'cargo fetch': {
    needs: ['cargo'],
    groups: ['crates'],
    files: { 'Cargo.toml': CARGO, 'src/lib.rs': '\n' },
    command: 'cargo fetch && cargo tree --offline',
    stdout: /itoa v1/,
  },
  'go get': {
    needs: ['go'],
    groups: ['go'],
    files: { 'go.mod': 'module example.com/net\n\ngo 1.20\n' },
    command: 'go get github.com/gorilla/mux@v1.8.1 && grep mux go.mod',
    stdout: /gorilla\/mux v1\.8\.1/,
  },
  'go mod download': {
    needs: ['go'],
    groups: ['go'],
    files: {
      'go.mod': 'module example.com/net\n\ngo 1.20\n\nrequire github.com/gorilla/mux v1.8.1\n',
    },
    command: 'go mod download && go mod verify',
    stdout: 'all modules verified\n',
  },
  mvn: {
    needs: ['java', 'mvn'],
    groups: ['maven'],
    files: { 'pom.xml': POM, 'src/main/java/A.java': JAVA },
    command: 'mvn -B -q compile && ls target/classes',
    stdout: /A\.class/,
  },
  'git clone and git fetch over https': {
    needs: ['git'],
    groups: [],
    command: 'git clone -q $URL/one.git c && cd c && git fetch -q && git log -1 --format=%s',
    stdout: 'The first of one\n',
  },
  'git push': {
    needs: ['git'],
    groups: [],
    command: `git clone -q $URL/one.git c && cd c && echo more >f && git add f && git ${IDENTITY} commit -q -m More && git push -q origin HEAD:refs/heads/b$RANDOM && echo pushed`,
    stdout: 'pushed\n',
  },
  'a submodule': {
    needs: ['git'],
    groups: [],
    command: 'git clone -q --recurse-submodules $URL/two.git c && cat c/sub/one.txt',
    stdout: 'one\n',
  },
  'apt-get download': {
    needs: ['apt-get'],
    groups: ['debian', 'ubuntu'],
    command: 'apt-get -qq update && apt-get -qq download hostname && ls *.deb',
    stdout: /hostname_\S+\.deb\n$/,
  },
  'curl of an API': { needs: ['curl'], groups: [], command: 'curl -fsS $URL/api/status', stdout: '{"up":true}' },
};

describe('the network, with what a person allowed', () => {
  for (const [title, { needs, groups, files = {}, prepare, command, stdout }] of Object.entries(TASKS)) {
    task(title, 'empty', async (at, skip) => {
      const missing = needs.filter((program) => !isOnPath(program));
      if (missing.length > 0) skip(`not installed: ${missing.join(', ')}`);
      if (served === null) return skip('the name of this machine leads to no address');
      const twin = `${at.dir}-outside`;
      const runOutside = (script: string, env: Record<string, string>) =>
        finish('bash', ['-c', `export URL=${served.url}; ${script}`], { cwd: twin, env });
      const firstEnv = outsideEnv(`${at.dir}-caches-1`, served.bundle);
      mkdirSync(twin);
      write(twin, files);
      for (const script of [prepare ?? 'true', command]) {
        const { code, stderr } = await runOutside(script, firstEnv);
        if (code !== 0) skip(`it does not work outside either: ${stderr.trim().split('\n').at(-1)}`);
      }
      const made = existsSync(join(twin, 'package-lock.json')) ? { 'package-lock.json': lockOf(twin) } : {};
      await runOutside('rm -rf ./* .venv', firstEnv);
      write(twin, { ...files, ...made });
      const outside = outsideEnv(`${at.dir}-caches-2`, served.bundle);
      const [outsideMs, expected] = await timed(() => runOutside(command, outside));
      expect(expected.code, expected.stderr).toBe(0);

      for (const [path, text] of Object.entries({ ...files, ...made })) {
        mkdirSync(dirname(join(at.dir, path)), { recursive: true });
        at.write(path, text);
      }
      const [refusedMs, refused] = await timed(() => at.bash(`export URL=${served.url}; ${command}`));
      expect(refused.code).not.toBe(0);
      expect(refused.denied.map(({ how_to_allow }) => how_to_allow).join()).toContain('ctxd network allow');
      await at.shell('rm -rf .venv node_modules');
      expect(await at.person('network', 'mirrors', '--yes')).toMatchObject({ code: 0 });
      const names = groups.length > 0 ? groups : [served.place, '--private', served.address];
      expect(await at.person('network', 'allow', ...names, '--yes', '--project', at.dir)).toMatchObject({ code: 0 });
      // The first call after a change makes the sandboxes of the project.
      expectRan(await at.bash('true'), {});
      const [insideMs, ran] = await timed(() =>
        at.bash(`export URL=${served.url}; ${command}`, { timeout_ms: 300_000 }),
      );
      expectRan(ran, stdout === undefined ? {} : { stdout });
      const times = { outside: outsideMs, inside: insideMs, 'refused before': refusedMs };
      const shown = Object.entries(times).map(([name, ms]) => `${name} ${Math.round(ms)} ms`);
      console.log(`${title}: ${shown.join(', ')}`);
    });
  }
});

/** The settings of the machine's own clients, with caches that are empty, and the certificate of our server. */
function outsideEnv(caches: string, bundle: string): Record<string, string> {
  const own = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const cargo = join(process.env.CARGO_HOME ?? join(homedir(), '.cargo'), 'config.toml');
  mkdirSync(join(caches, 'cargo'), { recursive: true });
  if (existsSync(cargo)) cpSync(cargo, join(caches, 'cargo/config.toml'));
  const apt = [
    ...['State', 'Cache'].map((kind) => `Dir::${kind} "${caches}";`),
    'Dir::State::lists "apt/lists/";',
    'Dir::Cache::archives "apt/archives/";',
    'Debug::NoLocking "true";',
    'Dir::State::status "/var/lib/dpkg/status";',
  ];
  writeFileSync(join(caches, 'apt.conf'), `${apt.join('\n')}\n`);
  return {
    ...Object.fromEntries(own),
    RUSTUP_HOME: process.env.RUSTUP_HOME ?? join(homedir(), '.rustup'),
    GIT_SSL_CAINFO: bundle,
    CURL_CA_BUNDLE: bundle,
    npm_config_cache: join(caches, 'npm'),
    PIP_CACHE_DIR: join(caches, 'pip'),
    CARGO_HOME: join(caches, 'cargo'),
    GOMODCACHE: join(caches, 'go-mod'),
    GOCACHE: join(caches, 'go-build'),
    GOFLAGS: `${process.env.GOFLAGS ?? ''} -modcacherw`.trim(),
    MAVEN_OPTS: `-Dmaven.repo.local=${join(caches, 'm2')}`,
    APT_CONFIG: join(caches, 'apt.conf'),
  };
}

function write(directory: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), text);
  }
}

const lockOf = (directory: string): string => readFileSync(join(directory, 'package-lock.json'), 'utf8');

async function timed<T>(work: () => Promise<T>): Promise<[number, T]> {
  const start = performance.now();
  const result = await work();
  return [performance.now() - start, result];
}
