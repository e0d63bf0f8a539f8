import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isErrno } from '../../core/errors.ts';

/** A configuration file as its package ships it. */
export interface ShippedFile {
  /** Relative to /etc. */
  readonly name: string;
  readonly algorithm: 'md5' | 'sha1';
  /** Hex. */
  readonly digest: string;
}

/** A package manager's list of the configuration files that packages put into /etc. */
interface PackageList {
  /** Changes whenever a package is installed, upgraded or removed. */
  readonly stamp: string;
  read(stamp: string): ShippedFile[];
}

const LISTS: readonly PackageList[] = [
  { stamp: '/var/lib/dpkg/status', read: (file) => parseDpkg(readFileSync(file, 'utf8')) },
  { stamp: '/lib/apk/db/installed', read: (file) => parseApk(readFileSync(file, 'utf8')) },
  { stamp: '/var/lib/pacman/local', read: readPacman },
];

/** The files whose change means that packages have changed. */
export function packageStamps(): string[] {
  return LISTS.map(({ stamp }) => stamp).filter((stamp) => existsSync(stamp));
}

export function shippedFiles(): ShippedFile[] {
  return LISTS.flatMap(({ stamp, read }) => (existsSync(stamp) ? read(stamp) : []));
}

/** True if the bytes are those that the package ships: they are public, so they hold nothing of this machine. */
export function isAsShipped({ algorithm, digest }: ShippedFile, bytes: Buffer): boolean {
  return createHash(algorithm).update(bytes).digest('hex') === digest;
}

/** dpkg's status file: ` /etc/path md5`, with a note after it if the package no longer ships the file. */
export function parseDpkg(status: string): ShippedFile[] {
  return [...status.matchAll(/^ \/etc\/(\S+) ([0-9a-f]{32})$/gm)].map(([, name = '', digest = '']) => ({
    name,
    algorithm: 'md5',
    digest,
  }));
}

/** apk's database: `F:` names a directory, `R:` a file in it, `Z:Q1` its SHA-1 in base64. */
export function parseApk(database: string): ShippedFile[] {
  const files: ShippedFile[] = [];
  let directory = '';
  let file = '';
  for (const line of database.split('\n')) {
    if (line.startsWith('F:')) directory = line.slice(2);
    if (line.startsWith('R:')) file = line.slice(2);
    if (!line.startsWith('Z:Q1') || !`${directory}/`.startsWith('etc/')) continue;
    const digest = Buffer.from(line.slice(4), 'base64').toString('hex');
    files.push({ name: join(directory.slice('etc/'.length), file), algorithm: 'sha1', digest });
  }
  return files;
}

/** pacman keeps one directory for each package; `%BACKUP%` in its `files` lists `etc/path<tab>md5`. */
function readPacman(directory: string): ShippedFile[] {
  return readdirSync(directory).flatMap((name) => {
    try {
      return parsePacman(readFileSync(join(directory, name, 'files'), 'utf8'));
    } catch (cause) {
      if (isErrno(cause, 'ENOENT', 'ENOTDIR')) return [];
      throw cause;
    }
  });
}

export function parsePacman(files: string): ShippedFile[] {
  const backup = files.split('%BACKUP%\n')[1]?.split('\n\n')[0] ?? '';
  return [...backup.matchAll(/^etc\/(.+)\t([0-9a-f]{32})$/gm)].map(([, name = '', digest = '']) => ({
    name,
    algorithm: 'md5',
    digest,
  }));
}
