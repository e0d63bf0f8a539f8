/**
 * Tools whose name a shell has as a builtin, and the name by which a shell finds them. `jobs 'show 1'` would ask bash about
 * its own jobs, also if a program of this name is on PATH.
 */
const SHELL_NAMES: ReadonlyMap<string, string> = new Map([
  ['jobs', 'safe_jobs'],
  ['return', 'safe_return'],
]);
const TOOLS: ReadonlyMap<string, string> = new Map([...SHELL_NAMES].map(([tool, name]) => [name, tool]));

/** What to type to call a tool. */
export function shellNameOf(tool: string): string {
  return SHELL_NAMES.get(tool) ?? tool;
}

/** The tool that is called by a name of `.claude/bin`. */
export function toolOfShellName(name: string): string {
  return TOOLS.get(name) ?? name;
}

/** Every name that a tool has in `.claude/bin`. */
export function shellNamesOf(tool: string): readonly string[] {
  return [...new Set([tool, shellNameOf(tool)])];
}

/** The program that answers hooks of clients: a link to the proxy in `.claude/bin` that is no tool. */
export const HOOK_PROGRAM = 'contextd-hook';
/** The program that is the shell of a client: another such link, beside that of safe_bash. */
export const SHELL_PROGRAM = 'contextd-sh';
