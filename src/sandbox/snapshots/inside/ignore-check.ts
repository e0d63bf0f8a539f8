import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import type { RawPath } from '../../workspace/raw-path.ts';
import { gitCommand, gitEnvironment } from './git.ts';

/** Fields of one line of `git check-ignore -v -z`: source, line, pattern, path. */
const FIELDS = 4;

/** Asks git which directories of a workspace its ignore files name. For one search: git reads each ignore file once. */
export class IgnoreCheck {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #ended: Promise<never>;
  #out = '';
  #onData: () => void = () => {};

  constructor(workspace: string, gitDir: string) {
    const [command, ...args] = gitCommand(['check-ignore', '-z', '-v', '-n', '--no-index', '--stdin']);
    this.#child = spawn(command, args, {
      cwd: workspace,
      env: { ...gitEnvironment(gitDir), GIT_WORK_TREE: workspace },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let words = '';
    this.#child.stderr.on('data', (chunk: Buffer) => {
      words = (words + chunk.toString()).slice(-1_000);
    });
    this.#child.stdin.on('error', () => {});
    this.#child.stdout.on('data', (chunk: Buffer) => {
      this.#out += chunk.toString('latin1');
      this.#onData();
    });
    this.#ended = new Promise<never>((_, reject) => {
      this.#child.once('error', reject);
      this.#child.once('close', (code) => reject(new Error(`git check-ignore ended with ${code}: ${words.trim()}`)));
    });
    this.#ended.catch(() => {});
  }

  /** Which of these paths, relative to the workspace, are ignored. */
  async ignoredOf(paths: readonly RawPath[]): Promise<Set<RawPath>> {
    if (paths.length === 0) return new Set();
    const all = new Promise<string[]>((resolve) => {
      this.#onData = () => {
        const fields = this.#out.split('\0');
        if (fields.length - 1 < FIELDS * paths.length) return;
        this.#out = '';
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
  }
}
