import { closeSync, lstatSync, readdirSync, type Stats } from 'node:fs';
import { isErrno } from '../../../core/errors.ts';
import { fdPath, openDirectory } from '../../../fs/file-access.ts';
import { type RawPath, toSystem } from '../../../fs/raw-path.ts';
import type { TimeSpan, Uncovered } from '../../contract/snapshot-messages.ts';
import type { UncoveredPaths } from './coverage.ts';

/** Files that are named for each span. */
const NAMED_MAX = 20;
/** Files and directories of one search; a rest is left out. */
const SEEN_MAX = 1_000_000;

/**
 * For each span, the files in directories that no snapshot covers whose ctime lies in it. Nothing in a sandbox can set a
 * ctime, and nothing need watch these directories meanwhile. Only the last change of a file is found. A directory is named if
 * nothing in it is: something was removed from it.
 */
export function touchedIn(root: RawPath, uncovered: UncoveredPaths, spans: readonly TimeSpan[]): Uncovered[][] {
  const files: Uncovered[][] = spans.map(() => []);
  const directories: Uncovered[][] = spans.map(() => []);
  const first = Math.min(...spans.map(({ fromMs }) => fromMs));
  const note = (found: Uncovered[][], one: Uncovered, { ctimeMs }: Stats): void => {
    if (ctimeMs < first) return;
    for (const [index, { fromMs, toMs }] of spans.entries())
      if (ctimeMs >= fromMs && ctimeMs <= toMs && (found[index]?.length ?? 0) < NAMED_MAX) found[index]?.push(one);
  };
  let seen = 0;
  for (const [top, why] of uncovered) {
    if (!top.endsWith('/')) continue;
    const left = [top];
    for (let path = left.pop(); path !== undefined && seen < SEEN_MAX; path = left.pop())
      for (const { name, isDirectory, stats } of entriesOf(`${root}/${path}`)) {
        seen += 1;
        // git writes in its own directory whatever one asks it.
        if (name === '.git') continue;
        const below = name === '' ? path : `${path}${name}${isDirectory ? '/' : ''}`;
        if (isDirectory && name !== '') left.push(below);
        else note(isDirectory ? directories : files, { path: below, why }, stats);
      }
  }
  return files.map((found, index) => (found.length > 0 ? found : (directories[index] ?? [])));
}

interface Found {
  /** Empty for the directory itself. */
  readonly name: string;
  readonly isDirectory: boolean;
  readonly stats: Stats;
}

/** What is in a directory, and itself. What cannot be read is left out. */
function entriesOf(directory: RawPath): Found[] {
  const found: Found[] = [];
  let place: number | null = null;
  try {
    place = openDirectory(directory.slice(0, -1));
    if (place === null) return found;
    found.push({ name: '', isDirectory: true, stats: lstatSync(`${fdPath(place)}/.`) });
    for (const name of readdirSync(fdPath(place), { encoding: 'latin1' })) {
      const stats = lstatSync(toSystem(`${fdPath(place)}/${name}`), { throwIfNoEntry: false });
      if (stats !== undefined) found.push({ name, isDirectory: stats.isDirectory(), stats });
    }
  } catch (cause) {
    if (!isErrno(cause)) throw cause;
  } finally {
    if (place !== null) closeSync(place);
  }
  return found;
}
