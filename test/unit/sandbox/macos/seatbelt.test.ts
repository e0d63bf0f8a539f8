import {
  chmodSync,
  existsSync,
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
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { acceptConfig } from '#src/config/load.js';
import { resolvePaths } from '#src/config/paths.js';
import { systemClock } from '#src/core/clock.js';
import { silentLogger } from '#src/core/log.js';
import { compileGlobs } from '#src/fs/glob.js';
import type { CommandResult, CommandSpec } from '#src/sandbox/contract/command.js';
import type { SandboxPolicy } from '#src/sandbox/contract/policy.js';
import { buildProfile, type ProfileInput } from '#src/sandbox/macos/profile.js';
import { escapeRegex, globToRegex, quote } from '#src/sandbox/macos/sbpl.js';
import { SeatbeltSandbox } from '#src/sandbox/macos/seatbelt-sandbox.js';
import { bareEnvironment } from '../../../helpers/bare-environment.ts';

const INPUT: ProfileInput = {
  workspace: '/Users/ann/project',
  isReadOnly: false,
  commonGitDir: null,
  allowedPaths: ['/Users/ann/wt'],
  roPaths: ['/opt/homebrew'],
  hiddenFiles: ['/opt/homebrew/etc/npmrc'],
  links: [],
  deny: ['**/*.pem'],
  privateDirs: ['/private/tmp/contextd-run-1-a'],
  sockets: true,
  programs: [],
};

type Rule = { verdict: string; operations: string[]; filters: [string, string][] };

/** Parses the profile into its list of rules; throws for anything else. */
function readProfile(text: string): Rule[] {
  const rules: Rule[] = [];
  let at = 0;
  const skip = () => {
    while (/\s/.test(text[at] ?? '')) at++;
  };
  const readList = (): (string | unknown[])[] => {
    const list: (string | unknown[])[] = [];
    at++;
    for (skip(); text[at] !== ')'; skip()) {
      if (at >= text.length) throw new Error('unclosed');
      if (text[at] === '(') list.push(readList());
      else if (text[at] === '"') list.push(readString());
      else {
        const word = /^[^\s()"]+/.exec(text.slice(at))?.[0] ?? '';
        at += word.length;
        list.push(word);
      }
    }
    at++;
    return list;
  };
  const readString = (): string => {
    let value = '"';
    for (at++; text[at] !== '"'; at++) value += text[at] === '\\' ? text[++at] : text[at];
    at++;
    return value;
  };
  for (skip(); at < text.length; skip()) {
    const [verdict, ...rest] = readList();
    const operations = rest.filter((one) => typeof one === 'string');
    const filters = rest
      .filter((one) => Array.isArray(one))
      .map((one) => [String(one[0]), String(one.at(-1)).slice(1)] as [string, string]);
    rules.push({ verdict: String(verdict), operations, filters });
  }
  return rules;
}

/** What the last matching rule says about a path, as the kernel decides. */
function decide(rules: readonly Rule[], operation: string, path: string): string {
  let verdict = 'deny';
  for (const rule of rules) {
    const covers = rule.operations.some(
      (one) => one === operation || (one.endsWith('*') && operation.startsWith(one.slice(0, -1))),
    );
    const holds = rule.filters.length === 0 || rule.filters.some(([kind, value]) => matches(kind, value, path));
    if (covers && holds && (rule.verdict === 'allow' || rule.verdict === 'deny')) verdict = rule.verdict;
  }
  return verdict;
}

function matches(kind: string, value: string, path: string): boolean {
  if (kind === 'literal') return path === value;
  if (kind === 'subpath') return path === value || path.startsWith(`${value}/`);
  return kind === 'regex' && new RegExp(value, 's').test(path);
}

describe('the profile', () => {
  const rules = readProfile(buildProfile(INPUT));
  const may = (operation: string, path: string) => decide(rules, operation, path) === 'allow';
  const inside = (path: string) => `${INPUT.workspace}/${path}`;

  test('denies what it does not name; the user’s files cannot be read', () => {
    expect(rules[0]).toEqual({ verdict: 'version', operations: ['1'], filters: [] });
    expect(rules[1]).toEqual({ verdict: 'deny', operations: ['default'], filters: [] });
    for (const path of [
      '/Users/ann/.ssh/id_ed25519',
      '/Users/ann/other/file',
      '/Users/ann/project-2/file',
      '/private/etc/master.passwd',
      '/private/tmp/else',
      '/private/var/folders/x',
      '/Library/Keychains/System.keychain',
      '/System/Volumes/Data/Users/ann/.ssh/id_ed25519',
      '/Volumes/Backup/x',
    ]) {
      expect(may('file-read-data', path), path).toBe(false);
      expect(may('file-write-data', path), path).toBe(false);
    }
    for (const path of ['/usr/bin/git', '/System/Library/Frameworks/x', '/opt/homebrew/bin/node', inside('src/a.ts')])
      expect(may('file-read-data', path), path).toBe(true);
  });

  test('allows writes only in the workspace and its private directory', () => {
    for (const path of [
      inside('src/a.ts'),
      inside('.git/index.lock'),
      '/private/tmp/contextd-run-1-a/tmp/x',
      '/dev/null',
    ])
      expect(may('file-write-data', path), path).toBe(true);
    for (const path of ['/usr/local/x', '/opt/homebrew/bin/node', '/private/tmp/x', '/dev/disk0', '/'])
      expect(may('file-write-data', path), path).toBe(false);
    expect(may('file-write-unlink', INPUT.workspace)).toBe(false);
  });

  test('shows the directories on the way without listing them', () => {
    expect(may('file-read-metadata', '/Users')).toBe(true);
    expect(may('file-read-metadata', '/Users/ann')).toBe(true);
    expect(may('file-read-data', '/Users/ann')).toBe(false);
    expect(may('file-read-metadata', '/Users/bob')).toBe(false);
  });

  test.each([
    '.git/hooks/post-checkout',
    '.git/config',
    '.git/commondir',
    '.git/info/attributes',
    '.git/modules/a/b/hooks/x',
    '.git/modules/a/config',
    '.git/worktrees/w/commondir',
    '.git',
    'sub/.git',
    'sub/deep/.git/hooks/pre-push',
    '.claude/settings.json',
    'sub/.claude/settings.json',
    '.mcp.json',
    'sub/.envrc',
    '.bashrc',
    '.vscode/tasks.json',
    '.CLAUDE/settings.json',
    '.Git/Hooks/x',
  ])('protects %s, which can be read but not written, whether it exists or not', (path) => {
    for (const operation of ['file-write-data', 'file-write-create', 'file-write-unlink'])
      expect(may(operation, inside(path)), operation).toBe(false);
    expect(may('file-read-data', inside(path))).toBe(true);
  });

  test.each([
    '.gitignore',
    '.git/HEAD',
    '.git/objects/ab/cd',
    '.git/configs',
    'src/config',
    'a/.vscode/x',
    'x.claude',
    '.github/workflows/x',
  ])('does not protect %s', (path) => expect(may('file-write-create', inside(path))).toBe(true));

  test('makes the git directory of a worktree writable except for the same parts', () => {
    const worktree = readProfile(buildProfile({ ...INPUT, commonGitDir: '/Users/ann/main/.git' }));
    const at = (operation: string, path: string) => decide(worktree, operation, `/Users/ann/main/.git/${path}`);
    expect(at('file-write-create', 'objects/ab/cd')).toBe('allow');
    expect(at('file-write-create', 'hooks/x')).toBe('deny');
    expect(at('file-write-data', 'config')).toBe('deny');
    expect(decide(worktree, 'file-read-data', '/Users/ann/main/secret')).toBe('deny');
  });

  test('denied paths can be neither read, nor written, nor executed, nor linked to', () => {
    for (const path of ['key.pem', 'a/b/key.pem', 'KEY.PEM', 'certs.pem/inner'])
      for (const operation of ['file-read-data', 'file-read-metadata', 'file-write-data', 'process-exec'])
        expect(may(operation, inside(path)), `${operation} ${path}`).toBe(false);
    expect(may('file-link', inside('a'))).toBe(false);
  });

  test('allows no network: only unix sockets in the private directory', () => {
    const network = rules.filter(({ operations }) => operations.some((one) => /^(network|system-socket)/.test(one)));
    expect(network.map(({ operations }) => operations)).toEqual([
      ['system-socket'],
      ['network-bind', 'network-inbound'],
      ['network-outbound'],
    ]);
    const text = buildProfile(INPUT);
    expect(text).toContain('(local unix-socket (subpath "/private/tmp/contextd-run-1-a"))');
    expect(text).not.toMatch(/\(allow network[^\n]*\)|remote ip|local ip|\*:/);
    expect(buildProfile({ ...INPUT, sockets: false })).not.toMatch(/network|socket/);
  });

  test('names services and system settings one by one', () => {
    const mach = rules.filter(({ operations }) => operations.includes('mach-lookup'));
    expect(mach).toHaveLength(1);
    expect(mach[0]?.filters.every(([kind]) => kind === 'global-name')).toBe(true);
    expect(mach[0]?.filters.map(([, name]) => name)).not.toContain('com.apple.SecurityServer');
    const sysctl = rules.filter(({ operations }) => operations.includes('sysctl-read'));
    expect(sysctl.every(({ filters }) => filters.length > 10)).toBe(true);
    expect(buildProfile(INPUT)).toContain('(allow signal (target same-sandbox))');
  });

  test('any path stays one string and cannot add a rule', () => {
    const hostile = fc.string({ unit: fc.constantFrom(...'ab/".\\()[]*+?^$|{} \n;#é'), maxLength: 30 });
    fc.assert(
      fc.property(hostile, hostile, (workspace, roPath) => {
        const input = { ...INPUT, workspace: `/w${workspace}`, roPaths: [`/r${roPath}`], deny: [] };
        const read = readProfile(buildProfile(input));
        expect(read.map(({ verdict, operations }) => [verdict, operations])).toEqual(
          readProfile(buildProfile({ ...INPUT, deny: [] })).map(({ verdict, operations }) => [verdict, operations]),
        );
        const values = read.flatMap(({ filters }) => filters.map(([, value]) => value));
        expect(values).toContain(input.workspace);
        expect(values).toContain(input.roPaths[0]);
        expect(new RegExp(`^${escapeRegex(input.workspace)}$`).test(input.workspace)).toBe(true);
      }),
    );
    expect(() => quote('a\0b')).toThrow(expect.objectContaining({ code: 'PATH_INVALID' }));
  });
});

describe('deny globs as regular expressions', () => {
  const matchesGlob = (glob: string, path: string) => new RegExp(`^${globToRegex(glob)}$`).test(path);

  test.each([
    ['*.pem', ['a.pem', 'x/y/b.pem', '.pem', 'A.PEM', 'a.pem/in'], ['a.pems', 'pem']],
    ['secrets/*', ['secrets/a', 'secrets/a/b'], ['secrets', 'x/secrets/a']],
    ['**/.env', ['.env', 'a/b/.env'], ['.envs', 'x.env']],
    ['certs/**', ['certs/a', 'certs/a/b'], ['certs', 'certsa']],
    ['a/**/b', ['a/b', 'a/x/y/b'], ['ab', 'x/a/b']],
    ['private/', ['private', 'private/x', 'a/private/x'], ['privately']],
    ['k[0-9a].{pem,key}', ['k1.pem', 'ka.key', 'kA.pem'], ['kb.pem', 'k1.crt']],
    ['k[!0-9]', ['ka'], ['k1', 'k/']],
    ['[b-a]x', ['ax'], ['abx']],
    ['[!a]', ['A', 'b'], ['a']],
    ['[]', ['[]'], ['a']],
    ['a/.', ['a'], ['b']],
    ['{a/.,b}', ['a', 'x/b'], ['x/a']],
    ['a\\*b', ['a*b'], ['axb']],
    ['x{y}', ['x{y}'], ['xy']],
    ['./a', ['a'], ['b']],
  ])('%s', (glob, hits, misses) => {
    for (const path of hits) expect(matchesGlob(glob, path), path).toBe(true);
    for (const path of misses) expect(matchesGlob(glob, path), path).toBe(false);
  });

  test('hides everything that the Linux sandbox hides', () => {
    const glob = fc.string({ unit: fc.constantFrom(...'abA.*?/[]!^-{},\\'), minLength: 1, maxLength: 12 });
    const path = fc.string({ unit: fc.constantFrom(...'abA_.*?[]!^-{},'), minLength: 1, maxLength: 4 });
    const compiled = (pattern: string) => {
      try {
        return compileGlobs([pattern]);
      } catch {
        return null;
      }
    };
    fc.assert(
      fc.property(glob, fc.array(path, { minLength: 1, maxLength: 4 }), (pattern, names) => {
        const globs = compiled(pattern);
        const target = names.join('/');
        fc.pre(globs?.match(target, true) != null);
        expect(matchesGlob(pattern, target), `${pattern} ${target}`).toBe(true);
      }),
      { maxSkipsPerRun: 2000 },
    );
  });
});

/** Checks its arguments, as sandbox-exec does, and runs the rest unconfined; answers the probe as a Mac would. */
const STAND_IN = `#!/bin/sh
[ "$1" = -p ] || { echo "sandbox-exec: no profile" >&2; exit 64; }
case "$2" in "(version 1)"*) ;; *) echo "sandbox-exec: bad profile" >&2; exit 65 ;; esac
printf %s "$2" >"$0.profile"
shift 2
case "$*" in *contextd-canary*) echo >&3; echo confined; exit 0 ;; esac
exec "$@"
`;

describe('the sandbox, with a stand-in for sandbox-exec', () => {
  let base: string;
  let workspace: string;
  let tempRoot: string;
  let sandboxExec: string;
  let sandbox: SeatbeltSandbox;

  function open(script: string): SeatbeltSandbox {
    writeFileSync(sandboxExec, script);
    chmodSync(sandboxExec, 0o755);
    const environment = bareEnvironment({ home: base, contextdHome: join(base, 'home') });
    const { sandbox: config } = acceptConfig('the test', {
      sandbox: { memory_mb: 512, pids: 128, cpus: 0, preforked: 0, cache_max_mb: 1024 },
    });
    return new SeatbeltSandbox(
      { paths: resolvePaths(environment, join(base, 'install')), config, logger: silentLogger, clock: systemClock },
      { sandboxExec, tempRoot },
    );
  }

  beforeEach(async () => {
    base = realpathSync(mkdtempSync(join(tmpdir(), 'contextd-sb-')));
    [workspace, tempRoot, sandboxExec] = [join(base, 'workspace'), join(base, 'tmp'), join(base, 'sandbox-exec')];
    mkdirSync(workspace);
    mkdirSync(tempRoot);
    sandbox = open(STAND_IN);
    await sandbox.start();
  });
  afterEach(async () => {
    await sandbox.stop();
    const left = readdirSync(tempRoot);
    rmSync(base, { recursive: true, force: true });
    expect(left).toEqual([]);
  });

  const policy = (change: Partial<SandboxPolicy> = {}): SandboxPolicy => ({
    workspace: { path: workspace, layer: null },
    network: 'none',
    roPaths: [],
    deny: [],
    limits: { memoryBytes: 2 ** 30, pids: 4096, fileBytes: 2 ** 20, openFiles: 512, cpus: 0 },
    storage: null,
    minIsolation: 'reduced',
    seccomp: { inet: false, unix: true, debugger: false },
    ...change,
  });

  function run(
    script: string,
    change: Partial<CommandSpec> = {},
    ofPolicy: Partial<SandboxPolicy> = {},
  ): Promise<CommandResult> {
    return sandbox.run(policy(ofPolicy), {
      argv: ['/bin/sh', '-c', script],
      cwd: workspace,
      env: {},
      stdin: null,
      timeoutMs: 20_000,
      outputMaxBytes: 64 * 1024,
      outputKillBytes: 512 * 1024,
      signal: new AbortController().signal,
      ...change,
    });
  }

  const outOf = (result: CommandResult) => result.stdout.head.toString();

  /** Gone, or dead and waiting for a slow parent. */
  function isDead(pid: number): boolean {
    try {
      return /^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
    } catch {
      return true;
    }
  }

  test('is reduced, and says for each layer what enforces it', async () => {
    const report = await sandbox.probe();
    expect(report).toMatchObject({ level: 'reduced', backend: 'seatbelt' });
    expect(report.missing).toContain('memory limit');
    expect(report.layers.find(({ name }) => name === 'network')).toMatchObject({ enforced: true });
    expect(report.layers.filter(({ enforced }) => !enforced).map(({ name }) => name)).toEqual(report.missing);
  });

  test('runs a command with its output, exit code, stdin, and arguments unchanged', async () => {
    const result = await run('cat; echo "err" >&2; printf "<%s>" "$@"; exit 3', {
      argv: ['/bin/sh', '-c', 'cat; echo "err" >&2; printf "<%s>" "$@"; exit 3', 'x', '-p', 'a b', '"$(id)"'],
      stdin: Buffer.from('in '),
    });
    expect(result).toMatchObject({ exitCode: 3, signal: null, endedBy: 'exit', quarantined: [], denied: [] });
    expect(outOf(result)).toBe('in <-p><a b><"$(id)">');
    expect(result.stderr.head.toString()).toBe('err\n');
    expect(await run('nowhere', { argv: ['/nonexistent/program'] })).toMatchObject({ exitCode: 127, endedBy: 'exit' });
  });

  test('a session keeps HOME and TMPDIR, the project keeps caches, and both can be removed', async () => {
    const runIn = (session: string, script: string) => run(script, {}, { storage: { session } });
    await runIn('a', 'echo mine >~/.npmrc; echo temporary >"$TMPDIR/x"; echo cached >~/.npm/x');
    expect(outOf(await runIn('a', 'cat ~/.npmrc "$TMPDIR/x" ~/.npm/x'))).toBe('mine\ntemporary\ncached\n');
    expect(outOf(await runIn('b', 'cat ~/.npm/x ~/.npmrc "$TMPDIR/x"'))).toBe('cached\n');
    const [caches] = await sandbox.storage({ do: 'list' });
    expect(caches).toMatchObject({ project: workspace, maxBytes: 2 ** 30 });
    await sandbox.storage({ do: 'clear', project: workspace });
    expect(outOf(await runIn('b', 'ls ~/.npm'))).toBe('');
    await sandbox.storage({ do: 'end_session', project: workspace, session: 'a' });
    expect(outOf(await runIn('a', 'ls "$TMPDIR"; cat ~/.npmrc'))).toBe('');
  });

  test('the profile names this run’s workspace and private directory', async () => {
    const result = await run('echo "$TMPDIR"');
    const profile = readFileSync(`${sandboxExec}.profile`, 'utf8');
    expect(profile).toContain(quote(workspace));
    expect(profile).toContain(quote(join(outOf(result).trim(), '..')));
  });

  test('the environment is built from nothing; the private directory is removed afterwards', async () => {
    process.env.CONTEXTD_TEST_LEAK = 'leak-of-the-daemon';
    try {
      const result = await run(
        'env | cut -d= -f1 | sort | tr "\\n" " "; echo; echo "$HOME"; echo x >"$TMPDIR/x"; ls -ld "$HOME"',
        {
          env: { EXTRA: '1' },
        },
      );
      const [names, home, listed] = outOf(result).split('\n');
      // Node hands NODE_V8_COVERAGE to every child while coverage is measured.
      const added = ['', '_', 'OLDPWD', 'PWD', 'SHLVL', 'NODE_V8_COVERAGE'];
      expect(names?.split(' ').filter((name) => !added.includes(name))).toEqual([
        'EXTRA',
        'HOME',
        'LANG',
        'PATH',
        'TMPDIR',
      ]);
      expect(listed).toMatch(/^drwx------/);
      expect(home?.startsWith(`${tempRoot}/contextd-run-${process.pid}-`)).toBe(true);
      expect(existsSync(home ?? '')).toBe(false);
    } finally {
      delete process.env.CONTEXTD_TEST_LEAK;
    }
  });

  test('the limits of a process are set before the command', async () => {
    const result = await run('ulimit -c; ulimit -n; ulimit -f; umask');
    expect(outOf(result)).toBe('0\n512\n2048\n0022\n');
  });

  test('when it returns, every process of its group is dead', async () => {
    const result = await run('sleep 1000 & (sleep 1000 & echo $!); echo $!; sleep 1000 & echo $!');
    const pids = outOf(result).trim().split('\n').map(Number);
    expect(pids).toHaveLength(3);
    expect(pids.map(isDead)).toEqual([true, true, true]);
  });

  test('kills the whole group on a timeout, a cancellation or a flood', async () => {
    const slow = await run('sleep 1000 & echo $!; trap "" TERM; sleep 1000', { timeoutMs: 300 });
    expect(slow).toMatchObject({ exitCode: null, signal: 'SIGKILL', endedBy: 'timeout' });
    expect(isDead(Number(outOf(slow)))).toBe(true);

    const cancel = new AbortController();
    const waiting = run('sleep 1000', { signal: cancel.signal });
    cancel.abort();
    expect(await waiting).toMatchObject({ endedBy: 'cancelled' });

    const flood = await run('yes contextd', { outputMaxBytes: 4096, outputKillBytes: 32_768 });
    expect(flood).toMatchObject({ endedBy: 'output_limit' });
    expect(flood.stdout.head.length + flood.stdout.tail.length).toBe(4096);
    expect(flood.stdout.droppedBytes).toBe(flood.stdout.totalBytes - 4096);
  });

  test('a signal that the command sent itself is reported as a signal', async () => {
    expect(await run('kill -SEGV $$')).toMatchObject({ exitCode: 139, signal: 'SIGSEGV', endedBy: 'signal' });
  });

  test('refuses a directory that is outside the workspace or does not exist', async () => {
    symlinkSync(base, join(workspace, 'out'));
    for (const cwd of [base, join(workspace, 'nowhere'), join(workspace, 'out')])
      await expect(run('true', { cwd })).rejects.toMatchObject({ code: 'PATH_NOT_FOUND' });
  });

  test('refuses a policy that requires full isolation, with the remedy', async () => {
    const command = {
      argv: ['true'],
      cwd: workspace,
      env: {},
      stdin: null,
      timeoutMs: 1000,
      outputMaxBytes: 100,
      outputKillBytes: 0,
    };
    const signal = new AbortController().signal;
    await expect(sandbox.run(policy({ minIsolation: 'full' }), { ...command, signal })).rejects.toMatchObject({
      code: 'SANDBOX_UNAVAILABLE',
      remedy: 'For full isolation run contextd in a Linux virtual machine.',
    });
  });

  test('a script finds the SDK, although nothing is mounted beside its bundle', async () => {
    const bundle = join(base, 'typed');
    mkdirSync(bundle);
    const main = "import { ContextdError } from '@contextd/sdk';\nconsole.log(ContextdError.name satisfies string);\n";
    writeFileSync(join(bundle, 'tool.mts'), `${main}setInterval(() => {}, 1000);\n`);
    const sdkDir = join(import.meta.dirname, '../../../../dist/sdk');
    const program = { bundleDir: bundle, runtime: 'node' as const, sdkDir, entry: 'tool.mts', args: [], env: {} };
    const tool = await sandbox.open(policy(), program);
    const line = await new Promise<string>((resolve) => {
      tool.stdout.once('data', (chunk: Buffer) => resolve(String(chunk)));
      tool.stderr.once('data', (chunk: Buffer) => resolve(String(chunk)));
    });
    expect(line).toBe('ContextdError\n');
    expect(readFileSync(`${sandboxExec}.profile`, 'utf8')).toContain(quote(realpathSync(sdkDir)));
    await tool.kill();
  });

  test('runs a tool process with its sockets, its output and its end', async () => {
    const bundle = join(base, 'bundle');
    mkdirSync(bundle);
    writeFileSync(
      join(bundle, 'tool.mjs'),
      'console.log(process.env.WHERE, process.argv[2]); setInterval(() => {}, 1000);',
    );
    const tool = await sandbox.open(policy(), {
      bundleDir: bundle,
      runtime: 'node',
      entry: 'tool.mjs',
      args: ['arg'],
      env: { WHERE: '/run/contextd' },
    });
    const line = await new Promise<string>((resolve) =>
      tool.stdout.once('data', (chunk: Buffer) => resolve(String(chunk))),
    );
    expect(line).toBe(`${tool.socketDir} arg\n`);
    expect(await sandbox.status()).toMatchObject({ running: 0, processes: 1 });
    const profile = readFileSync(`${sandboxExec}.profile`, 'utf8');
    expect(profile).toContain(`(local unix-socket (subpath ${quote(tool.socketDir)}))`);
    expect(profile).toContain(quote(realpathSync(process.execPath)));
    await tool.kill();
    await tool.kill();
    expect(await tool.exited).toMatchObject({ code: null, signal: 'SIGKILL' });
    expect(existsSync(tool.socketDir)).toBe(false);
  });

  test('stopping kills running commands and starts no more', async () => {
    const waiting = run(': >ready; sleep 1000');
    await expect.poll(() => existsSync(join(workspace, 'ready'))).toBe(true);
    expect(await sandbox.status()).toMatchObject({ running: 1, processes: 0 });
    await sandbox.stop();
    expect(await waiting).toMatchObject({ exitCode: 137, signal: 'SIGKILL', endedBy: 'signal' });
    await expect(run('true')).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' });
  });

  test('is unavailable if sandbox-exec does not confine, does not start, or does not exist', async () => {
    const open3 = open(STAND_IN.replace(/^case "\$\*".*\n/m, ''));
    expect(await open3.probe()).toMatchObject({
      level: 'unavailable',
      missing: ['sandbox-exec ran a command without confining it'],
    });
    const nested = open('#!/bin/sh\necho "sandbox-exec: sandbox_apply: Operation not permitted" >&2; exit 71\n');
    expect(await nested.probe()).toMatchObject({
      level: 'unavailable',
      missing: ['sandbox-exec did not start the command: sandbox-exec: sandbox_apply: Operation not permitted'],
      remedy: 'contextd runs in a sandbox itself, and macOS allows no second one: start it outside.',
    });
    rmSync(sandboxExec);
    expect(await nested.probe()).toMatchObject({ level: 'unavailable', missing: [`${sandboxExec} does not exist`] });
  });

  test('removes what a killed daemon left, but not what a live one uses', async () => {
    const dead = join(tempRoot, 'contextd-run-999999999-abc');
    const alive = join(tempRoot, `contextd-run-${process.ppid}-abc`);
    for (const dir of [dead, alive]) mkdirSync(dir);
    await sandbox.start();
    expect(readdirSync(tempRoot)).toEqual([`contextd-run-${process.ppid}-abc`]);
    rmSync(alive, { recursive: true });
  });
});
