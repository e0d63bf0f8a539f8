import { ContextdError } from '../../core/errors.ts';
import type { ToolCatalogue } from './tool-catalogues.ts';

/** Why the tool with this id is not here, if its definition changed, is new or is gone: to search for it again is of no use. */
export function waitingFault(asked: string, { waiting }: Pick<ToolCatalogue, 'waiting'>): ContextdError | undefined {
  const server = waiting.get(asked);
  if (server === undefined) return undefined;
  const what = `the definition of ${JSON.stringify(asked)} at the MCP server ${server} is not what a person accepted`;
  return new ContextdError('HYDRATE_FAILED', `${what}; it waits for them`, {
    remedy: `Ask the person to look at what changed: \`ctxd upstream approve ${server}\`.`,
  });
}
