import { basename } from 'node:path';
import { ContextdError } from '../../core/errors.ts';
import { isBelow } from '../../core/paths.ts';
import { shellWord } from '../../core/shell-quote.ts';
import type { OwnedDirectory } from '../files/owned-directory.ts';
import { BIN_DIR } from './client-settings.ts';
import { TOOLS_DIR, toolFilePaths } from './layout.ts';
import { markedFolders } from './named-tools.ts';

/** What contextd has made in a project. */
export interface OwnFiles {
  /** Links and their targets, by path. */
  readonly links: ReadonlyMap<string, string>;
  readonly files: ReadonlySet<string>;
  readonly proxyBinary: string;
}

/** Entries of `.claude/tools` that are looked at. A tool has five. */
const ENTRIES_MAX = 10_000;

/**
 * The programs in `.claude/bin` and below `.claude/tools` that contextd did not make, sorted: executable files, and links,
 * which can become anything. `.claude/bin` comes first on the PATH of agents, so a program there runs in place of
 * another one of its name, and a person may have allowed all of `.claude/tools`. Throws CONFLICT if there are too many entries to look at.
 */
export function foreignPrograms(root: OwnedDirectory, own: OwnFiles): string[] {
  const documents = new Set(markedFolders(root).flatMap((name) => Object.values(toolFilePaths(name))));
  const isForeign = (path: string): boolean => {
    const found = root.inspect(path);
    if (found.kind === 'link') return found.target !== own.proxyBinary && found.target !== own.links.get(path);
    return !own.files.has(path) && !documents.has(path) && isExecutable(root.modeOf(path));
  };
  const inBin = root.entries(BIN_DIR).map(({ name }) => `${BIN_DIR}/${name}`);
  return [...inBin.filter((path) => root.inspect(path).kind !== 'directory'), ...filesBelow(root, TOOLS_DIR)]
    .filter(isForeign)
    .sort();
}

/** A shell command that moves programs of a project away: whole folders of `.claude/tools` that are not of a tool. */
export function moveCommand(root: string, programs: readonly string[], tools: readonly string[]): string {
  const moved = [...new Set(programs.map((path) => movable(path, tools)))];
  const command = (directory: string): string[] => {
    const inside = moved.filter((path) => isBelow(directory, path));
    const place = `.claude/moved/${basename(directory)}`;
    return inside.length === 0 ? [] : [`mkdir -p ${place}`, `mv ${inside.map(shellWord).join(' ')} ${place}/`];
  };
  return [`cd ${shellWord(root)}`, ...command(BIN_DIR), ...command(TOOLS_DIR)].join(' && ');
}

function movable(path: string, tools: readonly string[]): string {
  const [claude = '', directory = '', first = '', second] = path.split('/');
  const folder = `${claude}/${directory}/${first}`;
  return tools.includes(first) && second !== undefined ? `${folder}/${second}` : folder;
}

function filesBelow(root: OwnedDirectory, top: string): string[] {
  const files: string[] = [];
  const directories = [top];
  let seen = 0;
  for (const directory of directories) {
    for (const entry of root.entries(directory)) {
      seen += 1;
      if (seen > ENTRIES_MAX)
        throw new ContextdError('CONFLICT', `${top} has more than ${ENTRIES_MAX} entries`, {
          remedy: `Move away what is not a tool of contextd, then run this again.`,
          details: { path: top },
        });
      (entry.isDirectory() ? directories : files).push(`${directory}/${entry.name}`);
    }
  }
  return files;
}

function isExecutable(mode: number): boolean {
  return (mode & 0o111) !== 0;
}
