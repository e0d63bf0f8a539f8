import { isAbsolute } from 'node:path';
import { ContextdError } from '../core/errors.ts';

const AUDIT_MAX_RECORDS = 1000;
const STATS_DEFAULT_DAYS = 7;
const STATS_MAX_DAYS = 366;
const PATH_MAX_CHARS = 4096;

/** A project root as the wire must name it. Whether it may be one is for Management to say. */
export function rootOf(root: string): string {
  if (isAbsolute(root) && root.length <= PATH_MAX_CHARS && !root.includes('\0')) return root;
  throw new ContextdError('PATH_INVALID', `no absolute path: ${JSON.stringify(root.slice(0, 200))}`, {
    remedy: 'Pass the absolute path of the project root, with symlinks resolved.',
  });
}

/** What names a set-aside path or an acceptance. Throws ARGS_INVALID for what cannot be a name. */
export function whichOf(which: string): string {
  if (which !== '' && which.length <= PATH_MAX_CHARS && !which.includes('\0')) return which;
  throw new ContextdError('ARGS_INVALID', `not an id, a hash or a path: ${JSON.stringify(which.slice(0, 200))}`, {
    remedy: 'Name an id or a hash from `ctxd quarantine list`.',
  });
}

/** Throws ARGS_INVALID unless it is a whole SHA-256 in lower case. */
export function sha256Of(sha256: string): string {
  if (/^[0-9a-f]{64}$/.test(sha256)) return sha256;
  throw new ContextdError('ARGS_INVALID', `not a SHA-256: ${JSON.stringify(sha256.slice(0, 200))}`, {
    remedy: 'Pass the 64 hexadecimal digits that ListQuarantine gave.',
  });
}

/** Throws ARGS_INVALID above 1,000. 0 stays 0: the default number. */
export function auditLimit(limit: number): number {
  if (limit <= AUDIT_MAX_RECORDS) return limit;
  throw new ContextdError('ARGS_INVALID', `limit is ${limit}, the most is ${AUDIT_MAX_RECORDS}`, {
    remedy: 'Ask for fewer records.',
    details: { limit: AUDIT_MAX_RECORDS },
  });
}

/** Throws ARGS_INVALID above 366. */
export function statsDays(days: number): number {
  if (days <= STATS_MAX_DAYS) return days || STATS_DEFAULT_DAYS;
  throw new ContextdError('ARGS_INVALID', `days is ${days}, the most is ${STATS_MAX_DAYS}`, {
    remedy: 'Ask for fewer days.',
    details: { limit: STATS_MAX_DAYS },
  });
}
