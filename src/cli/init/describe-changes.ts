import { isBelow } from '../../core/paths.ts';
import { BIN_DIR, PLUGIN_FILE, RULES_FILE, SHELL_LINK } from './client-settings.ts';
import { EXCLUDE_FILE } from './git-exclude.ts';
import { clientOf, SKILL_FILE, TOOLS_DIR } from './layout.ts';
import type { ProjectChanges } from './project.ts';

/** What single files are for, in words for a person who knows nothing of contextd. */
const PURPOSES: Readonly<Record<string, string>> = {
  [RULES_FILE]: 'tells agents to run commands with safe_bash',
  [SKILL_FILE]: 'tells agents how to use the tools',
  [PLUGIN_FILE]: 'what OpenCode loads to mask secrets',
  [SHELL_LINK]: 'the shell that runs the commands of agents in a sandbox',
  '.claude/settings.json': 'permissions and hooks of Claude Code, for a team',
  '.claude/settings.local.json': 'the same for this machine',
  '.claude/.gitignore': 'keeps the links out of git',
  'opencode.json': 'settings of OpenCode',
  [EXCLUDE_FILE]: 'hides these files from git',
};

const KINDS = ['created', 'updated', 'removed'] as const;

/** Paths of the tools and their links, each of which are one line if there are more. */
const SINGLE_MAX = 3;

/** The changes, a line for each file or folder. */
export function describeChanges(changes: ProjectChanges): string[] {
  return KINDS.flatMap((kind) => {
    const isTool = (path: string): boolean => isBelow(TOOLS_DIR, path) && path !== SHELL_LINK;
    const isLink = (path: string): boolean => isBelow(BIN_DIR, path);
    const tools = changes[kind].filter(isTool);
    const links = changes[kind].filter(isLink);
    const names = new Set(tools.map((path) => path.split('/')[2]));
    const lines = [
      ...together(tools, TOOLS_DIR, 'a tool for agents', `${names.size} tools for agents: what each takes and does`),
      ...together(
        links,
        BIN_DIR,
        'a command of agents',
        `${links.length} commands that agents type, such as safe_bash`,
      ),
      ...changes[kind]
        .filter((path) => !isTool(path) && !isLink(path))
        .map((path): Line => [path, PURPOSES[path] ?? `for ${clientOf(path)}`]),
    ];
    const width = Math.max(0, ...lines.map(([path]) => path.length));
    return lines.map(([path, what]) => `  ${kind}  ${path.padEnd(width)}  ${what}`);
  });
}

type Line = readonly [path: string, what: string];

function together(paths: readonly string[], folder: string, single: string, all: string): Line[] {
  if (paths.length > SINGLE_MAX) return [[`${folder}/`, all]];
  return paths.map((path) => [path, single]);
}
