import type { ToolInfo__Output as ToolInfo } from '../../protocol/generated/management.ts';
import type { CliContext } from '../context.ts';
import { layoutFor } from './layout.ts';
import { type PreparedChange, prepareInit } from './project.ts';

/**
 * Plans the project's files for these tools. `isSeenByGit`: as for `prepareInit`. Throws CONFLICT, with nothing changed, if
 * something is in the way.
 */
export function prepareTools(
  context: CliContext,
  root: string,
  tools: readonly ToolInfo[],
  isSeenByGit = false,
): Promise<PreparedChange> {
  const texts = tools.map(({ name, origin, purpose, schema_json, schema_tokens, tool_md, tool_extended_md }) => ({
    name,
    isCore: origin === 'core',
    schemaTokens: schema_tokens,
    purpose,
    schemaJson: schema_json,
    toolMd: tool_md,
    toolExtendedMd: tool_extended_md,
  }));
  return prepareInit(root, layoutFor(texts, root, context.paths.proxyBinary), context.paths.projectsDir, isSeenByGit);
}
