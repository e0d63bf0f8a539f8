import { COMMON_OPTIONS } from '../catalog/arguments.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { ToolAccess } from '../catalog/tool-access.ts';
import { type CallerWords, type NamedTools, surfaceWords } from '../core/caller-words.ts';
import { ContextdError } from '../core/errors.ts';
import type { Call, RawOutcome, VerifiedCall } from './call.ts';

export interface CallerTools {
  readonly catalog: Pick<Catalog, 'list' | 'versions'>;
  readonly access: Pick<ToolAccess, 'mayUse'>;
}

/** How the answer names calls; null for callers that take them as a shell does, as messages are written. */
export function callerWords(call: Call | VerifiedCall, { catalog, access }: CallerTools): CallerWords | null {
  const { surface, tool } = call.request;
  if (surface === undefined) return null;
  const core = catalog.list().filter(({ origin, manifest }) => origin === 'core' || manifest.name === tool);
  const named: NamedTools = new Map(
    core.map(({ manifest, arguments: { primary, names } }) => [
      manifest.name,
      { primary, names: [...names, ...COMMON_OPTIONS] },
    ]),
  );
  const called = ('tool' in call ? call.execution?.via : undefined) ?? tool;
  const isListedByName = (name: string): boolean => catalog.versions(name)[0]?.manifest.isHost === false;
  const isDenied = (name: string): boolean =>
    catalog.versions(name).some((one) => !access.mayUse(call.session.project, one));
  return surfaceWords({ surface, called, isListedByName, isDenied }, named);
}

/** What contextd itself says of the call, so that it names only what the caller has. */
export function inCallersWords(outcome: RawOutcome, words: CallerWords | null): RawOutcome {
  const { failure, facts, tokenNotes } = outcome;
  if (words === null || (failure === null && !hasAdvice(outcome))) return outcome;
  return {
    ...outcome,
    failure: failure === null ? null : failureIn(failure, words),
    tokenNotes: tokenNotes.map(words.advice),
    facts: {
      ...facts,
      warnings: facts.warnings.map(words.advice),
      denied: facts.denied.map((one) => ({ ...one, how_to_allow: words.advice(one.how_to_allow) })),
    },
  };
}

function hasAdvice({ facts, tokenNotes }: RawOutcome): boolean {
  return facts.warnings.length + facts.denied.length + tokenNotes.length > 0;
}

function failureIn(failure: ContextdError, words: CallerWords): ContextdError {
  const { code, message, remedy, details, token, retryAfterMs, cause } = failure;
  return new ContextdError(code, words.message(message), {
    ...(remedy === undefined ? {} : { remedy: words.advice(remedy) }),
    details,
    ...(token === undefined ? {} : { token }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    cause,
  });
}
