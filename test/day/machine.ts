import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type CheckoutName, prepareCheckout } from './checkouts.ts';

/** The installation under test: this checkout, or another version to compare with. */
const INSTALLATION = process.env.CONTEXTD_DAY_INSTALLATION ?? join(import.meta.dirname, '../..');
const CTXD = join(INSTALLATION, 'bin/ctxd');
/** The uid that owns the projects; default: the user who runs the tests. */
const OWNER = process.env.CONTEXTD_DAY_OWNER;

/** What a person's shell does not have and a script of npm does: with them, ctxd reads none of the person's variables. */
const OF_NPM = ['npm_execpath', 'npm_lifecycle_event', 'npm_command', 'INIT_CWD'];

export interface Ran {
  /** Exit status of the command; null if no command ran. */
  code: number | null;
  stdout: string;
  stderr: string;
  denied: { kind: string; how_to_allow: string }[];
  data: Record<string, unknown>;
}

export interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** A copy of a checkout that `ctxd init` set up, with the settings that it leaves. */
export interface Project {
  readonly dir: string;
  /** Calls safe_bash with JSON. */
  bash(command: string, more?: Record<string, unknown>): Promise<Ran>;
  /** The same project as another session of an agent sees it. */
  session(name: string): Project;
  /** Calls any tool with JSON. */
  tool(name: string, input: object): Promise<Ran>;
  /** What a person or an agent types in a shell of the host, with `.claude/bin` on PATH. */
  shell(script: string): Promise<Finished>;
  /** Runs ctxd as the person, with the settings that the machine's own clients have. */
  person(...words: readonly string[]): Promise<Finished>;
  /** Creates a program in a directory of the person's PATH that is not in the project. */
  addHostProgram(name: string): Promise<void>;
  /** Writes a file as the owner of the project. */
  write(path: string, content: string | Buffer): void;
  read(path: string): string;
}

/** One daemon and one empty home for the tasks of a file. */
class Machine {
  readonly #base = mkdtempSync(join(tmpdir(), 'day-'));
  readonly #env: Record<string, string>;
  #projects = 0;

