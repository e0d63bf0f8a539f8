import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ContextdError, isErrno } from '../../core/errors.ts';

/** What a tool can be made in. Each has a folder of templates. */
export const LANGUAGES = ['ts', 'go', 'python', 'sh'] as const;
export type Language = (typeof LANGUAGES)[number];

export interface NewTool {
  name: string;
  language: Language;
  /** Absolute; becomes the tool's own folder. */
  dir: string;
}

/** Stands for the name of the tool in the templates, which are a tool of this name. */
const PLACEHOLDER = 'tool_name';

/**
 * Makes a tool from the templates below `sdkSourceDir`, with a copy of the SDK for Go. Returns its files, sorted. The folder
 * appears when it is complete. Throws CONFLICT if there is something in it already.
 */
export async function createTool({ name, language, dir }: NewTool, sdkSourceDir: string): Promise<string[]> {
  const templates = join(sdkSourceDir, 'templates');
  const staging = join(dirname(dir), `.${basename(dir)}.${process.pid}`);
  const named = (text: string): string => text.replaceAll(PLACEHOLDER, name);
  try {
    await mkdir(dirname(dir), { recursive: true });
    await copyFiles(join(templates, 'common'), staging, named);
    await copyFiles(join(templates, language), staging, named);
    if (language === 'go')
      await copyFiles(join(sdkSourceDir, 'go'), join(staging, 'contextd'), (text) => text, SDK_FILE);
    const files = await filesIn(staging);
    await takePlace(staging, dir);
    return files;
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/** The files of the Go SDK that a tool needs: its tests and checksums stay. */
const SDK_FILE = /(?<!_test)\.go$|^go\.mod$/;

async function copyFiles(from: string, to: string, change: (text: string) => string, which = /./): Promise<void> {
  for (const file of (await filesIn(from)).filter((one) => which.test(one))) {
    const source = join(from, file);
    const isProgram = ((await stat(source)).mode & 0o111) !== 0;
    await mkdir(dirname(join(to, file)), { recursive: true });
    await writeFile(join(to, file), change(await readFile(source, 'utf8')), { mode: isProgram ? 0o755 : 0o644 });
  }
}

async function filesIn(dir: string): Promise<string[]> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) => join(parentPath, name).slice(dir.length + 1)).sort();
}

/** An empty directory is replaced; anything else stays. */
async function takePlace(staging: string, dir: string): Promise<void> {
  try {
    await rename(staging, dir);
  } catch (cause) {
    if (!isErrno(cause, 'ENOTEMPTY', 'EEXIST', 'ENOTDIR')) throw cause;
    throw new ContextdError('CONFLICT', `${dir} is there already`, {
      remedy: 'Name another folder with --dir, or remove what is there.',
      cause,
    });
  }
}
