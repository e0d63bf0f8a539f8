import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ContextdError, isErrno } from '../core/errors.ts';
import { isJsonObject } from '../core/json.ts';

const PACKAGE_NAME = 'contextd';

/** The directory of the installed package: the nearest directory above this file with contextd's package.json. */
export function findInstallRoot(): string {
  const start = dirname(fileURLToPath(import.meta.url));
  for (let directory = start; ; directory = dirname(directory)) {
    if (readPackage(directory)?.name === PACKAGE_NAME) return directory;
    if (directory === dirname(directory)) break;
  }
  throw new ContextdError('INTERNAL_ERROR', `${start} is not inside an installation of contextd`, {
    remedy: 'Install it again with ./install.sh.',
  });
}

/** The version in the installation's package.json, e.g. "0.1.0". */
export function readVersion(installRoot: string): string {
  const version = readPackage(installRoot)?.version;
  if (version !== undefined) return version;
  throw new ContextdError('INTERNAL_ERROR', `${join(installRoot, 'package.json')} has no version`, {
    remedy: 'Install contextd again with ./install.sh.',
  });
}

interface Package {
  name: string | undefined;
  version: string | undefined;
}

function readPackage(directory: string): Package | undefined {
  try {
    const parsed: unknown = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
    return isJsonObject(parsed) ? { name: text(parsed.name), version: text(parsed.version) } : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || isErrno(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return undefined;
    throw error;
  }
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
