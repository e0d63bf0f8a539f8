import type { SandboxLimits } from '../sandbox.ts';

/**
 * Inside the sandbox: says on descriptor 3 that it was reached, sets what limits the system keeps for a process, and
 * becomes the command. The usual umask, because the daemon's own is private.
 */
const PRELUDE = `
umask 022
ulimit -c 0
ulimit -f "$1" 2>/dev/null
ulimit -n "$2" 2>/dev/null
if [ "$3" -gt 0 ]; then ulimit -u "$3" 2>/dev/null; fi
shift 3
echo >&3
exec 3>&-
exec "$@"
`;

export interface SeatbeltLaunch {
  readonly sandboxExec: string;
  readonly profile: string;
  readonly limits: SandboxLimits;
  /** Processes this user has at this moment, 0 when not known: the system counts all of a user's together. */
  readonly userProcesses: number;
  readonly argv: readonly string[];
}

/** The command line. /bin/sh stands before anything of the caller's, so nothing of theirs is taken for an option. */
export function seatbeltArguments(launch: SeatbeltLaunch): string[] {
  const { limits, userProcesses } = launch;
  return [
    launch.sandboxExec,
    '-p',
    launch.profile,
    '/bin/sh',
    '-c',
    PRELUDE,
    'contextd-sandbox',
    String(Math.ceil(limits.fileBytes / 512)),
    String(limits.openFiles),
    String(userProcesses === 0 ? 0 : userProcesses + limits.pids),
    ...launch.argv,
  ];
}
