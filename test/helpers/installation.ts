import { execFile, spawn } from 'node:child_process';
import { chownSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkedEnvelope } from './envelope-schema.ts';
import { runCtxd } from './run-ctxd.ts';
import { setUpWarm, shareCompileCache, warmBase } from './warm-homes.ts';

export const ROOT = join(import.meta.dirname, '../..');
export const CTXD = join(ROOT, 'bin/ctxd');
export const CONTEXTD = join(ROOT, 'bin/contextd');
export const PROXY = join(ROOT, 'bin/contextd-proxy');

/** The user that a sandbox without root rights runs as in tests: nobody. */
export const OTHER_UID = 65534;

export interface Finished {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  cwd?: string;
  env?: Record<string, string>;
  input?: string | Buffer;
  signal?: AbortSignal;
}

/** A new CONTEXTD_HOME and a new project, with a real daemon behind them. */
export interface Installation {
  home: string;
  project: string;
  environment: Record<string, string>;
  /** Runs a program to its end; does not throw for an exit code. `ctxd` runs in this process unless it is given a signal. */
  run(program: string, args: readonly string[], options?: RunOptions): Promise<Finished>;
  /** The same, always in a process of its own. */
  runProcess(program: string, args: readonly string[], options?: RunOptions): Promise<Finished>;
  /** Calls a tool of the project through its link. Throws if the answer does not fit the published schema. */
  call(tool: string, input: object | string, options?: RunOptions): Promise<Finished>;
  /** Makes a call and returns its parsed envelope. */
  ask(tool: string, input: object | string, options?: RunOptions): Promise<Answer>;
  /** Returns every file below CONTEXTD_HOME that contains `text`. */
  filesHolding(text: string): string[];
  status(): Promise<{ pid: number }>;
  remove(): Promise<void>;
}

export interface Answer {
  success: boolean;
  data: Record<string, unknown> & { stdout?: string; stderr?: string; content?: string; error_code?: string };
  error: string | null;
  refs: string[];
  tokens_used: number;
  has_more: boolean;
  truncated: boolean;
  meta: { version: string; request_id: string; pagination?: { cursor: string } } & Record<string, unknown>;
}

export interface InstallOptions {
  /** The uid of the project's owner. The daemon runs as the user who runs the tests. */
  owner?: number;
  /** False: `ctxd init` is left to the test. */
  init?: boolean;
  /** Set before the daemon starts, by their keys, as `ctxd config set` takes them. */
  settings?: Readonly<Record<string, string>>;
  /**
   * True: the project is new, but the daemon is the one of this worker, which starts once in a run. For tests that say nothing
   * about the start, the settings or everything that a daemon holds. `remove` then unregisters the project only. There,
   * `ctxd tool install --yes` gives every grant that needs no name of a host or path, and HTTP requests are served.
   */
  warm?: boolean;
}

export async function install(options: InstallOptions = {}): Promise<Installation> {
  const isWarm = options.warm === true;
  const base = isWarm ? warmBase() : mkdtempSync(join(tmpdir(), 'ctxd-'));
  const home = join(base, 'home');
  shareCompileCache(home);
  if (isWarm) setUpWarm(home);
  const project = mkdtempSync(join(tmpdir(), 'project-'));
  if (options.owner !== undefined) chownSync(project, options.owner, options.owner);
  const environment: Record<string, string> = {
    PATH: process.env.PATH ?? '',
    HOME: base,
    CONTEXTD_HOME: home,
    ...(process.env.NODE_V8_COVERAGE ? { NODE_V8_COVERAGE: process.env.NODE_V8_COVERAGE } : {}),
  };
  const runProcess: Installation['run'] = (program, args, { cwd = project, env = {}, input, signal } = {}) =>
    new Promise((resolve) => {
      const child = spawn(program, args, { cwd, env: { ...environment, ...env }, ...(signal ? { signal } : {}) });
      const out: Buffer[] = [];
      const err: Buffer[] = [];
      child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
      child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
      child.on('error', (error) => err.push(Buffer.from(String(error))));
      child.on('close', (code, killedBy) =>
        resolve({
          code,
          signal: killedBy,
          stdout: Buffer.concat(out).toString(),
          stderr: Buffer.concat(err).toString(),
        }),
      );
      child.stdin.on('error', () => {});
      child.stdin.end(input ?? '');
    });
  // A hook is a program of its own, and a signal goes to a process.
  const run: Installation['run'] = (program, args, options = {}) =>
    program !== CTXD || args[0] === 'hook' || options.signal !== undefined
      ? runProcess(program, args, options)
      : runCtxd(args, { cwd: project, ...options, env: { ...environment, ...options.env } });
  const installation: Installation = {
    home,
    project,
    environment,
    run,
    runProcess,
    async call(tool, input, callOptions) {
      const argument = typeof input === 'string' ? input : JSON.stringify(input);
      const finished = await run(`.claude/tools/${tool}/${tool}`, [argument], callOptions);
      if (finished.stdout.startsWith('{"success"')) checkedEnvelope(finished.stdout.replace(/\n$/, ''));
      return finished;
    },
    async ask(tool, input, callOptions) {
      const { stdout, stderr } = await installation.call(tool, input, callOptions);
      if (!stdout.endsWith('\n')) throw new Error(`${tool} printed no line; stderr: ${stderr}`);
      return JSON.parse(stdout) as Answer;
    },
    filesHolding: (text) => filesBelow(home).filter((path) => readOrNull(path)?.includes(text)),
    async status() {
      const { stdout } = await run(CTXD, ['server', 'status', '--json']);
      return JSON.parse(stdout) as { pid: number };
    },
    async remove() {
      if (isWarm) await run(CTXD, ['init', '--uninstall']);
      else {
        await run(CTXD, ['server', 'stop']);
        rmSync(base, { recursive: true, force: true });
      }
      rmSync(project, { recursive: true, force: true });
    },
  };
  for (const [key, value] of Object.entries(options.settings ?? {})) {
    const { code, stderr } = await run(CTXD, ['config', 'set', key, value]);
    if (code !== 0) throw new Error(`ctxd config set ${key} failed: ${stderr}`);
  }
  if (options.init !== false) {
    const done = await run(CTXD, ['init']);
    if (done.code !== 0) throw new Error(`ctxd init failed: ${done.stderr}${done.stdout}`);
  }
  return installation;
}

/** What goes away meanwhile, as the processes of a killed daemon leave it, is left out. */
function filesBelow(dir: string): string[] {
  return (unlessGone(() => readdirSync(dir, { withFileTypes: true })) ?? []).flatMap((entry) => {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) return filesBelow(path);
    return entry.isFile() ? [path] : [];
  });
}

function readOrNull(path: string): Buffer | null {
  return unlessGone(() => readFileSync(path));
}

function unlessGone<T>(look: () => T): T | null {
  try {
    return look();
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return null;
    throw cause;
  }
}

/** False for one that has ended, also if its parent never asks how. */
export function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/** Returns the processes whose command line contains `word`. */
export async function processesNamed(word: string): Promise<string[]> {
  const listing = await new Promise<string>((resolve) =>
    execFile('ps', ['-eo', 'pid=,args='], (_error, stdout) => resolve(stdout)),
  );
  return listing.split('\n').filter((line) => line.includes(word) && !line.includes('ps -eo'));
}
