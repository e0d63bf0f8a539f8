import type { ToolInfo__Output as ToolInfo } from '../../protocol/generated/management.ts';
import type { CliContext } from '../context.ts';
import { SHELL_LINK } from './client-settings.ts';
import { type OtherClient, recordedClients } from './clients/other-clients.ts';
import { layoutFor } from './layout.ts';
import { readManifest } from './manifest.ts';
import { type PreparedChange, prepareInit } from './project.ts';

export interface SetUp {
  /** As for `prepareInit`. */
  isSeenByGit: boolean;
  /** contextd is the shell of Claude Code and OpenCode. */
  isShell: boolean;
  clients: readonly OtherClient[];
}

/**
 * Plans the project's files for these tools. `setUp`: default as before. Throws CONFLICT, with nothing changed, if something is in
 * the way.
 */
export async function prepareTools(
  context: CliContext,
  root: string,
  tools: readonly ToolInfo[],
  setUp?: SetUp,
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
  const { isSeenByGit, isShell, clients } = setUp ?? {
    isSeenByGit: false,
    isShell: await hasShell(context, root),
    clients: await clientsOf(context, root),
  };
  return prepareInit(root, layoutFor(texts, root, proxyBinary, isShell, clients), projectsDir, isSeenByGit);
}

/** Whether `ctxd init` made contextd the shell of the clients in the project. */
export async function hasShell({ paths }: Pick<CliContext, 'paths'>, root: string): Promise<boolean> {
  return (await readManifest(paths.projectsDir, root))?.links[SHELL_LINK] !== undefined;
}

/** The other clients that `ctxd init` set up in the project. */
export async function clientsOf({ paths }: Pick<CliContext, 'paths'>, root: string): Promise<OtherClient[]> {
  return recordedClients((await readManifest(paths.projectsDir, root))?.merges ?? {});
}
