import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { directoryEntries } from '../../core/directory-entries.ts';
import { isErrno } from '../../core/errors.ts';

/** Whether a directory holds more than these bytes or entries. Stops counting there, and follows no link. */
export function exceeds(dir: string, maxBytes: number, maxEntries: number): boolean {
  let [bytes, entries] = [0, 0];
  const open = [dir];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const { name } of entriesOf(at)) {
      const stats = lstatSync(join(at, name), { throwIfNoEntry: false });
      entries += 1;
      bytes += (stats?.blocks ?? 0) * 512;
      if (bytes > maxBytes || entries > maxEntries) return true;
      if (stats?.isDirectory() === true) open.push(join(at, name));
    }
  }
  return false;
}

/** A command may close its directories: what is in them counts when it has opened them again. */
function* entriesOf(dir: string) {
  try {
    yield* directoryEntries(dir);
  } catch (cause) {
    if (!isErrno(cause)) throw cause;
  }
}
