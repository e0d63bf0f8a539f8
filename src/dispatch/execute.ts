import { COMMON_OPTIONS, commonOptionsOf } from '../catalog/arguments.ts';
import type { CatalogTool } from '../catalog/catalog.ts';
import { ContextdError } from '../core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
import type { Call, VerifiedCall } from './call.ts';
import { type CallLimits, limitsFor, takeCommonOptions } from './options.ts';

/** The tools that a call can execute by id: those of this machine, and those of MCP servers. */
export interface Executables {
  /** Throws HYDRATE_FAILED unless exactly one tool of the project has the id or name, and SCHEMA_INVALID for a broken schema. */
  find(project: string, idOrName: string): Promise<Executable>;
  /** Arguments that were repaired by fixed rules, if the settings allow it. */
  repair(args: Json, schema: JsonObject): { args: Json; repairs: readonly string[] };
}

export interface Executable {
  readonly id: string;
  readonly tool: CatalogTool;
  readonly schema: JsonObject;
}

interface ExecuteDeps {
  executables: Executables;
  limits: CallLimits;
}

/** An id and its arguments as plain words: `github:create_issue#1a2b3c4d {"title":"x"}`. */
const ID_AND_ARGS = /^(\S+)\s+(\{[\s\S]*)$/;

/**
 * Makes a call of `executor` the call of the tool that its arguments name. From here on it is checked, asked about, masked and
 * recorded as if that tool had been called itself. Throws HYDRATE_FAILED, SCHEMA_INVALID and ARGS_INVALID.
 */
export async function executedCall(
  call: Call,
  executor: CatalogTool,
  given: JsonObject,
  { executables, limits }: ExecuteDeps,
): Promise<VerifiedCall> {
  const { taken, rest } = split(given, COMMON_OPTIONS);
  if (taken.continuation !== undefined) {
    const { options } = takeCommonOptions(given, { ...limitsFor(call, executor, limits), names: COMMON_OPTIONS });
    return { ...call, tool: executor, options, input: {} };
  }
  const asked = withSplitWords(rest);
  executor.arguments.check({ ...asked, args: {} });
  const { id, tool, schema } = await executables.find(call.request.projectRoot, String(asked.tool_id));
  if (tool.manifest.effects.session === 'execute') throw executesItself(id);
  const { args, repairs } = executables.repair(asked.args ?? {}, schema);
  if (!isJsonObject(args)) throw notAnObject(args);
  // A server may have an argument with the name of an option.
  const own = split(args, tool.program.kind === 'upstream' ? [] : commonOptionsOf(tool.arguments.names));
  const asOptions = { ...own.taken, ...taken };
  const { budget, timeout } = limitsFor(call, tool, limits);
  // A client that shows a result itself cannot ask for more of it.
  const standard = call.request.form === 'content' ? budget.ceiling : budget.standard;
  const within = { timeout, budget: { ...budget, standard }, names: COMMON_OPTIONS };
  const { options } = takeCommonOptions(asOptions, within);
  if (options.continuation === null) tool.arguments.check(own.rest);
  const request = {
    ...call.request,
    tool: tool.manifest.name,
    inputJson: jsonOf({ ...own.rest, ...asOptions }),
    inputText: null,
  };
  const execution = { via: executor.manifest.name, toolId: id, repairs };
  return { ...call, request, tool, options, input: own.rest, execution };
}

function split(input: JsonObject, names: readonly string[]): { taken: JsonObject; rest: JsonObject } {
  const pick = (isNamed: boolean): JsonObject =>
    Object.fromEntries(Object.entries(input).filter(([name]) => names.includes(name) === isNamed));
  return { taken: pick(true), rest: pick(false) };
}

/** Takes the arguments from the words of a command line. Throws ARGS_INVALID if they are not JSON. */
function withSplitWords(given: JsonObject): JsonObject {
  const [, id, json = ''] = typeof given.tool_id === 'string' ? (ID_AND_ARGS.exec(given.tool_id) ?? []) : [];
  if (id === undefined || given.args !== undefined) return given;
  try {
    return { ...given, tool_id: id, args: JSON.parse(json) };
  } catch (cause) {
    throw new ContextdError('ARGS_INVALID', 'the words behind the id of the tool are not JSON', {
      remedy: 'Put the arguments into single quotes, as one JSON object.',
      cause,
    });
  }
}

function notAnObject(args: Json): ContextdError {
  const kind = args === null ? 'null' : Array.isArray(args) ? 'an array' : `a ${typeof args}`;
  return new ContextdError('ARGS_INVALID', `/args must be an object, not ${kind}`, {
    remedy: 'Pass the arguments of the tool as one JSON object: tool_hydrate shows its schema.',
    details: { faults: [{ pointer: '/args', fault: 'must be an object' }] },
  });
}

function executesItself(id: string): ContextdError {
  return new ContextdError('ARGS_INVALID', `${id} executes other tools, not itself`, {
    remedy: 'Name the tool that is meant.',
  });
}

function jsonOf(input: JsonObject): Buffer {
  try {
    return Buffer.from(JSON.stringify(input));
  } catch (cause) {
    throw new ContextdError('ARGS_INVALID', '/args is nested too deeply', { remedy: 'Pass a flatter value.', cause });
  }
}
