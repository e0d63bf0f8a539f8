import type { Json, JsonObject } from '../core/json.ts';
import type { Scrubber } from '../scrub/scrubber.ts';
import type { VerifiedCall } from './call.ts';

/**
 * Step 4: `[SECRET_n]` becomes its value in the inputs whose schema opted in, and nowhere else. The result goes into
 * the sandbox only; audit and answers are made from `call.input`. SECRET_UNKNOWN for a number this session never gave.
 */
export function openSecrets(call: VerifiedCall, scrubber: Scrubber): JsonObject {
  const { secretInputs } = call.tool.arguments;
  if (secretInputs.size === 0) return call.input;
  const opened: Record<string, Json> = { ...call.input };
  for (const name of secretInputs.keys()) {
    const value = opened[name];
    if (typeof value === 'string') opened[name] = scrubber.openSecrets(call.sessionKey, value);
  }
  return opened;
}
