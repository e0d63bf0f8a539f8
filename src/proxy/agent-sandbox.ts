import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ContextdError, isErrno } from '../core/errors.ts';
import type { SandboxClient } from './environment.ts';
import type { ToolLink } from './invocation.ts';

/** How the tool was called, and where the settings are that matter to it. */
interface CalledTool extends ToolLink {
  /** As the caller wrote it. */
  calledAs: string;
  home: string;
  /** True if the program is the client's shell, so that every command is a call. */
  isShell: boolean;
}

/** Says how a tool gets out of the sandbox of the client that called it. */
export function withRemedy(error: ContextdError, called: CalledTool, client: SandboxClient | null): ContextdError {
  const remedy = remedyIn(client, called);
  return new ContextdError(error.code, error.message, { remedy, details: error.details });
}

/** An MCP server runs outside the sandbox of the client that started it, so its tools work in any. */
function remedyIn(client: SandboxClient | null, called: CalledTool): string {
  switch (client) {
    case 'codex':
      return `Call ${called.tool} of the MCP server contextd: it runs outside the sandbox of Codex. If Codex has no such server, ask the person to run \`ctxd init --client codex\` in ${called.projectRoot}, or to start Codex with -c sandbox_workspace_write.network_access=true.`;
    case 'gemini':
    case 'cursor':
      return `Call ${called.tool} of the MCP server contextd: it runs outside the sandbox. If there is no such server, ask the person to run \`ctxd init --client ${client}\` in ${called.projectRoot}.`;
    default:
      return claudeRemedy(called);
  }
}

/**
 * `excludedCommands` covers a command line only if every command in it is on the list: a pipe, `;` or `cd` beside the call
 * brings the whole line into the sandbox (seen in 2.1.329).
 */
function claudeRemedy(called: CalledTool): string {
  const { tool, projectRoot, isShell } = called;
  if (isShell)
    return 'Ask the person to set sandbox.network.allowAllUnixSockets: true in the settings of Claude Code, or to turn its sandbox off: contextd confines each command itself.';
  return isExcluded(called)
    ? `Run ${tool} alone: the sandbox is left only by a command line that holds nothing but calls of contextd's tools, without a pipe, \`;\`, \`cd\` or here-document.`
    : `Run \`ctxd init\` in ${projectRoot}, or set sandbox.excludedCommands: ["${tool} *"] or sandbox.network.allowAllUnixSockets: true in the settings of the agent. Then run ${tool} alone, without a pipe, \`;\` or \`cd\`.`;
}

/** The settings of Claude Code may hold comments, so they are searched and not parsed. */
function isExcluded({ calledAs, projectRoot, home }: CalledTool): boolean {
  const files = [projectRoot, home].flatMap((directory) =>
    ['settings.json', 'settings.local.json'].map((name) => join(directory, '.claude', name)),
  );
  return files.some((file) => {
    const [, list = ''] = /"excludedCommands"\s*:\s*\[([^\]]*)\]/.exec(readText(file)) ?? [];
    const patterns = [...list.matchAll(/"([^"*]+)\*?"/g)];
    return patterns.some(([, start = '']) => `${calledAs} `.startsWith(start));
  });
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (isErrno(error)) return '';
    throw error;
  }
}
