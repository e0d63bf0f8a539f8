import { ContextdError } from '../../core/errors.ts';
import { inThousands } from '../../core/thousands.ts';
import type { Mount } from '../../guard/contract/mount.ts';
import type { EndedBy } from '../contract/command.ts';

const COPY_INSIDE = '/opt/contextd/copy';
const FILES_MAX = 20_000;
/** Milliseconds. */
export const COPY_WITHIN_MS = 300_000;
const TOO_MANY = 3;

/** Device files, such as those that hide a file, cannot be copied, and are all that may be left out. */
const COPY = `
files=$(find . -xdev -printf . | head -c ${FILES_MAX + 1} | wc -c)
[ "$files" -le ${FILES_MAX} ] || exit ${TOO_MANY}
failed=$(LC_ALL=C cp -a -x . "$1" 2>&1 | grep -v 'cannot create special file')
[ -z "$failed" ]
`;

/** What copies the workspace, and what it needs besides the sandbox of a command. `copy`: an empty directory on the host. */
export function copyProgram(copy: string): { argv: string[]; program: Mount[] } {
  return {
    argv: ['bash', '-c', COPY, 'contextd-copy', COPY_INSIDE],
    program: [{ kind: 'bind', source: copy, dest: COPY_INSIDE }],
  };
}

/** `why` it would have to be a copy. */
export function notCopied(workspace: string, why: string, exitCode: number | null, endedBy: EndedBy): ContextdError {
  const what =
    exitCode === TOO_MANY
      ? `${workspace} has more than ${inThousands(FILES_MAX)} files, too many for a copy`
      : `${workspace} cannot be copied (${endedBy}${exitCode === null ? '' : ` ${exitCode}`})`;
  return new ContextdError('SANDBOX_UNAVAILABLE', `${what}, and a branch of it can have no overlay: ${why}`, {
    remedy: 'Open the branch with files: "shared".',
  });
}
