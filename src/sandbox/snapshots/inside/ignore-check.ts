import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RawPath, toSystem } from '../../../fs/raw-path.ts';
import { readSmall } from './disk.ts';
import { gitCommand, gitEnvironment } from './git.ts';

/** Fields of one line of `git check-ignore -v -z`: source, line, pattern, path. */
const FIELDS = 4;

/** Bytes of the largest list of ignored names that is read, and of all lists of one search. Larger ones count as absent. */
const LIST_MAX_BYTES = 1024 * 1024;
const LISTS_MAX_BYTES = 32 * LIST_MAX_BYTES;

/**
 * Asks git which paths of a workspace its ignore files name. For one search: git reads each ignore file once. git
 * sees a copy that holds directories and ignore files only, because it would wait for a pipe and read files of any size.
 */
export class IgnoreCheck {
  readonly #workspace: RawPath;
  readonly #copy = mkdtempSync(join(tmpdir(), 'ignore-'));
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #ended: Promise<never>;
  #out = '';
  /** In `#out`. */
  #fields = 0;
  #bytes = 0;
  #onData: () => void = () => {};

  /** `index`: the content of the workspace's index, if tracked files are not ignored. */
  constructor(workspace: RawPath, gitDir: string, index: Buffer | null = null) {
    this.#workspace = workspace;
    this.#write(`${workspace}/.git/info/exclude`, join(gitDir, 'info', 'exclude'));
    const indexFile = join(gitDir, 'asked-index');
    if (index !== null) writeFileSync(indexFile, index);
    const options = ['-z', '-v', '-n', '--stdin', ...(index === null ? ['--no-index'] : [])];
    const [command, ...args] = gitCommand(['check-ignore', ...options]);
    this.#child = spawn(command, args, {
      cwd: this.#copy,
      env: { ...gitEnvironment(gitDir), GIT_WORK_TREE: this.#copy, GIT_INDEX_FILE: indexFile },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let words = '';
    this.#child.stderr.on('data', (chunk: Buffer) => {
      words = (words + chunk.toString()).slice(-1_000);
    });
    this.#child.stdin.on('error', () => {});
    this.#child.stdout.on('data', (chunk: Buffer) => {
      this.#out += chunk.toString('latin1');
      for (const byte of chunk) if (byte === 0) this.#fields += 1;
      this.#onData();
    });
    this.#ended = new Promise<never>((_, reject) => {
      this.#child.once('error', reject);
      this.#child.once('close', (code) => reject(new Error(`git check-ignore ended with ${code}: ${words.trim()}`)));
    });
    this.#ended.catch(() => {});
  }

  /** Takes the ignore file of this directory, before anything in it is asked for. */
  readIn(directory: RawPath): void {
    const file = directory === '' ? '.gitignore' : `${directory}/.gitignore`;
    this.#write(`${this.#workspace}/${file}`, `${this.#copy}/${file}`);
  }

  #write(from: RawPath, to: RawPath): void {
    const text = readSmall(from, Math.min(LIST_MAX_BYTES, LISTS_MAX_BYTES - this.#bytes));
    this.#bytes += text.length;
    writeFileSync(toSystem(to), text);
  }

  /** Makes directories in the copy: git asks the disk whether a path is one. */
  addDirectories(paths: Iterable<RawPath>): void {
    for (const path of paths) mkdirSync(toSystem(`${this.#copy}/${path}`), { recursive: true });
  }

  /** Which of these paths, relative to the workspace, are ignored. */
  async ignoredOf(paths: readonly RawPath[]): Promise<Set<RawPath>> {
    if (paths.length === 0) return new Set();
    const all = new Promise<string[]>((resolve) => {
      this.#onData = () => {
        if (this.#fields < FIELDS * paths.length) return;
        const fields = this.#out.split('\0');
        this.#out = '';
        this.#fields = 0;
        resolve(fields);
      };
    });
    // With `./` no name is taken for a pattern of git's.
    this.#child.stdin.write(Buffer.from(paths.map((path) => `./${path}\0`).join(''), 'latin1'));
    const fields = await Promise.race([all, this.#ended]);
    const ignored = new Set<RawPath>();
    for (const [index, path] of paths.entries()) {
      const pattern = fields[FIELDS * index + 2] ?? '';
      if (pattern !== '' && !pattern.startsWith('!')) ignored.add(path);
    }
    return ignored;
  }

  close(): void {
    this.#child.kill();
    rmSync(this.#copy, { recursive: true, force: true });
  }
}
