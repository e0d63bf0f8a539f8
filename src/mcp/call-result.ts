import type { CallToolResult } from '@modelcontextprotocol/server';
import { type ContextdError, withRemedy } from '../core/errors.ts';
import { ownLine } from '../core/own-line.ts';
import type { McpAnswer } from './tools.ts';

/**
 * Text only: of a result with structured content, Claude Code shows its model nothing else and OpenCode shows its model the
 * text only. A command that ended with a status other than 0 is no error of the call; the text says the status.
 */
export function callResult({ stdout, stderr, errorLine }: McpAnswer): CallToolResult {
  return textResult(joined(stdout, stderr), errorLine !== '');
}

/** For a call that no daemon answered. */
export function failureResult(error: ContextdError): CallToolResult {
  return textResult(ownLine(withRemedy(error)), true);
}

function textResult(text: string, isError: boolean): CallToolResult {
  return { content: [{ type: 'text', text }], ...(isError ? { isError } : {}) };
}

/** As on a terminal: what the command printed, then the lines of contextd. */
function joined(stdout: string, stderr: string): string {
  const between = stdout === '' || stderr === '' || stdout.endsWith('\n') ? '' : '\n';
  return `${stdout}${between}${stderr}`;
}
