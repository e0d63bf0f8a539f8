import type { ToolInfo__Output as ToolInfo } from '../../protocol/generated/management.ts';
import type { CliContext } from '../context.ts';
import { SHELL_LINK } from './client-settings.ts';
import { layoutFor } from './layout.ts';
import { readManifest } from './manifest.ts';
import { type PreparedChange, prepareInit } from './project.ts';

/**
 * Plans the project's files for these tools. `isSeenByGit`: as for `prepareInit`. `isShell`: contextd is the shell of the clients;
 * default: as before. Throws CONFLICT, with nothing changed, if
 * something is in the way.
 */
export async function prepareTools(
  context: CliContext,
  root: string,
  tools: readonly ToolInfo[],
  isSeenByGit = false,
  isShell?: boolean,
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
  const { proxyBinary, projectsDir } = context.paths;
  const layout = layoutFor(texts, root, proxyBinary, isShell ?? (await hasShell(context, root)));
  return prepareInit(root, layout, projectsDir, isSeenByGit);
}

/** Whether `ctxd init` made contextd the shell of the clients in the project. */
export async function hasShell({ paths }: Pick<CliContext, 'paths'>, root: string): Promise<boolean> {
  return (await readManifest(paths.projectsDir, root))?.links[SHELL_LINK] !== undefined;
}
