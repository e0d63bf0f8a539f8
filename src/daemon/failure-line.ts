import { ContextdError } from '../core/errors.ts';

/** Why the daemon did not start, in one line with the remedy and never with a stack. */
export function failureLine(thrown: unknown): string {
  const error = ContextdError.from(thrown);
  const known = error.code !== 'INTERNAL_ERROR' || thrown instanceof ContextdError;
  const message = known ? error.message : `cannot start: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
  const remedy = known ? error.remedy : 'Run `contextd serve --foreground` to see more, or `ctxd doctor`.';
  return `contextd: ${oneLine(remedy === undefined ? message : `${message}. ${remedy}`)}`;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s*[\r\n]+\s*/g, ' ');
}
