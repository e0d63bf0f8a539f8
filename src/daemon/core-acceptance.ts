import type { Catalog } from '../catalog/catalog.ts';
import type { Logger } from '../core/log.ts';
import type { AcceptedTool, ProjectStore } from '../stores/projects.ts';
import { acceptance } from './management.ts';

/**
 * Core tools come with the installation that a person put here, and follow it: after an upgrade their new hashes are
 * accepted where the old ones were. A tool that was not accepted, or asks for more grants than before, is left as it
 * is until `ctxd init` is run again.
 */
export async function followInstallation(catalog: Catalog, projects: ProjectStore, logger: Logger): Promise<void> {
  for (const project of await projects.list()) {
    const tools = project.tools.map((tool) => upgraded(tool, catalog));
    if (await projects.register(project.root, tools))
      logger.info('project.core_tools_upgraded', { project: project.root });
  }
}

function upgraded(accepted: AcceptedTool, catalog: Catalog): AcceptedTool {
  const tool = catalog.versions(accepted.name).find(({ origin }) => origin === 'core');
  if (accepted.origin !== 'core' || tool === undefined) return accepted;
  const asksForMore = tool.manifest.grants.some((grant) => !accepted.grants.includes(grant));
  return asksForMore ? accepted : acceptance(tool);
}
