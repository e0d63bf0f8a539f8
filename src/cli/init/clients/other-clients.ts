import { existsSync, statSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { ContextdError, isErrno } from '../../../core/errors.ts';
import { HOOK_PROGRAM } from '../../../core/shell-names.ts';
import { shellWord } from '../../../core/shell-quote.ts';
import { BIN_DIR } from '../client-settings.ts';
import { withMark } from '../content-hash.ts';
import type { Entry } from '../json-edit.ts';
import type { Addition } from '../merged-file.ts';
import { tableLines } from '../toml-block.ts';

// What `ctxd init` adds to the settings of clients whose shell contextd cannot be. docs/clients.md has what was tried with the real
// programs, and test/clients/ tries it again.

/** The names by which `ctxd init --client` takes them. */
export const OTHER_CLIENTS = ['codex', 'gemini', 'cursor', 'vscode', 'zed'] as const;
export type OtherClient = (typeof OTHER_CLIENTS)[number];

interface ClientPlace {
  title: string;
  /** What the client leaves in a project. */
  inProject: readonly string[];
  /** What it leaves in the person's home. */
  inHome: readonly string[];
  /** Looked for on PATH. */
  programs: readonly string[];
  /** The directories of the files, parents first. */
  directories: readonly string[];
  /** What a person still has to do in the client. */
  nextStep: string;
  /** What holds once it is set up. */
  covers: string;
}

/** An editor opens many projects without any agent, so only its directory in the project counts, not that it is installed. */
export const CLIENT_PLACES: Readonly<Record<OtherClient, ClientPlace>> = {
  codex: {
    title: 'Codex',
    inProject: ['.codex'],
    inHome: ['.codex'],
    programs: ['codex'],
    directories: ['.codex'],
    nextStep: 'in Codex, trust the project and then the hooks (/hooks): until then they do not run',
    covers: 'hooks mask what its tools show and judge its edits; the MCP server contextd has the tools',
  },
  gemini: {
    title: 'Gemini CLI',
    inProject: ['.gemini', 'GEMINI.md'],
    inHome: ['.gemini'],
    programs: ['gemini'],
    directories: ['.gemini'],
    nextStep: 'in Gemini CLI, trust the folder: until then its hooks do not run',
    covers: 'hooks mask what its tools show and judge its edits; the MCP server contextd has the tools',
  },
  cursor: {
    title: 'Cursor',
    inProject: ['.cursor', '.cursorrules'],
    inHome: [],
    programs: ['cursor-agent'],
    directories: ['.cursor', '.cursor/rules'],
    nextStep: 'in Cursor, turn the MCP server contextd on in its settings',
    covers: 'the MCP server contextd has the tools, and a rule asks for them; its own tools are not masked',
  },
  vscode: {
    title: 'VS Code',
    inProject: ['.vscode'],
    inHome: [],
    programs: [],
    directories: ['.vscode', '.github', '.github/instructions'],
    nextStep: 'in VS Code, start the MCP server contextd and trust it',
    covers: 'the MCP server contextd has the tools, and instructions ask for them; its own tools are not masked',
  },
  zed: {
    title: 'Zed',
    inProject: ['.zed'],
    inHome: [],
    programs: [],
    directories: ['.zed'],
    nextStep: 'in Zed, trust the project: until then its MCP servers do not start',
    covers: 'the MCP server contextd has the tools; its own tools are not masked',
  },
};

/** The clients that left something in the project or in the person's home, or that are on PATH. */
export function findOtherClients(root: string, { home, path }: { home: string; path: string }): OtherClient[] {
  return OTHER_CLIENTS.filter((name) => {
    const { inProject, inHome, programs } = CLIENT_PLACES[name];
    return (
      inProject.some((one) => existsSync(join(root, one))) ||
      inHome.some((one) => existsSync(join(home, one))) ||
      programs.some((program) => path.split(delimiter).some((directory) => isFile(join(directory, program))))
    );
  });
}

/** The clients that a person names, with a comma between them. Throws ARGS_INVALID for any other name. */
export function readClientNames(text: string): OtherClient[] {
  return text.split(',').map((word) => {
    const name = OTHER_CLIENTS.find((one) => one === word.trim());
    if (name !== undefined) return name;
    throw new ContextdError('ARGS_INVALID', `--client ${JSON.stringify(word)} is no client that can be set up`, {
      remedy: `Use ${OTHER_CLIENTS.join(', ')}. Claude Code and OpenCode are always set up.`,
    });
  });
}

/** The clients whose files an earlier init changed. */
export function recordedClients(merges: Readonly<Record<string, unknown>>): OtherClient[] {
  return OTHER_CLIENTS.filter((name) =>
    [...clientMerges(name, '', '').keys()].some((path) => merges[path] !== undefined),
  );
}

/** Files of contextd's own. */
export function clientFiles(name: OtherClient): ReadonlyMap<string, string> {
  if (name === 'cursor') return new Map([['.cursor/rules/contextd.mdc', instructions('alwaysApply: true')]]);
  if (name === 'vscode')
    return new Map([['.github/instructions/contextd.instructions.md', instructions("applyTo: '**'")]]);
  return new Map();
}

/** What is added to files of the person. */
export function clientMerges(name: OtherClient, root: string, proxyBinary: string): ReadonlyMap<string, Addition> {
  const command = join(dirname(proxyBinary), 'ctxd');
  const args = ['mcp', 'serve', '--project', root];
  const server = { command, args };
  switch (name) {
    case 'codex':
      return new Map<string, Addition>([
        ['.codex/hooks.json', json(codexHooks(root))],
        ['.codex/config.toml', table(['mcp_servers', 'contextd'], { ...server, env_vars: CODEX_PASSES })],
      ]);
    case 'gemini':
      return new Map([['.gemini/settings.json', json([...geminiHooks(root), member('mcpServers', server)])]]);
    case 'cursor':
      return new Map([['.cursor/mcp.json', json([member('mcpServers', server)])]]);
    case 'vscode':
      return new Map([['.vscode/mcp.json', json([member('servers', { type: 'stdio', ...server })])]]);
    case 'zed':
      return new Map([['.zed/settings.json', json([member('context_servers', { source: 'custom', ...server })])]]);
  }
}

/** Codex gives an MCP server no other variables than a few and these. They lead to contextd's own directories. */
const CODEX_PASSES = [
  ...['CONTEXTD_HOME', 'CONTEXTD_SESSION_ID'],
  ...['XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'XDG_STATE_HOME', 'XDG_RUNTIME_DIR'],
];

/** More than contextd-hook takes at the most. */
const HOOK_LIMIT_S = 60;

/** PreToolUse only for tools whose calls are judged. Its other tools read nothing that a hook could judge. */
function codexHooks(root: string): Entry[] {
  const hooks = [{ type: 'command', command: hookCommand(root, 'codex'), timeout: HOOK_LIMIT_S }];
  return [
    { path: ['hooks', 'PreToolUse'], value: { matcher: 'apply_patch', hooks } },
    { path: ['hooks', 'PostToolUse'], value: { hooks } },
  ];
}

const GEMINI_JUDGED = 'write_file|replace|read_file|read_many_files|list_directory|glob|grep_search';

function geminiHooks(root: string): Entry[] {
  const command = hookCommand(root, 'gemini');
  const hooks = [{ name: 'contextd', type: 'command', command, timeout: HOOK_LIMIT_S * 1000 }];
  return [
    { path: ['hooks', 'BeforeTool'], value: { matcher: GEMINI_JUDGED, hooks } },
    { path: ['hooks', 'AfterTool'], value: { matcher: '.*', hooks } },
    { path: ['hooks', 'BeforeAgent'], value: { hooks } },
  ];
}

/** A hook that does not start would show the original, so the shell refuses in its place. */
function hookCommand(root: string, client: 'codex' | 'gemini'): string {
  const reason = `contextd cannot mask the output of tools: ${BIN_DIR}/${HOOK_PROGRAM} does not start. Ask the person to run \`ctxd doctor\`.`;
  const refusal = JSON.stringify({ decision: client === 'codex' ? 'block' : 'deny', reason });
  return `${shellWord(join(root, BIN_DIR, HOOK_PROGRAM))} ${client} || printf '%s' ${shellWord(refusal)}`;
}

function member(key: string, value: Entry['value']): Entry {
  return { path: [key], key: 'contextd', value };
}

function json(entries: readonly Entry[]): Addition {
  return { kind: 'json', template: '{}\n', entries, earlier: [], obsolete: [] };
}

function table(path: readonly string[], value: Readonly<Record<string, string | readonly string[]>>): Addition {
  return { kind: 'block', lines: tableLines(path, value), table: path };
}

/** Where a client reads instructions from a file of their own. */
function instructions(head: string): string {
  return withMark(
    [
      '---',
      'description: contextd',
      head,
      '---',
      '',
      'Run commands and read, search and edit files with the MCP tools of contextd (safe_bash, safe_read, safe_write), not with the',
      'terminal or your own tools: they mask secrets, run in a sandbox and keep the whole output. If they are missing, use your own.',
      '',
    ].join('\n'),
  );
}

/** False also if it cannot be seen: a shell passes over such a directory of PATH too. */
function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch (error) {
    if (isErrno(error)) return false;
    throw error;
  }
}
