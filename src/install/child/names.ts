import { ContextdError } from '../../core/errors.ts';
import { invisibleIn } from '../../core/invisible.ts';
import type { FetchLimits } from '../limits.ts';

const SEGMENT_MAX_BYTES = 255;

/**
 * The parts of a path as an archive or a repository writes it. Throws INTEGRITY_FAILED for a path that could lead out of
 * the tool, hide in a listing, or mean different files to different programs. `./` before and `/` after it are dropped.
 */
export function checkName(path: string, limits: FetchLimits): string[] {
  const plain = path.replace(/^(?:\.\/)+/, '').replace(/\/+$/, '');
  if (plain === '' || plain === '.') return [];
  if (plain.startsWith('/')) throw refused(path, 'is absolute');
  if (plain.includes('\\')) throw refused(path, 'holds a backslash');
  if (/^[A-Za-z]:/.test(plain)) throw refused(path, 'names a drive');
  // Also what format characters and bytes that are not UTF-8 become: a person must see the name that runs.
  if (invisibleIn(plain) !== null || plain.includes('\uFFFD'))
    throw refused(path, 'holds a character that does not print');
  const parts = plain.split('/');
  for (const part of parts) {
    if (part === '..') throw refused(path, 'leads out of the tool (..)');
    if (part === '' || part === '.') throw refused(path, 'has an empty part or a dot in it');
    if (Buffer.byteLength(part) > SEGMENT_MAX_BYTES)
      throw refused(path, `has a part of more than ${SEGMENT_MAX_BYTES} bytes`);
  }
  if (plain.length > limits.path_chars)
    throw tooLarge(`the path ${shown(path)} has more than ${limits.path_chars} characters`);
  if (parts.length - 1 > limits.depth)
    throw tooLarge(`the path ${shown(path)} is more than ${limits.depth} directories deep`);
  return parts;
}

/** Paths that are one file on a disk that ignores case or the composition of letters have the same key. */
export function foldName(path: string): string {
  return path.normalize('NFKD').toUpperCase().toLowerCase().normalize('NFKD');
}

/** True for paths of git's own directory, which is never part of a tool, in any spelling that a disk could take for it. */
export function isGitPlace(parts: readonly string[]): boolean {
  return parts.some((part) => foldName(part).replace(/[. ]+$/, '') === '.git' || foldName(part) === 'git~1');
}

/** A text of the tool's author in a message: on one line, quoted and short. */
export function shown(text: string): string {
  const line = text.length > 200 ? `${text.slice(0, 200)}…` : text;
  return JSON.stringify(line).replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`,
  );
}

export function refused(path: string, fault: string): ContextdError {
  return new ContextdError('INTEGRITY_FAILED', `the tool holds ${shown(path)}, which ${fault}`, {
    remedy: 'Do not install it unless you know why. Ask its author for a tool of plain files and directories.',
    details: { path: path.slice(0, 200) },
  });
}

export function tooLarge(fact: string): ContextdError {
  return new ContextdError('PAYLOAD_TOO_LARGE', fact, {
    remedy: 'Install a part of the source with //FOLDER, or ask the author of the tool for a smaller one.',
  });
}
