import { type CallFacts, codedWarnings } from '../call/outcome.ts';
import type { RateLimit, WarningCode } from '../core/envelope.ts';
import { isJsonObject, type JsonObject } from '../core/json.ts';
import type { VerifiedCall } from './call.ts';

/** At most this many names in a warning. */
const NAMED_MAX = 5;

type Warning = readonly [WarningCode, string];

/** Warnings that follow from the call and its answer. Those of services and views arise where they are known. */
export function warningsOfRun({ tool, input }: VerifiedCall, data: JsonObject): CallFacts['codedWarnings'] {
  return codedWarnings([
    ...deprecatedFields(tool.arguments.deprecated.filter((name) => Object.hasOwn(input, name))),
    ...(tool.origin === 'core' ? partialFailure(data) : []),
  ]);
}

function deprecatedFields(names: readonly string[]): Warning[] {
  if (names.length === 0) return [];
  const more = names.length > NAMED_MAX ? ` and ${names.length - NAMED_MAX} more` : '';
  const message = `deprecated by the tool's author: ${names.slice(0, NAMED_MAX).join(', ')}${more}`;
  return [['DEPRECATED_FIELD', message]];
}

/** A call for several files answers with an error in the place of each file that failed. */
function partialFailure({ files }: JsonObject): Warning[] {
  const all = Array.isArray(files) ? files.filter(isJsonObject) : [];
  const failed = all.filter(({ error }) => isJsonObject(error)).length;
  if (failed === 0 || failed === all.length) return [];
  return [['PARTIAL_FAILURE', `${failed} of ${all.length} files could not be read`]];
}

/** The share of a limit that is still free when callers are warned. */
const APPROACHING_SHARE = 0.1;

/** The openings of the secret with the fewest left; null without a secret. */
export function factsOfOpenings(openings: RateLimit | null): Partial<CallFacts> {
  if (openings === null || openings.remaining > openings.limit * APPROACHING_SHARE) return {};
  const message = `a secret can be used ${openings.remaining} more times within the hour (secrets.max_uses_per_hour)`;
  return { rateLimit: openings, codedWarnings: codedWarnings([['RATE_LIMIT_APPROACHING', message]]) };
}
