import { type DaemonClient, withClient } from '../client.ts';
import type { ParsedArgs } from '../command.ts';
import type { CliContext } from '../context.ts';
import { ensureRunning } from '../daemon/launch.ts';
import { projectAt } from '../project-root.ts';

/** Starts the daemon if it must, and uses it for the project of `--project` or the current one. */
export async function inProject<T>(
  context: CliContext,
  args: ParsedArgs,
  use: (client: DaemonClient, root: string) => Promise<T>,
): Promise<T> {
  const root = await projectAt(context, args.text('project'));
  await ensureRunning(context);
  return withClient(context.paths, (client) => use(client, root));
}
