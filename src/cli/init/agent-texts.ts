import { type ListedTool, listTools } from '../../catalog/tool-list.ts';
import { TIMEOUT_DEFAULT_MS } from '../../core/limits.ts';
import { shellNameOf } from '../../core/shell-names.ts';
import { VIEW_NAMES } from '../../tokens/views/read-view.ts';
import { withMark } from './content-hash.ts';

// What `ctxd init` writes for agents to read. Every way of quoting that is taught here was tried with Claude Code and
// OpenCode: docs/clients.md.

/** What `ctxd init` needs to know about a tool. */
export interface ToolText extends ListedTool {
  purpose: string;
  schemaJson: string;
  toolMd: string;
  toolExtendedMd: string;
}

const HELP = '--help';

/**
 * When to use a tool, and arguments that an agent can copy. Other tools are shown with `--help`. If there are others, the
 * rules have no room for those of these that are only named.
 */
const USES: Readonly<Record<string, { use: string; example: string }>> = {
  safe_bash: { use: 'commands', example: `'npm test'` },
  safe_read: { use: 'read', example: 'main.ts' },
  safe_write: { use: 'write', example: `--path a.md --content 'text'` },
  session_init: { use: 'first', example: '' },
  tool_browse: { use: 'find', example: `'what to do'` },
  jobs: { use: 'jobs', example: HELP },
  memory_search: { use: 'lessons', example: `'the task'` },
  memory_store: { use: 'learn', example: HELP },
};

/** Tools that a tool of `USES` leads to. */
const LED_TO: ReadonlySet<string> = new Set([
  'tool_view',
  'tool_hydrate',
  'tool_execute',
  'memory_get',
  'memory_feedback',
]);

/** `.claude/rules/contextd.md`: at most 200 cl100k tokens, because it is part of every conversation. */
export function rulesText(tools: readonly ToolText[]): string {
  const hasMore = tools.some(({ name }) => USES[name] === undefined && !LED_TO.has(name));
  const lines = Object.entries(USES)
    .filter(([name, { example }]) => tools.some((tool) => tool.name === name) && !(hasMore && example === HELP))
    .map(([name, { use }]) => `- ${use}: \`${callOf(name)}\``);
  return withMark(
    `${[
      '# contextd',
      '',
      'Use these, not your own tools: they mask secrets and keep output.',
      ...lines,
      '',
      'Quotes: `safe_bash --command "$(cat <<\'EOF\'`, lines, `EOF`, `)"`.',
      `Limits: allowed hosts, ${TIMEOUT_DEFAULT_MS / 1000} s (\`timeout_ms\`), writes only in the project. Files stay, processes end.`,
      'A program is missing or access denied: the answer says how a person allows it, never you.',
      '`safe_bash` not found: try `.claude/bin/safe_bash`; else ask for `ctxd init`, use your own tools meanwhile.',
    ].join('\n')}\n`,
  );
}

/**
 * `.claude/skills/contextd/SKILL.md`. A client loads only name and description until the skill is used. CE-1.1: what would
 * exceed the bound is found with tool_browse.
 */
export function skillText(tools: readonly ToolText[], isShell = false): string {
  const { listed, searched } = listTools(tools);
  const sections = [...listed.map(toolSection), ...(searched.length === 0 ? [] : [searchSection(searched.length)])];
  const description = isShell ? `"${SHELL_DESCRIPTION} Use for its memory, jobs and MCP tools."` : DESCRIPTION;
  return withMark(`${skillHead(description)}\n${sections.join('\n')}\n${SKILL_TAIL}`);
}

function searchSection(more: number): string {
  const [what, them] = more === 1 ? ['tool is', 'it'] : ['tools are', 'one'];
  return `## More

${more} more ${what} not listed here. Find ${them} by what it does, or look around with \`tool_browse --path /\`:

    ${callOf('tool_browse')}

\`tool_hydrate NAME\` shows its arguments.
`;
}

/** TOOL_EXTENDED.md in a project. Its mark covers all three files of the tool. */
export function extendedText(tool: ToolText): string {
  return withMark(withLineEnd(tool.toolExtendedMd), [`${tool.schemaJson}\n`, withLineEnd(tool.toolMd)]);
}

/** The text with exactly one line end. */
export function withLineEnd(text: string): string {
  return `${text.trimEnd()}\n`;
}

const DESCRIPTION =
  'Run commands, read, search and edit files with less context through safe_bash, safe_read and safe_write. Use before Bash or Read on long output or where secrets may appear.';
/** What a conversation must know where contextd is the shell: there is no rules file. */
export const SHELL_DESCRIPTION = 'Your shell is a sandbox: [SECRET_1] stands for a secret, only allowed hosts answer.';

const skillHead = (description: string): string => `---
name: contextd
description: ${description}
---

# contextd

Each tool is a program on PATH; its link is \`.claude/bin/<name>\`. Words are its main argument, flags the others, and one
JSON object in single quotes all of them. A call runs in the directory in which it is made.

## Quotes

- \`safe_bash 'npm test'\`, or \`safe_bash "…"\` with \`\\"\`, \`\\$\` and \`\\\`\` inside.
- Anything else goes into a quoted here-document, in which nothing is special:

      safe_bash --command "$(cat <<'EOF'
      grep -c "it's" notes.md | sort
      EOF
      )"

- A \`'\` inside single quotes is \`'\\''\`. Do not write \`\\u0027\`: Claude Code turns it into a \`'\` before the shell sees it.
- Pipes, \`>\` and \`;\` belong inside the quotes, where they are confined. Outside them your client asks a person.
  If your client has a sandbox of its own, run each call alone, without \`cd\`, \`|\` or a here-document beside it.
- Long arguments: \`@file\`, or \`-\` to read standard input.
`;

const SKILL_TAIL = `## The answer

Words are answered in text: the output, and only if something is worth saying a last line \`[contextd …]\`: the exit status,
what is left out, and how to go on. The program exits with the status of the command, so \`&&\` works. JSON is answered by
one line of JSON: \`success\`, \`data\`, \`error\`, \`refs\`, \`tokens_used\`, \`has_more\`, \`truncated\`, \`meta\`.

- The rest of an output: \`safe_bash --continuation 7\`, or \`{"continuation":"<meta.pagination.cursor>"}\`. Nothing is run again.
- \`[SECRET_1]\` stands for a secret; the same secret has the same number for the whole session.
- \`max_tokens\`, \`view\` (${VIEW_NAMES.join(', ')}), \`timeout_ms\` and \`dry_run\` are accepted by every tool.
- Commands run confined to the project. Files in the project stay; processes end with the call.
- They reach only hosts that a person allowed by name (\`ctxd network list\`). Any other host is refused at once.
- If a program is missing or access is denied, the answer names the command by which a person allows it. Ask for that;
  commands of ctxd that allow something are for persons alone.
`;

function toolSection(tool: ToolText): string {
  return `## ${tool.name}\n\n${tool.purpose}\n\n    ${callOf(tool.name)}\n\nArguments: \`.claude/tools/${tool.name}/schema.json\`. More: \`TOOL_EXTENDED.md\` beside it.\n`;
}

function callOf(name: string): string {
  return `${shellNameOf(name)} ${USES[name]?.example ?? HELP}`.trimEnd();
}
