import type { HealthCheck } from '../../call/management.ts';
import type { Catalog } from '../../catalog/catalog.ts';
import { REINSTALL } from '../../catalog/installed-source.ts';
import { shellWord } from '../../core/shell-quote.ts';
import type { Project, ProjectStore } from '../../stores/projects.ts';
import { coreTools } from '../tools/management.ts';

interface ToolHealthDeps {
  catalog: Catalog;
  projects: Pick<ProjectStore, 'list'>;
}

type Finding = Omit<HealthCheck, 'name'>;

/** The tools of this installation, and that the project, or for "" every project, accepted them as they are. */
export async function checkTools(projectRoot: string, { catalog, projects }: ToolHealthDeps): Promise<Finding> {
  const tools = coreTools(catalog);
  for (const tool of tools) await catalog.verify(tool);
  for (const project of await projectsAt(projectRoot, projects)) {
    const core = project.tools.filter(({ origin }) => origin === 'core');
    const other = core.filter(({ name }) => catalog.find(project, name) === undefined).map(({ name }) => name);
    if (other.length === 0) continue;
    const detail = `${other.join(', ')}: not what was accepted for ${project.root}`;
    return {
      status: 'fail',
      detail,
      remedy: `Accept the tools of this installation: ctxd init ${shellWord(project.root)}`,
    };
  }
  return ok(`${tools.map((tool) => tool.manifest.name).join(', ')}: hashes match`);
}

async function projectsAt(projectRoot: string, projects: Pick<ProjectStore, 'list'>): Promise<readonly Project[]> {
  return (await projects.list()).filter(({ root }) => projectRoot === '' || root === projectRoot);
}

/** The tools of other people that the project accepted; for "" those of every project. */
export async function checkInstalled(projectRoot: string, { catalog, projects }: ToolHealthDeps): Promise<Finding> {
  const here = await projectsAt(projectRoot, projects);
  const accepted = here.flatMap(({ tools }) => tools).filter(({ origin }) => origin === 'installed');
  const found = new Set<string>();
  for (const entry of accepted) {
    const tool = catalog.find({ tools: [entry] }, entry.name);
    if (tool === undefined) {
      const detail = `the files of ${entry.name} are missing or were changed`;
      return { status: 'fail', detail, remedy: REINSTALL };
    }
    await catalog.verify(tool);
    found.add(`${tool.manifest.name} ${tool.manifest.version}`);
  }
  const where = projectRoot === '' ? 'in all projects' : `in ${projectRoot}`;
  return ok(found.size === 0 ? `none ${where}` : `${[...found].join(', ')} ${where}: hashes match`);
}

function ok(detail: string): Finding {
  return { status: 'ok', detail, remedy: '' };
}
