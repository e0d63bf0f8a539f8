import { ContextdError } from '../../core/errors.ts';
import { VIEW_NAMES } from '../../tokens/views/read-view.ts';
import { withMark } from './content-hash.ts';
import type { Addition } from './merged-file.ts';

/** What `ctxd init` puts into a project. Paths are relative to the root, with `/`. */
export interface Layout {
  /** Parents come first. */
  directories: readonly string[];
  files: ReadonlyMap<string, string>;
  /** Symbolic links and what they point at. */
  links: ReadonlyMap<string, string>;
  /** Files of the user to which entries are added. */
  merges: ReadonlyMap<string, Addition>;
}

export const RULES_FILE = '.claude/rules/contextd.md';
export const TOOLS_DIR = '.claude/tools';
const SKILL_FILE = '.claude/skills/contextd/SKILL.md';

/** Names that are safe in a path. The daemon sends only such names; this checks it. */
const TOOL_NAME = /^[a-z][a-z0-9_]{0,63}$/;

/** The layout for these tools, with links to the proxy. */
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

/** The three files of a tool. */
export function toolFilePaths(name: string): { schema: string; brief: string; extended: string } {
  const dir = toolDir(name);
  return { schema: `${dir}/schema.json`, brief: `${dir}/TOOL.md`, extended: `${dir}/TOOL_EXTENDED.md` };
}

/** The entries in the user's files. They were tested with both clients. */
export function mergesFor(names: readonly string[]): ReadonlyMap<string, Addition> {
  const ignored = names.flatMap((name) => linkPaths(name).map((path) => path.slice('.claude'.length)));
  return new Map<string, Addition>([
    ['.claude/settings.json', { kind: 'json', template: '{}\n', entries: SETTINGS_ENTRIES }],
    ['opencode.json', { kind: 'json', template: OPENCODE_TEMPLATE, entries: OPENCODE_ENTRIES }],
    ['.claude/.gitignore', { kind: 'block', lines: ignored }],
  ]);
}

const DIRECTORIES = ['.claude', TOOLS_DIR, '.claude/bin', '.claude/rules', '.claude/skills', '.claude/skills/contextd'];

/**
 * Adds `.claude/bin` to the PATH of Claude Code's shell, which may leave the project root. A shell reads the written
 * line later, so the directory is in single quotes, its own quotes are escaped, and $PATH is not expanded yet.
 */
export const PATH_HOOK = [
  `printf "export PATH='%s/.claude/bin':\\"\\$PATH\\"\\n"`,
  `"$(printf %s "$CLAUDE_PROJECT_DIR" | sed "s/'/'\\\\\\\\''/g")"`,
  `>> "\${CLAUDE_ENV_FILE:-/dev/null}"`,
].join(' ');

/** `Bash(.claude/tools/*:*)` would never match; `ctxd doctor` looks for it. */
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
    [brief, withLineEnd(tool.toolMd)],
    [extended, extendedText(tool)],
  ];
}

/** What `ctxd init` needs to know about a tool. */
export interface ToolText {
  name: string;
  purpose: string;
  schemaJson: string;
  toolMd: string;
  toolExtendedMd: string;
}

/** Arguments that an agent can copy. Other tools are shown with `--help`. */
const EXAMPLES: Readonly<Record<string, string>> = {
  safe_bash: '{"command":"npm test"}',
  safe_read: '{"path":"src/main.ts"}',
  safe_write: '{"path":"notes.md","content":"text"}',
};

/** The rules file names at most this many tools, because it is part of every conversation. */
const RULE_TOOLS_MAX = 4;

/** `.claude/rules/contextd.md`: at most 200 cl100k tokens, because it is part of every conversation. */
export function rulesText(tools: readonly ToolText[]): string {
  const shown = tools.slice(0, RULE_TOOLS_MAX).map((tool) => `- \`${callOf(tool.name)}\``);
  const more = tools.length > RULE_TOOLS_MAX ? ['- More: `ls .claude/tools`'] : [];
  return withMark(
    `${[
      '# contextd',
      'Run commands, read and write files with these instead of your own tools: secrets are masked, output is stored',
      'whole and shown in at most 2,000 tokens. Run from the project root:',
      ...shown,
      ...more,
      '',
      'Write `\'` as `\\u0027`. For the rest of an answer pass its `meta.pagination.cursor`: `\'{"continuation":"…"}\'`. `--help` explains a tool.',
    ].join('\n')}\n`,
  );
}

/** `.claude/skills/contextd/SKILL.md`. A client loads only name and description until the skill is used. */
export function skillText(tools: readonly ToolText[]): string {
  return withMark(`${SKILL_HEAD}\n${tools.map(toolSection).join('\n')}\n${SKILL_TAIL}`);
}

/** TOOL_EXTENDED.md in a project. Its mark covers all three files of the tool. */
export function extendedText(tool: ToolText): string {
  return withMark(withLineEnd(tool.toolExtendedMd), [`${tool.schemaJson}\n`, withLineEnd(tool.toolMd)]);
}

/** The text with exactly one line end. */
function withLineEnd(text: string): string {
  return `${text.trimEnd()}\n`;
}

const SKILL_HEAD = `---
name: contextd
description: Run commands, read, search and edit files with less context through .claude/tools. Use before Bash or Read on long output or where secrets may appear.
---

# contextd

Each tool is a program in \`.claude/tools/<name>/\`. Run it from the project root with its arguments as one JSON object
in single quotes. Inside them write \`'\` as \`\\u0027\`. Long arguments: \`@file\`, or \`-\` to read standard input.
`;

const SKILL_TAIL = `## The answer

One line of JSON: \`success\`, \`data\`, \`error\`, \`refs\`, \`tokens_used\`, \`has_more\`, \`truncated\`, \`meta\`.

- \`truncated\` with \`meta.pagination.cursor\`: call the same tool with \`{"continuation":"<cursor>"}\` for the next part. Nothing is run again.
- \`[SECRET_1]\` stands for a secret; the same secret has the same number for the whole session.
- \`max_tokens\`, \`view\` (${VIEW_NAMES.join(', ')}), \`timeout_ms\` and \`dry_run\` are accepted by every tool.
- A command's own exit code is \`data.exit_code\`. On failure \`error\` says what failed and what to do.
- Commands run confined to the project, without network; nothing they start stays alive.
`;

function toolSection(tool: ToolText): string {
  return `## ${tool.name}\n\n${tool.purpose}\n\n    ${callOf(tool.name)}\n\nArguments: \`.claude/tools/${tool.name}/schema.json\`. More: \`TOOL_EXTENDED.md\` beside it.\n`;
}

function callOf(name: string): string {
  const example = EXAMPLES[name];
  return `.claude/tools/${name}/${name}${example === undefined ? ' --help' : ` '${example}'`}`;
}
