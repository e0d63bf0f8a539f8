import { spawn } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { personEnv } from './person.ts';

/** Directories of one project in which the person uses git. */
const DIRS_MAX = 120;
/** Directories in which git runs at the same time. */
const PARALLEL = 3;
/** What `timeout` ends with if it ended the commands. */
const HANGS = 124;

/** The commands that a person types after an agent's work. None asks for a transfer. The last one overwrites the work tree. */
const COMMANDS = [
  'status',
  'diff',
  'log -1 -p',
  'add -An',
  'stash list',
  'st',
  'branch -v',
  'update-ref refs/heads/new HEAD',
  'rebase --continue',
  'cherry-pick --continue',
  'am --continue',
  'reset --hard',
];
/** A slow shell script that only matters in the project, because it has submodules. */
const ROOT_COMMANDS = ['submodule status', ...COMMANDS];
/** The person asks for these: a connection is what they are for. */
const TRANSFERS = ['fetch', 'push'];

/** A directory in which git did not work: it waited for ever, or for a lock. */
export interface Stuck {
  readonly dir: string;
  readonly how: 'hung' | 'blocked';
}

export interface GitUse {
  readonly home: string;
  /** Seconds after which the commands in one directory hang; they take a tenth of one. */
  readonly hangsAfter: number;
  /** Called after the commands that ask for no transfer. */
  onUnasked(): void;
}

/** Runs the person's git in the project and in every directory below it where git finds a different repository. */
export async function useGit(root: string, use: GitUse): Promise<Stuck[]> {
  const [first = root, ...others] = findRepositories(root);
  const stuck = await runIn(first, root, use, ROOT_COMMANDS);
  const inOthers = async (commands: readonly string[]): Promise<void> => {
    const next = others.values();
    const work = async (): Promise<void> => {
      for (const dir of next) stuck.push(...(await runIn(dir, shapeAround(root, dir), use, commands)));
    };
    await Promise.all(Array.from({ length: PARALLEL }, work));
  };
  await inOthers(COMMANDS);
  use.onUnasked();
  stuck.push(...(await runIn(first, root, use, TRANSFERS)));
  await inOthers(TRANSFERS);
  return stuck;
}

function shapeAround(root: string, dir: string): string {
  return join(root, relative(root, dir).split('/')[0] ?? '');
}

/** `top`: the project, or the directory of the shape; a lock elsewhere is one of another git that works at the same time. */
function runIn(cwd: string, top: string, use: GitUse, commands: readonly string[]): Promise<Stuck[]> {
  const script = commands.map((command) => `git ${command}`).join('\n');
  const argv = ['-k', '1', String(use.hangsAfter), 'sh', '-c', script];
  return new Promise((resolve, reject) => {
    const child = spawn('timeout', argv, { cwd, env: personEnv(use.home), stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    child.stderr.on('data', (data: Buffer) => {
      said += data.toString();
    });
    child.once('error', reject);
    child.once('close', (code) => {
      const isBlocked = said.split('\n').some((line) => line.includes(`${top}/`) && line.includes('File exists'));
      resolve([
        ...(code === HANGS ? [{ dir: cwd, how: 'hung' } as const] : []),
        ...(isBlocked ? [{ dir: cwd, how: 'blocked' } as const] : []),
      ]);
    });
  });
}

/** A directory without these belongs to the same repository as its parent. */
function isRepository(names: ReadonlySet<string>): boolean {
  return names.has('.git') || (names.has('HEAD') && (names.has('objects') || names.has('commondir')));
}

function findRepositories(root: string): string[] {
  const found = [root];
  const open = [root];
  for (let dir = open.pop(); dir !== undefined; dir = open.pop()) {
    const entries = readdirSync(dir, { withFileTypes: true });
    if (dir !== root && isRepository(new Set(entries.map(({ name }) => name)))) found.push(dir);
    for (const entry of entries) {
      const isOwn = dir === root && entry.name === '.git';
      if (entry.isDirectory() && !isOwn) open.push(join(dir, entry.name));
    }
  }
  if (found.length > DIRS_MAX)
    throw new Error(`${root} has ${found.length} repositories; at most ${DIRS_MAX} can be tried`);
  return found;
}

/** The marks that canaries leave, and the directories beside the project that git must not write. */
export class Sentinels {
  readonly #marks: string;
  readonly #outside: string;
  readonly #home: string;
  readonly #names: readonly string[];
  #before = '';

  constructor(home: string, project: string, names: readonly string[]) {
    this.#home = home;
    this.#marks = join(home, `${project}.marks`);
    this.#outside = join(home, `${project}.outside`);
    this.#names = names;
    for (const dir of [this.#marks, this.#outside]) mkdirSync(dir);
    for (const name of names) {
      mkdirSync(this.outsideOf(name));
      writeFileSync(join(this.outsideOf(name), 'kept.txt'), 'kept\n');
      makeTrap(this.trapOf(name), `#!/bin/sh\n:>${this.markOf(name)}\n`);
      writeFileSync(this.canaryOf(name), `#!/bin/sh\n:>${this.markOf(name)}\ncat "$@" 2>/dev/null\n`, { mode: 0o755 });
    }
  }

  markOf(name: string): string {
    return join(this.#marks, name);
  }

  canaryOf(name: string): string {
    return join(this.#marks, `${name}.sh`);
  }

  trapOf(name: string): string {
    return join(this.#marks, `${name}.git`);
  }

  outsideOf(name: string): string {
    return join(this.#outside, name);
  }

  /** Records the state before the calls. */
  begin(): void {
    this.#before = this.#besideTheProject();
  }

  /** Returns the shapes whose canary ran and those whose outside directory was written. */
  fired(): { name: string; how: 'ran' | 'wrote outside' }[] {
    const changed = this.#besideTheProject() !== this.#before;
    if (changed)
      throw new Error(`something beside the project changed: ${this.#before} became ${this.#besideTheProject()}`);
    const ran = this.#names.filter((name) => existsSync(this.markOf(name)));
    const wrote = this.#names.filter((name) => snapshot(this.outsideOf(name)) !== 'kept.txt file kept\n');
    return [
      ...ran.map((name) => ({ name, how: 'ran' as const })),
      ...wrote.map((name) => ({ name, how: 'wrote outside' as const })),
    ];
  }

  #besideTheProject(): string {
    return readdirSync(this.#home).sort().join(' ');
  }
}

/** A bare repository with a hook that runs when somebody pushes to it. */
function makeTrap(dir: string, hook: string): void {
  for (const part of ['objects', 'refs', 'hooks']) mkdirSync(join(dir, part), { recursive: true });
  writeFileSync(join(dir, 'HEAD'), 'ref: refs/heads/main\n');
  writeFileSync(join(dir, 'config'), '[core]\n\trepositoryformatversion = 0\n\tbare = true\n');
  writeFileSync(join(dir, 'hooks/pre-receive'), hook, { mode: 0o755 });
}

/** Returns every name below a directory with its content. */
function snapshot(dir: string): string {
  const names = readdirSync(dir, { recursive: true, encoding: 'utf8' }).sort();
  return names.map((name) => `${name} ${contentOf(join(dir, name))}`).join('\n');
}

function contentOf(path: string): string {
  const stats = lstatSync(path);
  if (stats.isSymbolicLink()) return `link ${readlinkSync(path)}`;
  return stats.isFile() ? `file ${readFileSync(path, 'latin1')}` : `directory ${relative('/', path)}`;
}
