import { statSync } from 'node:fs';
import type { CallRequest } from '../call/request.ts';
import { commonOptionsOf } from '../catalog/arguments.ts';
import type { Catalog, CatalogTool } from '../catalog/catalog.ts';
import type { ToolAccess } from '../catalog/tool-access.ts';
import { ContextdError } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import { isCalledByName } from '../core/surface-calls.ts';
import type { LiveSessions } from '../stores/live-sessions.ts';
import type { Project, ProjectStore } from '../stores/projects.ts';
import { type CallBranches, onBranch } from './branch.ts';
import type { Call, VerifiedCall } from './call.ts';
import { type Executables, executedCall } from './execute.ts';
import { askedBudget, budgetLimits, type CallLimits, limitsFor, takeCommonOptions } from './options.ts';
import { readInput, type WordsOf } from './read-input.ts';

export interface VerifyDeps {
  catalog: Catalog;
  projects: ProjectStore;
  liveSessions: Pick<LiveSessions, 'touch'>;
  branches: Pick<CallBranches, 'enter'>;
  executables: Executables;
  access: Pick<ToolAccess, 'mayUse' | 'mayUsePrimitive'>;
  limits: CallLimits;
}

/**
 * Step 2: checks that a person registered the project, that the tool is accepted for it, that its files have the
 * accepted hash, that the arguments fit its schema and that the branch, if it names one, may work. No file of the
 * workspace is consulted: a repository cannot vouch for itself.
 */
export async function verify(call: Call, deps: VerifyDeps): Promise<VerifiedCall> {
  const project = await registeredProject(call.request.projectRoot, deps.projects);
  deps.liveSessions.touch(call.session);
  const tool = acceptedTool(call.request, project, deps);
  await deps.catalog.verify(tool);
  const input = readInput(call.request, wordsOf(tool));
  const verified =
    tool.manifest.effects.session === 'execute'
      ? await executedCall(call, tool, input, deps)
      : withArguments(call, tool, input, deps.limits);
  return onBranch(verified, deps.branches);
}

function withArguments(call: Call, tool: CatalogTool, input: JsonObject, limits: VerifyDeps['limits']): VerifiedCall {
  const names = commonOptionsOf(tool.arguments.names);
  const { options, rest } = takeCommonOptions(input, { ...limitsFor(call, tool, limits), names });
  if (options.continuation === null) tool.arguments.check(rest);
  return { ...call, tool, options, input: rest };
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
  if (project === null) throw projects.notRegistered('PERMISSION_DENIED', root);
  if (statSync(root, { throwIfNoEntry: false })?.isDirectory()) return project;
  throw new ContextdError('PATH_NOT_FOUND', `the project root ${root} is no longer a directory`, {
    remedy: 'Run `ctxd init` in the new location of the project.',
  });
}

function acceptedTool(
  request: CallRequest,
  project: Project,
  { catalog, access }: Pick<VerifyDeps, 'catalog' | 'access'>,
): CatalogTool {
  const { tool: name } = request;
  const tool = catalog.find(project, name);
  if (isHidden(name, project, { catalog, access })) throw unknownTool(request, project, { catalog, access });
  if (tool !== undefined && isReached(tool, request)) return tool;
  if (tool !== undefined) throw unknownTool(request, project, { catalog, access });
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
  throw unknownTool(request, project, { catalog, access });
}

/** A client of MCP calls what is on its list. Passthrough executes the tools of servers for it. */
function isReached({ manifest: { name, isHost } }: CatalogTool, { surface, form, passed }: CallRequest): boolean {
  const isPassed = form === 'content' || passed !== undefined;
  return surface === undefined || isCalledByName(name, surface, { isHost, isPassed });
}

/** A tool that the caller may not use, or not by its name, is answered as one that does not exist. */
function unknownTool(
  { tool: name, surface }: CallRequest,
  project: Project,
  { catalog, access }: Pick<VerifyDeps, 'catalog' | 'access'>,
): ContextdError {
  const names = project.tools.map((one) => one.name).filter((one) => !isHidden(one, project, { catalog, access }));
  return new ContextdError('TOOL_NOT_FOUND', `there is no tool named ${JSON.stringify(name.slice(0, 100))}`, {
    // A client of MCP has other tools than a shell, which has all of them.
    remedy: surface === undefined ? `Tools: ${names.join(', ')}.` : FIND_TOOL,
  });
}

/** A tool that was changed or removed on disk, or that the project has not accepted, stays hidden. */
function isHidden(
  name: string,
  project: Project,
  { catalog, access }: Pick<VerifyDeps, 'catalog' | 'access'>,
): boolean {
  const tool = catalog.find(project, name) ?? catalog.versions(name)[0];
  return tool === undefined ? !access.mayUsePrimitive(project.root, name) : !access.mayUse(project.root, tool);
}

const FIND_TOOL = "Find it by what it does: `tool_browse 'what to do'`.";
const ACCEPT_CORE = 'Run `ctxd init` in the project root to accept the tools of this installation.';