  constructor() {
    const home = join(this.#base, 'home');
    mkdirSync(home);
    // Links to projects lie below this directory: another owner must be able to pass through it.
    spawnSync('chmod', ['0755', this.#base, home]);
    writeFileSync(
      join(home, '.gitconfig'),
      '[user]\n\tname = Ann Example\n\temail = ann@example.com\n[init]\n\tdefaultBranch = main\n',
    );
    const inherited = ['PATH', 'TERM', 'LANG', 'RUSTUP_HOME', 'CARGO_HOME', 'JAVA_HOME', 'GOROOT', 'PYENV_ROOT'];
    this.#env = {
      ...Object.fromEntries(inherited.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : []))),
      ...toolchainHomes(),
      HOME: home,
      CONTEXTD_HOME: join(this.#base, 'contextd'),
    };
  }

  async open(name: CheckoutName, folder = '.'): Promise<Project> {
    const prepared = prepareCheckout(name);
    if ('missing' in prepared) throw new Error(prepared.missing);
    const copy = join(this.#base, `${name}-${++this.#projects}`);
    spawnSync('cp', ['-a', '--reflink=auto', prepared.directory, copy]);
    moveEnvironment(prepared.directory, copy);
    giveToOwner(copy);
    const dir = join(copy, folder);
    const env = { ...this.#env, CONTEXTD_SESSION_ID: `day-${this.#projects}` };
    const init = await finish(CTXD, ['init', '--yes'], { cwd: dir, env });
    // An older version knows no --yes.
    if (init.code !== 0) expect(await finish(CTXD, ['init'], { cwd: dir, env })).toMatchObject({ code: 0 });
    return project(dir, env);
  }

  async remove(): Promise<void> {
    await finish(CTXD, ['server', 'stop'], { cwd: '/', env: this.#env });
    spawnSync('chmod', ['-R', 'u+w', this.#base]);
    rmSync(this.#base, { recursive: true, force: true });
  }
}

const machine = new Machine();
export const removeMachine = (): Promise<void> => machine.remove();

/**
 * One ordinary task of a working day. It is skipped, with the reason, if the machine has not what the checkout is made
 * of; everything else that does not work fails.
 */
export function task(
  title: string,
  checkout: CheckoutName,
  work: (project: Project, skip: (why: string) => never) => Promise<void>,
  folder = '.',
) {
  it(title, async ({ skip }) => {
    const prepared = prepareCheckout(checkout);
    if ('missing' in prepared) return skip(`${checkout} ${prepared.missing}`);
    await work(await machine.open(checkout, folder), skip);
  });
}

function project(dir: string, env: Record<string, string>): Project {
  const tool: Project['tool'] = async (name, input) => {
    const link = join(dir, `.claude/tools/${name}/${name}`);
    const { stdout, stderr } = await finish(link, [JSON.stringify(input)], { cwd: dir, env });
    return parse(stdout, stderr);
  };
  return {
    dir,
    tool,
    session: (name) => project(dir, { ...env, CONTEXTD_SESSION_ID: name }),
    bash: (command, more = {}) => tool('safe_bash', { command, max_tokens: 8000, ...more }),
    async shell(script) {
      const done = await finish('bash', ['-c', script], {
        cwd: dir,
        env: { ...env, ...trustAll(), PATH: `${dir}/.claude/bin:${env.PATH}` },
      });
      giveToOwner(dir);
      return done;
    },
    person(...words) {
      // A person's clients are configured by files below their home and by variables.
      const own = Object.entries(process.env).filter(
        (entry): entry is [string, string] => entry[1] !== undefined && !OF_NPM.includes(entry[0]),
      );
      const personEnv = { ...Object.fromEntries(own), CONTEXTD_HOME: env.CONTEXTD_HOME ?? '' };
      return finish(CTXD, words, { cwd: dir, env: personEnv });
    },
    async addHostProgram(name) {
      const directory = join(env.HOME ?? '', 'own-tools');
      mkdirSync(directory, { recursive: true });
      writeFileSync(join(directory, name), '#!/bin/sh\necho here\n', { mode: 0o755 });
      // What a person sees on PATH is read when contextd is set up.
      env.PATH = `${env.PATH}:${directory}`;
      await finish(CTXD, ['init'], { cwd: dir, env });
    },
    write(path, content) {
      writeFileSync(join(dir, path), content);
      giveToOwner(join(dir, path));
    },
    read: (path) => readFileSync(join(dir, path), 'utf8'),
  };
}

/** What root writes in a project of another user belongs to that user, as if the user had written it. */
function giveToOwner(path: string): void {
  if (OWNER !== undefined) spawnSync('chown', ['-Rh', `${OWNER}:${OWNER}`, path]);
}

/** Lets root's git read a project of another user. */
function trustAll(): Record<string, string> {
  if (OWNER === undefined) return {};
  return { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'safe.directory', GIT_CONFIG_VALUE_0: '*' };
}

/** Fails with what the call said, so that a report names the reason and not only the difference. */
export function expectRan(ran: Ran, expected: { code?: number; stdout?: string | RegExp }): void {
  const { code = 0, stdout } = expected;
  const isAsExpected = typeof stdout === 'string' ? ran.stdout === stdout : (stdout?.test(ran.stdout) ?? true);
  if (ran.code === code && isAsExpected) return;
  const said = `${ran.stderr}\n${ran.stdout}`.trim().replaceAll(/\s*\n\s*/g, ' | ');
  throw new Error(
    `exit ${ran.code}, expected ${code}${stdout === undefined ? '' : ` and ${stdout}`}: ${said.length > 1000 ? `${said.slice(0, 300)} … ${said.slice(-700)}` : said}`,
  );
}

function parse(stdout: string, stderr: string): Ran {
  if (!stdout.startsWith('{')) throw new Error(`no answer: ${stdout}${stderr}`);
  const { data, error, meta } = JSON.parse(stdout);
  return {
    code: data?.exit_code ?? null,
    stdout: data?.stdout ?? data?.content ?? '',
    stderr: `${data?.stderr ?? ''}${error === null ? '' : `\n${error}`}`,
    denied: meta?.denied ?? [],
    data: data ?? {},
  };
}

export function finish(
  program: string,
  args: readonly string[],
  { cwd, env }: { cwd: string; env: Record<string, string> },
): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const [out, err]: [Buffer[], Buffer[]] = [[], []];
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
    child.on('error', reject);
    child.on('close', (code) =>
      resolve({ code, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() }),
    );
  });
}

/** rustup and cargo look below HOME, which is a new one here. */
function toolchainHomes(): Record<string, string> {
  const homes = { RUSTUP_HOME: '.rustup', CARGO_HOME: '.cargo', PYENV_ROOT: '.pyenv' };
  return Object.fromEntries(
    Object.entries(homes).flatMap(([name, folder]) => {
      const path = join(homedir(), folder);
      return process.env[name] === undefined && existsSync(path) ? [[name, path]] : [];
    }),
  );
}

/** The scripts of a virtual environment name the directory in which it was made, which was a draft of `from`. */
function moveEnvironment(from: string, to: string): void {
  const scripts = join(to, '.venv/bin');
  if (!existsSync(scripts)) return;
  for (const entry of readdirSync(scripts, { withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(scripts, entry.name);
    writeFileSync(path, readFileSync(path, 'latin1').replaceAll(`${from}.draft`, to), 'latin1');
  }
}
