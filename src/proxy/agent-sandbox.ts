import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ContextdError, isErrno } from '../core/errors.ts';
import type { ToolLink } from './invocation.ts';

/** How the tool was called, and where the settings are that matter to it. */
interface CalledTool extends ToolLink {
  /** As the caller wrote it. */
  calledAs: string;
  home: string;
}

/**
 * Says how a tool gets out of Claude Code's sandbox. `excludedCommands` covers a command line only if every command in it
 * is on the list: a pipe, `;` or `cd` beside the call brings the whole line into the sandbox (seen in 2.1.329).
 */
export function withRemedy(error: ContextdError, called: CalledTool): ContextdError {
  const { tool, projectRoot } = called;
  const remedy = isExcluded(called)
    ? `Run ${tool} alone: the sandbox is left only by a command line that holds nothing but calls of contextd's tools, without a pipe, \`;\`, \`cd\` or here-document.`
    : `Run \`ctxd init\` in ${projectRoot}, or set sandbox.excludedCommands: ["${tool} *"] or sandbox.network.allowAllUnixSockets: true in the settings of the agent. Then run ${tool} alone, without a pipe, \`;\` or \`cd\`.`;
  return new ContextdError(error.code, error.message, { remedy, details: error.details });
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
