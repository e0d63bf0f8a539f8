import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { ContextdError } from '../../core/errors.ts';
import { HOOK_PROGRAM, shellNamesOf } from '../../core/shell-names.ts';
import { extendedText, rulesText, skillText, type ToolText, withLineEnd } from './agent-texts.ts';
import {
  BIN_DIR,
  earlierEntries,
  localSettings,
  openCodeEntries,
  PLUGIN_FILE,
  RULES_FILE,
  SHELL_LINK,
  settings,
  toolEntries,
} from './client-settings.ts';
import { CLIENT_PLACES, clientFiles, clientMerges, OTHER_CLIENTS, type OtherClient } from './clients/other-clients.ts';
import type { Entry } from './json-edit.ts';
import type { Addition } from './merged-file.ts';
import { pluginText } from './opencode-plugin.ts';

/** What `ctxd init` puts into a project. Paths are relative to the root, with `/`. */
export interface Layout {
  /** Parents come first. */
  directories: readonly string[];
  files: ReadonlyMap<string, string>;
  /** Symbolic links and what they point at. */
  links: ReadonlyMap<string, string>;
  /** Files of the user to which entries are added. `absent`: tools that the project names and this machine does not have. */
  merges(absent: readonly string[]): ReadonlyMap<string, Addition>;
  /** The tools of this machine. */
  tools: readonly string[];
  /** What the links point at. */
  proxyBinary: string;
}

/** The tools of a project, by what this machine knows of them. */
export interface ToolNames {
  core: readonly string[];
  installed: readonly string[];
  /** Named by the files of the project only. */
  absent: readonly string[];
}

export const TOOLS_DIR = '.claude/tools';
/** No tool: the program that answers hooks of clients. */
const HOOK_LINK = `${BIN_DIR}/${HOOK_PROGRAM}`;
export const SKILL_FILE = '.claude/skills/contextd/SKILL.md';

/** Names that are safe in a path. The daemon sends only such names; this checks it. */
const TOOL_NAME = /^[a-z][a-z0-9_]{0,63}$/;

/**
 * The layout of the project at `root` for these tools, with links to the proxy. `isShell`: contextd is the shell of Claude Code and
 * OpenCode. `clients`: the other clients that are set up too.
 */
export function layoutFor(
  tools: readonly ToolText[],
  root: string,
  proxyBinary: string,
  isShell = false,
  clients: readonly OtherClient[] = [],
): Layout {
  for (const { name } of tools) {
    if (!TOOL_NAME.test(name))
      throw new ContextdError('SCHEMA_INVALID', `the daemon named a tool ${JSON.stringify(name)}`);
  }
  const names = tools.map((tool) => tool.name);
  const namesOf = (isCore: boolean) => tools.filter((tool) => tool.isCore === isCore).map((tool) => tool.name);
  return {
    tools: names,
    proxyBinary,
    // git cannot remove an empty directory of a sandbox, and would not stash.
    directories: [
      ...DIRECTORIES,
      ...(isShell ? [] : [dirname(RULES_FILE)]),
      ...names.map(toolDir),
      ...clients.flatMap((name) => CLIENT_PLACES[name].directories),
    ],
    files: new Map([
      ...tools.flatMap(toolFiles),
      // What differs from a shell of the client's own is said where it happens, in answers.
      ...(isShell ? [] : [[RULES_FILE, rulesText(tools)] as const]),
      [SKILL_FILE, skillText(tools, isShell)],
      [PLUGIN_FILE, pluginText()],
      ...clients.flatMap((name) => [...clientFiles(name)]),
    ]),
    links: new Map(
      [...names.flatMap(linkPaths), HOOK_LINK, ...(isShell ? [SHELL_LINK] : [])].map((path) => [path, proxyBinary]),
    ),
    merges: (absent) =>
      mergesFor({ core: namesOf(true), installed: namesOf(false), absent }, root, proxyBinary, isShell, clients),
  };
}

/** The three files of a tool. */
export function toolFilePaths(name: string): { schema: string; brief: string; extended: string } {
  const dir = toolDir(name);
  return { schema: `${dir}/schema.json`, brief: `${dir}/TOOL.md`, extended: `${dir}/TOOL_EXTENDED.md` };
}

/** The entries in the user's files. */
export function mergesFor(
  tools: ToolNames,
  root: string,
  proxyBinary: string,
  isShell: boolean,
  clients: readonly OtherClient[],
): ReadonlyMap<string, Addition> {
  const { core, installed, absent } = tools;
  const here = [...core, ...installed].sort();
  const obsolete = toolEntries(absent, root);
  const all = [...here, ...absent];
  const json = (template: string, entries: readonly Entry[]): Addition => ({
    kind: 'json',
    template,
    entries,
    earlier: earlierEntries(all, root),
    obsolete: obsolete.filter((old) => !entries.some((entry) => isDeepStrictEqual(entry, old))),
  });
  // The links of colleagues too, so that the block is the same on every machine of a team.
  const links = [...all.toSorted().flatMap(linkPaths), HOOK_LINK, SHELL_LINK];
  const ignored = links.map((path) => path.slice('.claude'.length));
  return new Map<string, Addition>([
    ['.claude/settings.json', json('{}\n', settings(core))],
    ['.claude/settings.local.json', json('{}\n', localSettings(here, root, proxyBinary, isShell))],
    [OPENCODE_FILE, json(OPENCODE_TEMPLATE, openCodeEntries(isShell))],
    ['.claude/.gitignore', { kind: 'block', lines: [...ignored, '/settings.local.json'] }],
    ...clients.flatMap((name) => [...clientMerges(name, root, proxyBinary)]),
  ]);
}

/** The client that reads a file of the layout, as a person knows it. */
export function clientOf(path: string): string {
  if (path === OPENCODE_FILE) return 'OpenCode';
  const other = OTHER_CLIENTS.find((name) =>
    [clientMerges(name, '', ''), clientFiles(name)].some((files) => files.has(path)),
  );
  return other === undefined ? 'Claude Code' : CLIENT_PLACES[other].title;
}

const OPENCODE_FILE = 'opencode.json';
const DIRECTORIES = ['.claude', TOOLS_DIR, BIN_DIR, '.claude/opencode', '.claude/skills', '.claude/skills/contextd'];

const OPENCODE_TEMPLATE = '{\n  "$schema": "https://opencode.ai/config.json"\n}\n';

/** The folder of a tool. */
export function toolDir(name: string): string {
  return `${TOOLS_DIR}/${name}`;
}

/** The links of a tool. */
export function linkPaths(name: string): string[] {
  return [`${toolDir(name)}/${name}`, ...shellNamesOf(name).map((one) => `${BIN_DIR}/${one}`)];
}

function toolFiles(tool: ToolText): [string, string][] {
  const { schema, brief, extended } = toolFilePaths(tool.name);
  return [
    [schema, `${tool.schemaJson.trimEnd()}\n`],
    [brief, withLineEnd(tool.toolMd)],
    [extended, extendedText(tool)],
  ];
}
