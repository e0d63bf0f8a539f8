import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno } from '../../../core/errors.ts';

/** Directories below a project's root that are looked into. */
const MAX_DEPTH = 3;
const MAX_DIRECTORIES = 256;
const MAX_FILES = 64;
/** Entries of one directory. */
const MAX_ENTRIES = 2_000;

/** What others wrote, what was built, what nobody keeps settings in. */
const NOT_LOOKED_INTO =
  /^(?:node_modules|bower_components|vendor|target|dist|build|out|coverage|venv|__pycache__|\.(?:git|hg|svn|venv|cache|next|nuxt|tox|gradle|idea|terraform|contextd))$/;
const ENV_FILE = /^\.env(?:rc)?(?:[.-]|$)/;
/** Meant to be copied and filled in. */
const TEMPLATE = /[.-](?:example|sample|template|tmpl|dist|defaults?|schema|d\.ts)$/i;

export interface EnvFiles {
  files: readonly string[];
  /** Those that were looked into: one of them changes when a file comes or goes. */
  directories: readonly string[];
}

/** The `.env*` files of a project: in its root and a little below, breadth first, links not followed. */
export async function findEnvFiles(root: string): Promise<EnvFiles> {
  const files: string[] = [];
  const directories: string[] = [];
  let level = [root];
  for (let depth = 0; depth <= MAX_DEPTH && level.length > 0; depth++) {
    const below: string[] = [];
    for (const dir of level.slice(0, MAX_DIRECTORIES - directories.length)) {
      directories.push(dir);
      for (const entry of await entriesOf(dir)) {
        if (entry.isDirectory() && !NOT_LOOKED_INTO.test(entry.name)) below.push(join(dir, entry.name));
        else if (ENV_FILE.test(entry.name) && !TEMPLATE.test(entry.name)) files.push(join(dir, entry.name));
      }
    }
    level = below;
  }
  return { files: files.slice(0, MAX_FILES), directories };
}

async function entriesOf(dir: string): Promise<Dirent[]> {
  try {
    const entries = await readdir(dir, { withFileTypes: true });
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1)).slice(0, MAX_ENTRIES);
  } catch (thrown) {
    if (isErrno(thrown)) return [];
    throw thrown;
  }
}
