import { dirname, join } from 'node:path';
import type { Json } from '../../core/json.ts';
import { HOOK_PROGRAM, SHELL_PROGRAM, shellNameOf, shellNamesOf } from '../../core/shell-names.ts';
import { isShellWord } from '../../core/shell-words.ts';
import { type HookName, WATCHED_TOOLS } from '../hooks/hook-input.ts';
import type { Entry } from './json-edit.ts';

// What `ctxd init` adds to the settings of Claude Code and OpenCode. docs/clients.md has what was tried with both, and
// test/clients/ tries it again.

export const RULES_FILE = '.claude/rules/contextd.md';
/** On the PATH of agents. */
export const BIN_DIR = '.claude/bin';
export const PLUGIN_FILE = '.claude/opencode/contextd.js';

/** The link by which a client starts contextd-sh. Claude Code takes a shell only if its path says `bash` or `zsh`. */
export const SHELL_LINK = `.claude/tools/safe_bash/${SHELL_PROGRAM}`;

/** Puts `.claude/bin` on PATH, whatever is in it. Earlier versions ran it alone. */
const EARLIER_PATH_HOOK = putOnPath('CLAUDE_PROJECT_DIR');
/** Earlier versions ran it: in a worktree below `.claude/worktrees` there are no tools. */
const PATH_HOOK_OF_ROOT = `${onlyOwnPrograms('"$CLAUDE_PROJECT_DIR"/.claude/bin')} ${EARLIER_PATH_HOOK}`;

/** `variable`: holds the directory of the project. */
function putOnPath(variable: string): string {
  return [
    `printf "export PATH='%s/.claude/bin':\\"\\$PATH\\"\\n"`,
    `"$(printf %s "$${variable}" | sed "s/'/'\\\\\\\\''/g")"`,
    `>> "\${CLAUDE_ENV_FILE:-/dev/null}"`,
  ].join(' ');
}

/**
 * Adds `.claude/bin` to the PATH of Claude Code's shell, which may leave the project root. It comes first, so that no
 * program elsewhere on PATH takes the name of a tool, which runs without a question; it is not added while it holds a program
 * of others. A shell reads the written line later, so the directory is in single quotes, its own quotes are escaped,
 * and $PATH is not expanded yet. A worktree of Claude Code, below `.claude/worktrees`, has the tools of the project around it.
 */
export const PATH_HOOK = [
  `d="$CLAUDE_PROJECT_DIR"; [ -d "$d/.claude/bin" ] || d="\${d%%/.claude/worktrees/*}";`,
  onlyOwnPrograms('"$d"/.claude/bin'),
  putOnPath('d'),
].join(' ');

/**
 * A command of a shell that ends the script, and tells the model why, if a directory has a program that is no link to the
 * proxy: a repository could bring its own `git`. `directory` is one word of the shell.
 */
function onlyOwnPrograms(directory: string): string {
  const why = 'contextd did not put its tools on PATH: it did not create $f. Ask the person to run ctxd doctor.';
  return [
    `for f in ${directory}/* ${directory}/.[!.]*; do`,
    `if [ -x "$f" ] && [ ! -d "$f" ]; then case "$(readlink "$f")" in`,
    `*/contextd-proxy) ;; *) echo "${why}"; exit 0 ;; esac; fi; done;`,
  ].join(' ');
}

/**
 * The entries of `.claude/settings.json`, which a team shares. Only core tools are named: on a machine that does not have
 * an installed tool, its name may be a program of the person's own.
 */
export function settings(coreTools: readonly string[]): Entry[] {
  return [...allowed(relativeCommands(coreTools)), ...denied(), sessionStart(PATH_HOOK)];
}

/**
 * The entries of `.claude/settings.local.json`, which belong to this machine and may hold absolute paths. Started in a
 * subdirectory of a repository, Claude Code reads these settings and not the shared ones, so they repeat names and PATH.
 */
