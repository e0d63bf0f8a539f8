import { ContextdError, type ErrorCode } from '../../core/errors.ts';
import { formatSource, type GitSource } from '../source.ts';
import { shown } from './names.ts';

type Row = readonly [pattern: RegExp, code: ErrorCode, what: string, remedy: string];

/** What git says, in the order in which it counts, and what it means to a person. git runs with LC_ALL=C. */
const FAULTS: readonly Row[] = [
  [
    /No space left on device|Disk quota exceeded/i,
    'STORAGE_FULL',
    'does not fit on the disk',
    'Free disk space and try again.',
  ],
  [
    /File too large|file size limit exceeded/i,
    'PAYLOAD_TOO_LARGE',
    'is larger than a tool may be',
    'Install a release archive of the tool instead.',
  ],
  [
    /Out of memory|cannot allocate|std::bad_alloc|malloc.* failed/i,
    'RESOURCE_LIMIT',
    'makes git use too much memory',
    'Install a release archive of the tool instead.',
  ],
  [/block timeout reached/i, 'UPSTREAM_TIMEOUT', 'sent nothing for too long', 'Try again later.'],
  [/spawn git ENOENT/i, 'PATH_NOT_FOUND', 'needs git, which is not on PATH', 'Install git, then try again.'],
  [
    /dubious ownership/i,
    'PERMISSION_DENIED',
    'belongs to another user',
    'If you trust it: git config --global --add safe.directory PATH',
  ],
  [
    /transport '.*' not allowed/i,
    'PERMISSION_DENIED',
    'leads to another kind of address',
    'Use the address it leads to.',
  ],
  [
    /Host key verification failed/i,
    'AUTH_FAILED',
    'is on a host that ssh does not know',
    'Connect once with ssh and check the key of the host.',
  ],
  [
    /(?:repository|project) .*not found|not found$|does not appear to be a git repository|does not exist|not exported|no such repository|returned error: 404/im,
    'NOT_FOUND',
    'is not a repository',
    'Check the address. A private repository answers like this to everyone who may not read it.',
  ],
  [
    /could not read (?:Username|Password)|Authentication failed|Permission denied|terminal prompts disabled|returned error: 40[13]|Invalid username or (?:password|token)/i,
    'AUTH_FAILED',
    'is private, or does not exist',
    'Check the name. For a private repository set up a git credential helper, ~/.netrc or an ssh key, so that `git ls-remote` works.',
  ],
  [
    /not our ref|couldn't find remote ref|unadvertised object/i,
    'NOT_FOUND',
    'does not have this version',
    'Check the tag, branch or commit.',
  ],
  [
    /fsck|bad object|invalid sha1|error in object|contains '\.git'|hasDot|zeroPadded|inflate|corrupt|bad pack|SHA1 COLLISION/i,
    'INTEGRITY_FAILED',
    'holds objects that git refuses',
    'Do not install it. Tell its author: `git fsck` shows what is wrong.',
  ],
  [
    /Could not resolve|Couldn't resolve|Connection (?:refused|reset|timed out|closed)|unable to connect|Failed to connect|Network is unreachable|early EOF|hung up|RPC failed|unexpected disconnect|unable to access|Empty reply|SSL|TLS|certificate/i,
    'UPSTREAM_UNAVAILABLE',
    'cannot be reached, or broke the connection off',
    'Check the host name and the network, and try again.',
  ],
];

/** What a failed git command means. The text of git is in the details, cut and on one line: a server may have written it. */
export function gitFault(source: GitSource, thrown: unknown): ContextdError {
  if (thrown instanceof ContextdError) return thrown;
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  const [, code, what, remedy] = FAULTS.find(([pattern]) => pattern.test(text)) ?? [
    null,
    'UPSTREAM_ERROR' as const,
    'cannot be fetched',
    'See what git says in the details; `git ls-remote` with the address shows more.',
  ];
  const git = shown(lastLines(text));
  return new ContextdError(code, `${formatSource(source)} ${what}`, { remedy, details: { git }, cause: thrown });
}

function lastLines(text: string): string {
  const lines = text
    .trim()
    .split('\n')
    .filter((line) => /^(?:fatal|error|remote):/.test(line));
  return (lines.length === 0 ? text.trim() : lines.slice(-3).join('; ')).slice(0, 200);
}
