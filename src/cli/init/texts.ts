import { VIEW_NAMES } from '../../tokens/views/read-view.ts';
import { withMark } from './mark.ts';

/** What `ctxd init` needs to know of a tool. */
export interface ToolText {
  name: string;
  purpose: string;
  schemaJson: string;
  toolMd: string;
  toolExtendedMd: string;
}

/** Arguments an agent can copy; a tool without a line here is shown with its name alone. */
const EXAMPLES: Readonly<Record<string, string>> = {
  safe_bash: '{"command":"npm test"}',
  safe_read: '{"path":"src/main.ts"}',
  safe_write: '{"path":"notes.md","content":"text"}',
};

/** The rules file is read into every conversation: it names at most this many tools. */
const RULE_TOOLS_MAX = 4;

/** `.claude/rules/contextd.md`: at most 200 cl100k tokens, because every conversation pays for it. */
export function rulesText(tools: readonly ToolText[]): string {
  const shown = tools.slice(0, RULE_TOOLS_MAX).map((tool) => `- \`${callOf(tool.name)}\``);
  const more = tools.length > RULE_TOOLS_MAX ? ['- More: `ls .claude/tools`'] : [];
  return withMark(
    `${[
      '# contextd',
      'Run commands, read and write files with these instead of your own tools: secrets come masked, output is kept',
      'whole and shown in at most 2,000 tokens. Run from the project root:',
      ...shown,
      ...more,
      '',
      'Write `\'` as `\\u0027`. For the rest of an answer pass its `meta.pagination.cursor`: `\'{"continuation":"…"}\'`. `--help` explains a tool.',
    ].join('\n')}\n`,
  );
}

/** `.claude/skills/contextd/SKILL.md`: only name and description are loaded before it is used. */
export function skillText(tools: readonly ToolText[]): string {
  return withMark(`${SKILL_HEAD}\n${tools.map(toolSection).join('\n')}\n${SKILL_TAIL}`);
}

/** TOOL_EXTENDED.md as it stands in a project: its mark covers the whole directory of the tool. */
export function extendedText(tool: ToolText): string {
  return withMark(ended(tool.toolExtendedMd), [`${tool.schemaJson}\n`, ended(tool.toolMd)]);
}

/** Text that ends with exactly one line end. */
export function ended(text: string): string {
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
