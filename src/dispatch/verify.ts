import { statSync } from 'node:fs';
import { commonOptionsOf } from '../catalog/arguments.ts';
import type { Catalog, CatalogTool } from '../catalog/catalog.ts';
import type { Config } from '../config/schema.ts';
import { ContextdError } from '../core/errors.ts';
import type { LiveSessions } from '../stores/live-sessions.ts';
import type { Project, ProjectStore } from '../stores/projects.ts';
import { type CallBranches, onBranch } from './branch.ts';
import type { Call, VerifiedCall } from './call.ts';
import { askedBudget, budgetLimits, takeCommonOptions, timeoutLimits } from './options.ts';
import { readInput, type WordsOf } from './read-input.ts';

export interface VerifyDeps {
  catalog: Catalog;
  projects: ProjectStore;
  liveSessions: Pick<LiveSessions, 'touch'>;
  branches: Pick<CallBranches, 'enter'>;
  limits: Pick<Config, 'budget' | 'timeout'>;
}

/**
 * Step 2: checks that a person registered the project, that the tool is accepted for it, that its files have the
 * accepted hash, that the arguments fit its schema and that the branch, if it names one, may work. No file of the
 * workspace is consulted: a repository cannot vouch for itself.
 */
export async function verify(call: Call, deps: VerifyDeps): Promise<VerifiedCall> {
  const project = await registeredProject(call.request.projectRoot, deps.projects);
  deps.liveSessions.touch(call.session);
  const tool = acceptedTool(call.request.tool, project, deps.catalog);
  await deps.catalog.verify(tool);
  const { options, rest } = takeCommonOptions(readInput(call.request, wordsOf(tool)), {
    budget: budgetLimits(deps.limits.budget, tool.manifest, call.request.principal.door),
    timeout: timeoutLimits(deps.limits.timeout, tool.manifest, tool.program.profile.limits),
    names: commonOptionsOf(tool.arguments.names),
  });
  if (options.continuation === null) tool.arguments.check(rest);
  return onBranch({ ...call, tool, options, input: rest }, deps.branches);
}

function wordsOf({ manifest, arguments: { primary } }: CatalogTool): WordsOf {
  return { name: manifest.name, primary };
}

/** The budget for refusing a call, which may be malformed. */
export function refusalBudget({ request }: Call, { catalog, limits }: VerifyDeps): number {
  const [tool] = catalog.versions(request.tool);
  const kind = tool?.manifest ?? { name: '', budget: 'answer' as const };
  return askedBudget(jsonOf(request.inputJson), budgetLimits(limits.budget, kind, request.principal.door));
}

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return null;
  }
}

async function registeredProject(root: string, projects: ProjectStore): Promise<Project> {
  const project = await projects.find(root);
  if (project === null) {
    throw new ContextdError('PERMISSION_DENIED', `${root} is not a registered project`, {
      remedy: 'Run `ctxd init` in the project root.',
      details: { project_root: root },
    });
  }
  if (statSync(root, { throwIfNoEntry: false })?.isDirectory()) return project;
  throw new ContextdError('PATH_NOT_FOUND', `the project root ${root} is no longer a directory`, {
    remedy: 'Run `ctxd init` in the new location of the project.',
  });
}

function acceptedTool(name: string, project: Project, catalog: Catalog): CatalogTool {
  const tool = catalog.find(project, name);
  if (tool !== undefined) return tool;
  const [known] = catalog.versions(name);
  const accepted = project.tools.find((one) => one.name === (known?.manifest.name ?? name));
  if (accepted !== undefined) {
    throw new ContextdError('INTEGRITY_FAILED', `${name} is not the tool that was accepted for ${project.root}`, {
      remedy:
        accepted.origin === 'core' ? ACCEPT_CORE : 'A person runs `ctxd tool install` there, which fetches it again.',
      details: { accepted_sha256: accepted.bundleSha256, found_sha256: known?.sha256 ?? '' },
    });
  }
  if (known !== undefined) {
    throw new ContextdError('PERMISSION_DENIED', `${name} is not accepted for the project ${project.root}`, {
      remedy: known.origin === 'core' ? ACCEPT_CORE : 'A person installs it there with `ctxd tool install SOURCE`.',
    });
  }
  throw new ContextdError('TOOL_NOT_FOUND', `there is no tool named ${JSON.stringify(name.slice(0, 100))}`, {
    remedy: `Tools: ${project.tools.map((one) => one.name).join(', ')}.`,
  });
}

const ACCEPT_CORE = 'Run `ctxd init` in the project root to accept the tools of this installation.';
