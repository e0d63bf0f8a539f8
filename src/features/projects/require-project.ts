import type { Management, RpcMethod, RpcMethods, RpcName } from '../../protocol/management-contract.ts';
import { requiredRoot, rpcMethods } from '../../protocol/management-rpcs.ts';
import { notRegistered, type Project, type ProjectStore } from '../../stores/projects.ts';

type Projects = Pick<ProjectStore, 'find'> & Partial<Pick<ProjectStore, 'notRegistered'>>;

/** The same service, whose rpcs throw NOT_FOUND for an unregistered project where MANAGEMENT_RPCS asks for it. */
export function forRegisteredProjects(management: Management, projects: Projects): Management {
  const methods: RpcMethods = management;
  return { ...management, ...rpcMethods((name) => forRegistered(name, methods[name], projects)) };
}

export function forRegistered<Name extends RpcName>(
  name: Name,
  method: RpcMethod<Name>,
  projects: Projects,
): RpcMethod<Name> {
  return async (request) => {
    const root = requiredRoot(name, request);
    if (root !== null) await requireProject(root, projects);
    return method(request);
  };
}

/** Throws NOT_FOUND if the project is not registered. */
export async function requireProject(root: string, projects: Projects): Promise<Project> {
  const project = await projects.find(root);
  if (project !== null) return project;
  throw projects.notRegistered?.('NOT_FOUND', root) ?? notRegistered('NOT_FOUND', root, null);
}
