import { readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { nameOf, type RawPath } from '../../../fs/raw-path.ts';
import {
  type FileChange,
  type FileState,
  isDirectoryState,
  type RestoreItem,
  type RestoreReply,
  type SnapshotReply,
  type SnapshotRequest,
} from '../../contract/snapshot-messages.ts';
import { FileTree } from './file-tree.ts';
import { ignoredAmong } from './ignored-paths.ts';
import { IndexFile } from './index-file.ts';
import { ObjectStore } from './object-store.ts';
import { restore } from './restore.ts';
import { touchedIn } from './touched.ts';

/*
 * Runs in a sandbox as the owner of the workspace. `keep` serves requests, one line of JSON each, and sees the workspace
 * read-only; `restore` puts files back, in the sandbox that a command would have, and sees the store read-only.
 */

const UNCOVERED_MAX = 100;
const IGNORED_NAMES_MAX = 200;
const NOTHING: SnapshotReply = {
  changes: [],
  isFirst: false,
  missed: [],
  uncovered: [],
  uncoveredCount: 0,
  tree: null,
  bytes: 0,
  ignored: [],
  touched: [],
};

async function main(): Promise<void> {
  const [mode = '', root = '', store = ''] = process.argv.slice(2);
  const workspace = Buffer.from(root).toString('latin1');
  if (mode === 'restore') {
    const items: RestoreItem[] = JSON.parse(readFileSync(0, 'utf8'));
    const reply: RestoreReply = restore(workspace, new ObjectStore(store, true), items);
    writeSync(1, JSON.stringify(reply));
    return;
  }
  await serve(new Keeper(workspace, store));
}

async function serve(keeper: Keeper): Promise<void> {
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
    const answer = await keeper.answer(JSON.parse(line)).then(
      (reply) => ({ reply }),
      (cause: unknown) => ({ error: cause instanceof Error ? cause.message : String(cause) }),
    );
    process.stdout.write(`${JSON.stringify(answer)}\n`);
  }
  process.exit(0);
}

class Keeper {
  readonly #root: RawPath;
  readonly #store: string;
  readonly #objects: ObjectStore;
  readonly #tree: FileTree;
  #isFirst: boolean;

  constructor(root: string, store: string) {
    const index = new IndexFile(join(store, 'files'));
    this.#root = root;
    this.#store = store;
    this.#objects = new ObjectStore(store);
    this.#tree = new FileTree(root, store, this.#objects, index);
    this.#isFirst = !index.hadContent;
  }

  async answer(request: SnapshotRequest): Promise<SnapshotReply> {
    switch (request.do) {
      case 'sync': {
        const { changes, missed } = await this.#tree.take();
        const isFirst = this.#isFirst;
        this.#isFirst = false;
        return { ...NOTHING, changes: isFirst ? [] : changes, missed, isFirst, ignored: this.#ignoredNames() };
      }
      case 'look':
        return {
          ...NOTHING,
          changes: request.paths.map((path) => ({
            path,
            before: null,
            after: this.#tree.stateOf(path),
          })),
        };
      case 'save': {
        const [tree = ''] = await this.#objects.keep([this.#list()]);
        const all = Array.from(this.#tree.uncovered, ([path, why]) => ({ path, why }));
        return { ...NOTHING, tree, uncovered: all.slice(0, UNCOVERED_MAX), uncoveredCount: all.length };
      }
      case 'compare':
        return { ...NOTHING, changes: this.#differences(request.tree) };
      case 'ignored':
        return { ...NOTHING, ignored: await ignoredAmong(this.#root, this.#store, request.paths) };
      case 'touched':
        return { ...NOTHING, touched: touchedIn(this.#root, this.#tree.uncovered, request.spans) };
      case 'clean': {
        const listed = request.trees.flatMap((tree) => [tree, ...idsOf([...this.#saved(tree).files.values()])]);
        const keep = new Set([
          ...request.keep,
          ...listed,
          ...idsOf([...this.#tree.files.values()].map((f) => f.state)),
        ]);
        return { ...NOTHING, bytes: await this.#objects.clean(keep) };
      }
    }
  }

  #ignoredNames(): string[] {
    const paths = [...this.#tree.uncovered].flatMap(([path, why]) => (why === 'ignored directory' ? [path] : []));
    return [...new Set(paths.map((path) => nameOf(path.slice(0, -1))))].slice(0, IGNORED_NAMES_MAX);
  }

  /** All files and directories with their states, and what is not covered, one JSON line each, sorted. */
  #list(): Buffer {
    const files = Array.from(this.#tree.files, ([path, { state }]) => `${JSON.stringify([path, state])}\n`);
    const uncovered = Array.from(this.#tree.uncovered, ([path]) => `${JSON.stringify([path, NOT_COVERED])}\n`);
    return Buffer.from([...files, ...uncovered].sort().join(''));
  }

  #saved(tree: string): { files: Map<RawPath, FileState>; uncovered: Set<RawPath> } {
    const lines = this.#objects.read(tree).toString().split('\n').filter(Boolean);
    const entries = lines.map((line): [RawPath, FileState] => JSON.parse(line));
    return {
      files: new Map(entries.filter(([, state]) => state !== NOT_COVERED)),
      uncovered: new Set(entries.flatMap(([path, state]) => (state === NOT_COVERED ? [path] : []))),
    };
  }

  /** Without files that were there and not covered when the list was saved: nobody knows what they were. */
  #differences(tree: string): FileChange[] {
    const { files: saved, uncovered } = this.#saved(tree);
    // A list of an older version has no directories, not even the workspace itself.
    const hasDirectories = saved.has('');
    const paths = new Set([...saved.keys(), ...this.#tree.files.keys()]);
    return [...paths].flatMap((path): FileChange[] => {
      const [before, after] = [saved.get(path) ?? null, this.#tree.stateOf(path)];
      if (before === after) return [];
      const isDirectory = isDirectoryState(after);
      if (before === null && (isListed(isDirectory ? `${path}/` : path, uncovered) || (isDirectory && !hasDirectories)))
        return [];
      return [{ path, before, after }];
    });
  }
}

/** In a list, the state of what is not covered. No file has it. */
const NOT_COVERED = 'not covered';

/** A directory in `paths` ends with a slash, and stands for all below it. */
function isListed(path: RawPath, paths: ReadonlySet<RawPath>): boolean {
  if (paths.size === 0) return false;
  for (let end = path.indexOf('/'); end >= 0; end = path.indexOf('/', end + 1))
    if (paths.has(path.slice(0, end + 1))) return true;
  return paths.has(path);
}

function idsOf(states: readonly FileState[]): string[] {
  return states.map((state) => state.slice(state.indexOf(' ') + 1));
}

await main();