export function localSettings(tools: readonly string[], root: string, proxyBinary: string, isShell: boolean): Entry[] {
  const ctxd = quoted(join(dirname(proxyBinary), 'ctxd'));
  // A session that somebody named by CONTEXTD_SESSION_ID does not end with one of the conversations that share it.
  const command = `[ -n "$CONTEXTD_SESSION_ID" ] || ${ctxd} session end ${quoted(root)} --hook >/dev/null 2>&1 || true`;
  const end = { type: 'command', command, timeout: SESSION_END_LIMIT_S };
  // Whatever becomes of ctxd, its hooks must not stop the work of an agent: only their standard output counts.
  const hook = (name: HookName): Json => ({
    type: 'command',
    command: `${ctxd} hook ${name} ${quoted(root)} 2>/dev/null || true`,
    timeout: HOOK_LIMIT_S,
  });
  return [
    ...toolEntries(tools, root),
    ...denied(),
    sessionStart(localPathHook(root)),
    { path: ['hooks', 'SessionEnd'], value: { hooks: [end] } },
    { path: ['hooks', 'SessionStart'], value: { hooks: [hook('session-start')] } },
    { path: ['hooks', 'PreCompact'], value: { hooks: [hook('pre-compact')] } },
    { path: ['hooks', 'Stop'], value: { hooks: [hook('stop')] } },
    { path: ['hooks', 'PostToolUse'], value: { matcher: WATCHED_TOOLS, hooks: [hook('post-tool')] } },
    ...(isShell ? [{ path: ['env'], key: 'CLAUDE_CODE_SHELL', value: join(root, SHELL_LINK) }] : []),
    ...callHooks(root),
  ];
}

/** The hooks that judge and mask calls of Claude Code's own tools. */
export function callHooks(root: string): Entry[] {
  const hooks = [callHook(root)];
  return [
    { path: ['hooks', 'PreToolUse'], value: { matcher: JUDGED_TOOLS, hooks } },
    { path: ['hooks', 'PostToolUse'], value: { matcher: '*', hooks } },
    { path: ['hooks', 'PostToolBatch'], value: { hooks } },
    { path: ['hooks', 'UserPromptSubmit'], value: { hooks } },
  ];
}

/** Tools of Claude Code whose calls contextd judges by the paths and the tokens in them. */
const JUDGED_TOOLS = 'Edit|MultiEdit|Write|NotebookEdit|Read|NotebookRead|Grep|Glob|LS';

/**
 * Judges and masks calls of the client's own tools. It answers also if it fails. If it cannot even start, such as after its
 * link was removed, Claude Code would show the original, so the shell ends the agent's turn.
 */
function callHook(root: string): Json {
  const command = `${quoted(`${root}/${BIN_DIR}/${HOOK_PROGRAM}`)} || printf '%s' ${quoted(HOOK_GONE)}`;
  return { type: 'command', command, timeout: CALL_HOOK_LIMIT_S };
}

const HOOK_GONE = JSON.stringify({
  continue: false,
  stopReason: 'contextd cannot mask the output of tools: .claude/bin/contextd-hook does not start. Run `ctxd doctor`.',
});

/** The entries that allow tools, as they may be in any of the settings of the project at `root`. */
export function toolEntries(tools: readonly string[], root: string): Entry[] {
  const absolute = isPlainPath(root) ? commandsOf(tools).map((command) => `${root}/.claude/bin/${command}`) : [];
  return allowed([...relativeCommands(tools), ...absolute]);
}

/** Each link by its whole path, because a repository can bring other programs to the folder, and by its name. */
function relativeCommands(tools: readonly string[]): string[] {
  return [...tools.map((name) => `.claude/tools/${name}/${name} *`), ...commandsOf(tools)];
}

