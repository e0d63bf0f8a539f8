import { type CallToolResult, isCallToolResult } from '@modelcontextprotocol/server';
import type { Envelope } from '../core/envelope.ts';
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

/** The result of a server's tool as the server made it. Text, if it was too large and cut, or if contextd refused the call. */
export function foreignResult({ line, errorLine }: McpAnswer): CallToolResult {
  const { data, error, truncated, refs }: Envelope = JSON.parse(line);
  const { content, structured_content: structuredContent, remediation } = data;
  const isError = errorLine !== '';
  const result: unknown = {
    content,
    ...(structuredContent === undefined ? {} : { structuredContent }),
    ...(isError ? { isError } : {}),
  };
  if (!truncated && content !== undefined && isCallToolResult(result)) return result;
  const remedy = typeof remediation === 'string' ? { remedy: remediation } : {};
  const message = isError ? withRemedy({ message: error ?? errorLine, ...remedy }) : tooLarge(refs);
  return textResult(ownLine(message), true);
}

function tooLarge([ref]: readonly string[]): string {
  const rest = ref === undefined ? '' : `: tool_view {"ref":"${ref}"} shows parts of it`;
  return `the result is larger than an answer may be${rest}`;
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
