import { readFileSync } from 'node:fs';
import { ContextdError } from '../../core/errors.ts';
import { isBelow } from '../../core/paths.ts';

/**
 * Throws SANDBOX_UNAVAILABLE if a file system is mounted below the workspace: an overlay shows what the mount covers, so its
 * files would look as if the branch had removed them.
 */
export function refuseMountsBelow(workspace: string): void {
  const [below] = mountPoints(readFileSync('/proc/self/mountinfo', 'utf8')).filter((at) => isBelow(workspace, at));
  if (below === undefined) return;
  throw new ContextdError('SANDBOX_UNAVAILABLE', `a file system is mounted on ${below}, which a branch cannot see`, {
    remedy: 'Unmount it, or open the branch with files: "shared".',
  });
}

/** The fifth field of each line; blanks and some other characters are octal in it. */
function mountPoints(mountinfo: string): string[] {
  return mountinfo.split('\n').flatMap((line) => {
    const at = line.split(' ')[4];
    return at === undefined ? [] : [decode(at)];
  });
}

function decode(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
