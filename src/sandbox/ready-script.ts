import type { CommandSpec } from './sandbox.ts';

/** The descriptor on which a waiting shell reads its command. */
export const SCRIPT_FD = 3;

/**
 * What a pre-forked sandbox runs: a bash that says it is up, waits, and becomes the command's own. The name it reads into is
 * taken away before the command sees it; without a command it ends.
 */
export const WAITING_SHELL = [
  'bash',
  '-c',
  `printf . >&${SCRIPT_FD}; IFS= read -r -d '' -u ${SCRIPT_FD} contextd_script || exit 125; exec ${SCRIPT_FD}<&-; eval "$contextd_script"`,
];

/** `read` takes a byte at a time from a socket: of longer scripts a new sandbox is the faster one. */
const SCRIPT_MAX_BYTES = 8 * 1024;

/**
 * The script for a waiting shell that does what `command` does, or null where only a sandbox of its own can: another
 * program than `bash -c`, an environment, which a shell reads as it starts, or an input. Other than /dev/null, an
 * input would be a pipe, and some programs look for one.
 */
export function scriptFor(
  command: Pick<CommandSpec, 'argv' | 'cwd' | 'env' | 'stdin'>,
  workspace: string,
): string | null {
  const [program, flag, script, ...more] = command.argv;
  const isPlain = program === 'bash' && flag === '-c' && script !== undefined && more.length === 0;
  if (!isPlain || command.stdin !== null || Object.keys(command.env).length > 0) return null;
  if (Buffer.byteLength(script) > SCRIPT_MAX_BYTES) return null;
  const enter = command.cwd === workspace ? '' : `cd -- ${quote(command.cwd)} || exit; unset OLDPWD; `;
  return `unset contextd_script; ${enter}${script}\0`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
