import type { Catalog } from '../catalog/catalog.ts';
import { isJsonObject, type JsonObject } from '../core/json.ts';
import { oneLine } from '../text/one-line.ts';
import type { Call, RawOutcome, VerifiedCall } from './call.ts';

/** Characters of an error that a model reads (gateway surface §3.4). */
const MESSAGE_MAX_CHARS = 300;

/**
 * A failed call of a tool that executes others: `data` gets the keys of gateway surface §3.4 beside the usual ones. `path` is
 * the id that was asked for.
 */
export function withGatewayKeys(
  outcome: RawOutcome,
  call: Call | VerifiedCall,
  catalog: Pick<Catalog, 'versions'>,
): RawOutcome {
  const { failure } = outcome;
  if (failure === null || !isExecution(call, catalog)) return outcome;
  const error = {
    error: failure.code,
    message: oneLine(failure.message, MESSAGE_MAX_CHARS),
    path: oneLine(askedId(call), MESSAGE_MAX_CHARS),
  };
  return { ...outcome, data: { ...outcome.data, ...error } };
}

function isExecution(call: Call | VerifiedCall, catalog: Pick<Catalog, 'versions'>): boolean {
  if ('tool' in call && call.execution !== undefined) return true;
  return catalog.versions(call.request.tool)[0]?.manifest.effects.session === 'execute';
}

function askedId(call: Call | VerifiedCall): string {
  if ('tool' in call && call.execution !== undefined) return call.execution.toolId;
  const { inputJson, inputText } = call.request;
  if (inputText !== null) return inputText.toString('utf8').split(/\s/, 1)[0] ?? '';
  const { tool_id } = objectIn(inputJson);
  return typeof tool_id === 'string' ? tool_id : '';
}

function objectIn(json: Buffer): JsonObject {
  try {
    const value: unknown = JSON.parse(json.toString('utf8'));
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}
