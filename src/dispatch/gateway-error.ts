import type { Catalog } from '../catalog/catalog.ts';
import { isJsonObject, type JsonObject } from '../core/json.ts';
import { oneLine } from '../text/one-line.ts';
import type { Call, RawOutcome, VerifiedCall } from './call.ts';

/** Characters of an error that a model reads (gateway surface §3.4). */
const MESSAGE_MAX_CHARS = 300;

/** The arguments by which the daemon's own tools are asked for something, in the order in which an error names one. */
const SUBJECTS = ['path', 'tool_id', 'resource_id', 'prompt_id'] as const;

/**
 * A failed call of a tool of the gateway, which the daemon answers itself or carries out as another: `data` gets the keys of gateway
 * surface §3.4 beside the usual ones. `path` is the path or id that was asked for.
 */
export function withGatewayKeys(
  outcome: RawOutcome,
  call: Call | VerifiedCall,
  catalog: Pick<Catalog, 'versions'>,
): RawOutcome {
  const { failure } = outcome;
  if (failure === null || !isOfGateway(call, catalog)) return outcome;
  const error = {
    error: failure.code,
    message: oneLine(failure.message, MESSAGE_MAX_CHARS),
    path: oneLine(askedId(call), MESSAGE_MAX_CHARS),
  };
  return { ...outcome, data: { ...outcome.data, ...error } };
}

function isOfGateway(call: Call | VerifiedCall, catalog: Pick<Catalog, 'versions'>): boolean {
  if ('tool' in call && call.execution !== undefined) return true;
  return catalog.versions(call.request.tool)[0]?.manifest.isHost === true;
}

function askedId(call: Call | VerifiedCall): string {
  if ('tool' in call && call.execution !== undefined) return call.execution.toolId;
  if ('input' in call) return subjectOf(call.input);
  const { inputJson, inputText } = call.request;
  const [word = ''] = inputText?.toString('utf8').split(/\s/, 1) ?? [];
  // Words that are no id are a query.
  return inputText === null ? subjectOf(objectIn(inputJson)) : word.includes(':') ? word : '';
}

function subjectOf(input: JsonObject): string {
  const subject = SUBJECTS.map((name) => input[name]).find((value) => typeof value === 'string');
  return typeof subject === 'string' ? subject : '';
}

function objectIn(json: Buffer): JsonObject {
  try {
    const value: unknown = JSON.parse(json.toString('utf8'));
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}
