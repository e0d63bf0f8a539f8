import { ContextdError } from '../../core/errors.ts';
import type { Wish } from './merged-file.ts';
import { ended, extendedText, rulesText, skillText, type ToolText } from './texts.ts';

/** What a project holds once `ctxd init` has run. Paths are relative to the root, with `/`. */
export interface Layout {
  /** Parents come first. */
  directories: readonly string[];
  files: ReadonlyMap<string, string>;
  /** Symbolic links and what they point at. */
  links: ReadonlyMap<string, string>;
  /** The user's own files, to which entries are added. */
  merges: ReadonlyMap<string, Wish>;
}

export const RULES_FILE = '.claude/rules/contextd.md';
export const TOOLS_DIR = '.claude/tools';
const SKILL_FILE = '.claude/skills/contextd/SKILL.md';

/** A name that is safe in a path; the daemon's own names are, this is the check at the edge. */
const TOOL_NAME = /^[a-z][a-z0-9_]{0,63}$/;

/** The layout for these tools, whose links lead to the proxy. */
export function layoutFor(tools: readonly ToolText[], proxyBinary: string): Layout {
  for (const { name } of tools) {
    if (!TOOL_NAME.test(name))
      throw new ContextdError('SCHEMA_INVALID', `the daemon named a tool ${JSON.stringify(name)}`);
  }
  const names = tools.map((tool) => tool.name);
  return {
    directories: [...DIRECTORIES, ...names.map(toolDir)],
    files: new Map([...tools.flatMap(toolFiles), [RULES_FILE, rulesText(tools)], [SKILL_FILE, skillText(tools)]]),
    links: new Map(names.flatMap((name) => linkPaths(name).map((path) => [path, proxyBinary] as const))),
    merges: mergesFor(names),
  };
}

/** The directory of a tool and the three files in it, in the order their mark covers them. */
export function toolFilePaths(name: string): { schema: string; brief: string; extended: string } {
  const dir = toolDir(name);
  return { schema: `${dir}/schema.json`, brief: `${dir}/TOOL.md`, extended: `${dir}/TOOL_EXTENDED.md` };
}

/** The entries in the user's files, as measured with both clients. */
export function mergesFor(names: readonly string[]): ReadonlyMap<string, Wish> {
  const ignored = names.flatMap((name) => linkPaths(name).map((path) => path.slice('.claude'.length)));
  return new Map<string, Wish>([
    ['.claude/settings.json', { kind: 'json', template: '{}\n', entries: SETTINGS_ENTRIES }],
    ['opencode.json', { kind: 'json', template: OPENCODE_TEMPLATE, entries: OPENCODE_ENTRIES }],
    ['.claude/.gitignore', { kind: 'block', lines: ignored }],
  ]);
}

const DIRECTORIES = ['.claude', TOOLS_DIR, '.claude/bin', '.claude/rules', '.claude/skills', '.claude/skills/contextd'];

/**
 * Puts `.claude/bin` on the PATH of Claude Code's shell, which does not keep to the project root. The line written is
 * read by a shell later: the directory goes in single quotes, with its own escaped, and PATH is left for then.
 */
export const PATH_HOOK = [
  `printf "export PATH='%s/.claude/bin':\\"\\$PATH\\"\\n"`,
  `"$(printf %s "$CLAUDE_PROJECT_DIR" | sed "s/'/'\\\\\\\\''/g")"`,
  `>> "\${CLAUDE_ENV_FILE:-/dev/null}"`,
].join(' ');

/** `Bash(.claude/tools/*:*)` would never match: the trap that `ctxd doctor` looks for. */
const SETTINGS_ENTRIES = [
  { path: ['permissions', 'allow'], value: 'Bash(.claude/tools/*)' },
  { path: ['sandbox', 'excludedCommands'], value: '.claude/tools/*' },
  { path: ['hooks', 'SessionStart'], value: { hooks: [{ type: 'command', command: PATH_HOOK }] } },
];

const OPENCODE_TEMPLATE = '{\n  "$schema": "https://opencode.ai/config.json"\n}\n';
const OPENCODE_ENTRIES = [{ path: ['instructions'], value: RULES_FILE }];

function toolDir(name: string): string {
  return `${TOOLS_DIR}/${name}`;
}

function linkPaths(name: string): string[] {
  return [`${toolDir(name)}/${name}`, `.claude/bin/${name}`];
}

function toolFiles(tool: ToolText): [string, string][] {
  const { schema, brief, extended } = toolFilePaths(tool.name);
  return [
    [schema, `${tool.schemaJson.trimEnd()}\n`],
    [brief, ended(tool.toolMd)],
    [extended, extendedText(tool)],
  ];
}
