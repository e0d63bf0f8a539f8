import { statSync } from 'node:fs';
import type { Catalog, CatalogTool } from '../catalog/catalog.ts';
import type { Config } from '../config/schema.ts';
import { ContextdError } from '../core/errors.ts';
import { isJsonObject, type JsonObject } from '../core/json.ts';
import type { LiveSessions } from '../stores/live-sessions.ts';
import type { Project, ProjectStore } from '../stores/projects.ts';
import type { Call, VerifiedCall } from './call.ts';
import { askedBudget, budgetLimits, takeCommonOptions } from './options.ts';

export interface VerifyDeps {
  catalog: Catalog;
  projects: ProjectStore;
  liveSessions: Pick<LiveSessions, 'touch'>;
  limits: Pick<Config, 'budget' | 'timeout'>;
}

/**
 * Step 2: checks that a person registered the project, that the tool is accepted for it, that its files have the
 * accepted hash and that the arguments fit its schema. No file of the workspace is consulted: a repository cannot vouch
 * for itself.
 */
export async function verify(call: Call, deps: VerifyDeps): Promise<VerifiedCall> {
  const project = await registeredProject(call.request.projectRoot, deps.projects);
  deps.liveSessions.touch(call.session);
  const tool = acceptedTool(call.request.tool, project, deps.catalog);
  await deps.catalog.verify(tool);
  const { options, rest } = takeCommonOptions(parseInput(call.request.inputJson), {
    budget: budgetLimits(deps.limits.budget, tool.manifest, call.request.principal.door),
    timeout: deps.limits.timeout,
  });
  if (options.continuation === null) tool.arguments.check(rest);
  return { ...call, tool, options, input: rest };
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
  const [known] = catalog.versions(name);
  if (known === undefined) {
    throw new ContextdError('TOOL_NOT_FOUND', `there is no tool named ${JSON.stringify(name.slice(0, 100))}`, {
      remedy: `Tools: ${[...new Set(catalog.list().map((tool) => tool.manifest.name))].join(', ')}.`,
    });
  }
  const accepted = project.tools.find((tool) => tool.name === known.manifest.name);
  if (accepted === undefined) {
    throw new ContextdError('PERMISSION_DENIED', `${name} is not accepted for the project ${project.root}`, {
      remedy: 'Run `ctxd init` in the project root to accept the tools of this installation.',
    });
  }
  const tool = catalog.find(project, name);
  if (tool !== undefined) return tool;
  throw new ContextdError('INTEGRITY_FAILED', `${name} is not the tool that was accepted for ${project.root}`, {
    remedy: 'Run `ctxd init` in the project root to accept the tools of this installation.',
    details: { accepted_sha256: accepted.bundleSha256, found_sha256: known.bundleSha256 },
  });
}

function parseInput(bytes: Buffer): JsonObject {
  const text = decodeUtf8(bytes);
  const value = parseJson(text);
  if (isJsonObject(value)) return value;
  const kind = value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`;
  throw new ContextdError('ARGS_INVALID', `the input is ${kind}, not a JSON object`, {
    remedy: `Pass an object such as '{"command":"ls"}'.`,
    details: { faults: [{ pointer: '', fault: 'must be an object' }] },
  });
}

function decodeUtf8(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new ContextdError('ARGS_INVALID', 'the input is not valid UTF-8', {
      remedy: 'Encode the JSON as UTF-8.',
      cause,
    });
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    // V8's message quotes the input, which may hold a secret that no pattern matches. The position is enough.
    const position = cause instanceof Error ? /position (\d+)/.exec(cause.message)?.[1] : undefined;
    const where =
      text.trim() === '' ? 'it is empty' : position === undefined ? 'it ends too early' : `see character ${position}`;
    throw new ContextdError('ARGS_INVALID', `the input is not JSON: ${where}`, {
      remedy: `Pass one object such as '{"command":"ls"}', or flags such as --command "ls".`,
      cause,
    });
  }
}
