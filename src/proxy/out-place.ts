import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import { ContextdError, type ErrorCode, isErrno } from '../core/errors.ts';
import type { ToolLink } from './link.ts';

/** Where an answer is to be kept: a name in a directory of the project. */
export interface OutPlace {
  /** As the caller wrote it. */
  given: string;
  /** Real path of the project. */
  root: string;
  /** The directories from there, none of them `.` or `..`. */
  folders: readonly string[];
  name: string;
}

/** Files without a dot in front that a program on the host trusts: the sandbox protects the same. */
const TRUSTED_NAMES: readonly string[] = [
  ...['opencode.json', 'opencode.jsonc', 'crush.json', 'contextd.lock', 'mise.toml', 'bunfig.toml', '_darcs'],
];

const REMEDY =
  'Name a file in an existing directory of the project, without links and without names that begin with "."';

/**
 * Where `given` leads from `cwd`, by its words alone: nothing is looked at. Throws PATH_INVALID for what is no file of
 * the project, PERMISSION_DENIED for a name that begins with a dot or that programs outside the sandbox trust.
 */
export function locateOut(given: string, link: ToolLink, cwd: string = currentDirectory(given)): OutPlace {
  if (given === '' || given === '-' || given.includes('\0'))
    throw outFault('PATH_INVALID', given, 'it is no file name');
  if (['', '.', '..'].includes(given.slice(given.lastIndexOf('/') + 1))) {
    throw outFault('PATH_INVALID', given, 'it names a directory');
  }
  const inside = rootsOf(link)
    .map((root) => relative(root, resolve(cwd, given)))
    .find(isInside);
  if (inside === undefined) {
    throw outFault('PATH_INVALID', given, `it is outside the project ${link.projectRoot}`);
  }
  const folders = inside.split(sep);
  for (const part of folders) refuseProtected(part, given);
  const name = folders.pop() ?? '';
  return { given, root: link.projectRoot, folders, name };
}

function currentDirectory(given: string): string {
  try {
    return process.cwd();
  } catch (error) {
    if (!isErrno(error)) throw error;
    throw outFault('PATH_NOT_FOUND', given, `the current directory cannot be found (${error.code})`);
  }
}

/** Why nothing is written to `given`, as an error that says how to name a file that can be. */
export function outFault(code: ErrorCode, given: string, why: string): ContextdError {
  return new ContextdError(code, `the answer cannot be kept in ${given === '' ? '""' : given}: ${why}`, {
    remedy: `${REMEDY}.`,
    details: { path: given },
  });
}

/** The project's real path, and the one it was called by, which may be a link to it. */
function rootsOf(link: ToolLink): string[] {
  return [link.projectRoot, dirname(dirname(dirname(link.toolDir)))];
}

function isInside(path: string): boolean {
  return path !== '' && path !== '..' && !path.startsWith(`..${sep}`) && !isAbsolute(path);
}

/** Some file systems take letters of either case, and names with or without characters that show nothing, as equal. */
function refuseProtected(part: string, given: string): void {
  if (/[\p{Cc}\p{Default_Ignorable_Code_Point}]/u.test(part)) {
    throw outFault('PATH_INVALID', given, 'it holds characters that cannot be seen');
  }
  if (part.startsWith('.')) throw outFault('PERMISSION_DENIED', given, `${part} begins with a dot`);
  if (TRUSTED_NAMES.includes(part.normalize('NFKC').toLowerCase())) {
    throw outFault('PERMISSION_DENIED', given, `programs outside the sandbox trust ${part}`);
  }
}