/** By the names that shells look for on PATH, and by no other: `jobs -x` of bash runs any program. */
function commandsOf(tools: readonly string[]): string[] {
  return tools
    .map(shellNameOf)
    .filter((name) => !isShellWord(name))
    .map((name) => `${name} *`);
}

/**
 * What earlier versions added and this one does not: rules for all programs below `.claude/tools`, which a repository can
 * bring, and for names that shells have themselves; hooks that did not look into `.claude/bin`.
 */
export function earlierEntries(tools: readonly string[], root: string): Entry[] {
  const words = tools.flatMap(shellNamesOf).filter(isShellWord);
  return [
    ...allowed(['.claude/tools/*', ...words.flatMap((name) => [`${name} *`, `${root}/.claude/bin/${name} *`])]),
    sessionStart(EARLIER_PATH_HOOK),
    sessionStart(PATH_HOOK_OF_ROOT),
    sessionStart(earlierLocalPathHook(root)),
  ];
}

/** Does the same as PATH_HOOK, but names the project itself. */
export function localPathHook(root: string): string {
  return `${onlyOwnPrograms(quoted(`${root}/.claude/bin`))} ${earlierLocalPathHook(root)}`;
}

function earlierLocalPathHook(root: string): string {
  const line = `export PATH=${quoted(`${root}/.claude/bin`)}:"$PATH"`;
  return `printf '%s\\n' ${quoted(line)} >> "\${CLAUDE_ENV_FILE:-/dev/null}"`;
}

function sessionStart(command: string): Entry {
  return { path: ['hooks', 'SessionStart'], value: { hooks: [{ type: 'command', command }] } };
}

/** One word of a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Claude Code gives a session-end hook 1.5 seconds if it asks for no other time. */
const SESSION_END_LIMIT_S = 15;
/** More than contextd-hook takes at the most: of a hook that takes longer Claude Code shows the original output. */
const CALL_HOOK_LIMIT_S = 60;
/** Seconds that Claude Code waits for another hook. */
const HOOK_LIMIT_S = 10;

/**
 * What only a person decides, as it follows the name of the program. An agent that could run these could widen what it may
 * do. `init` is among them, because with `--yes` it allows what the files of the project name.
 */
export const PERSONS_COMMANDS = [
  'network allow',
  'network deny',
  'network remove',
  'network mirrors',
  'network on',
  'network off',
  'network credential',
  'http',
  'allow',
  'approve',
  'quarantine',
  'scrub allow',
  'scrub reveal',
  'scrub approve',
  'undo',
  'config set',
  'config unset',
  'backup',
  'server install',
  'server uninstall',
  'tool install',
  'tool update',
  'tool rollback',
  'tool remove',
  'memory promote',
  'memory forget',
  'upstream add',
  'upstream approve',
  'upstream import',
  'upstream remove',
  'upstream restart',
  'init',
] as const;

/** A denial of Claude Code wins over every permission, in every mode. It covers a path, `sudo` and `cd` before the name. */
function denied(): Entry[] {
  return PERSONS_COMMANDS.map((words) => ({ path: ['permissions', 'deny'], value: `Bash(*ctxd ${words}*)` }));
}

/** Claude Code asks nothing for these commands and runs them outside its own sandbox, if that is on. */
function allowed(commands: readonly string[]): Entry[] {
  return [
    ...commands.map((command) => ({ path: ['permissions', 'allow'], value: `Bash(${command})` })),
    ...commands.map((command) => ({ path: ['sandbox', 'excludedCommands'], value: command })),
  ];
}

/** True if the path means the same to a shell without quotes and holds nothing that a rule reads as a pattern. */
function isPlainPath(path: string): boolean {
  return /^[\w/.@%+=,-]+$/.test(path);
}

export function openCodeEntries(isShell: boolean): Entry[] {
  return [
    ...(isShell ? [] : [{ path: ['instructions'], value: RULES_FILE }]),
    { path: ['plugin'], value: `./${PLUGIN_FILE}` },
  ];
}
