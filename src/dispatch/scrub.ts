import { joinFacts, textsOf, withoutOutput, withoutTexts, withTexts } from '../call/fact-operations.ts';
import type { Outcome } from '../call/outcome.ts';
import { parseToolName } from '../catalog/tool-name.ts';
import { ContextdError } from '../core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
import type { AuditItem } from '../scrub/gitleaks/auditor.ts';
import type { MissedSecret } from '../scrub/gitleaks/run.ts';
import { collectLeaves } from '../scrub/leaves.ts';
import type { OwnLines, Scrubber, SecretUse } from '../scrub/scrubber.ts';
import { escapeLookAlikes } from '../scrub/vault/look-alike.ts';
import type { ToolStream } from '../sdk/tool.ts';
import { type Call, EMPTY_OUTCOME, type RawOutcome } from './call.ts';
import { tokensToMask } from './open-secrets.ts';
import { type Leaving, ownLeaves } from './own-names.ts';

/** An outcome with every secret masked. Only this type reaches the stores, the budget and the audit log. */
export interface ScrubbedOutcome extends Outcome {
  readonly secrets: readonly SecretUse[];
  readonly missedByFirstPass: number;
  /** Duration of the search in milliseconds; absent if nothing was searched. */
  readonly scrubMs?: number;
}

export interface ScrubDeps {
  scrubber: Scrubber;
  secondSearch: SecondSearch;
}

/**
 * Step 6, second pass: scrubs every string that leaves, before it becomes JSON, except contextd's own property names.
 * The strings are in the order in which the tool's process scanned them, {data, streams}, followed by those that
 * dispatch added. Fails closed: no scrub, no output.
 */
export async function scrub(
  call: Call,
  outcome: RawOutcome,
  { scrubber, secondSearch }: ScrubDeps,
): Promise<ScrubbedOutcome> {
  const { failure } = outcome;
  const leaving = {
    data: outcome.data,
    streams: outcome.streams.map(({ field, text }) => ({ field, text })),
    failure:
      failure === null
        ? null
        : { message: failure.message, remedy: failure.remedy ?? null, details: toJson(failure.details) },
    ...textsOf(outcome.facts),
  } satisfies Leaving;
  const first = await scrubber.scrub(call.session, leaving, {
    firstPass: outcome.firstPass,
    early: outcome.early,
    margins: atTexts(outcome, ({ margin }) => margin),
    parts: atTexts(outcome, ({ parts }) => parts),
    ownLines: atTexts(outcome, ({ gap }) => gap),
    ...(parseToolName(call.request.tool) === null ? {} : { tool: call.request.tool }),
    call: { requestId: call.requestId, input: shownInput(call) },
    opened: tokensToMask(outcome.facts.secretsOpened),
    handed: new Set(outcome.facts.tokensHanded),
    own: ownLeaves(leaving, outcome.ownNames),
  });
  const { value, secrets, ownLines } = await searchAgain(call, outcome.ownNames, first, { scrubber, secondSearch });
  // In a client's shell a person reads what the command printed, and the agent cannot act on the sentence.
  const isToSay = secrets.length > 0 && call.request.principal.door !== 'shell';
  const howToTakeBack = isToSay && scrubber.isFirstMask(call.session) ? [HOW_TO_TAKE_BACK] : [];
  const unremembered = scrubber.unremembered(call.session) > 0 ? [TOO_MANY_SECRETS] : [];
  return {
    data: value.data,
    streams: withUsableFields(value, withGaps(outcome, ownLines)),
    ownNames: outcome.ownNames,
    failure: failure === null || value.failure === null ? null : rebuild(failure, value.failure),
    facts: joinFacts(withTexts(outcome.facts, value), {
      warnings: [...outcome.tokenNotes, ...howToTakeBack, ...unremembered],
    }),
    secrets,
    missedByFirstPass: first.missedByFirstPass,
  };
}

/** Sent with the first mask of a session only. */
const HOW_TO_TAKE_BACK = 'If a mask is wrong, a person can look and undo it: ctxd scrub reveal n';

/** Sent with each answer that has a secret for which the session has no room. */
const TOO_MANY_SECRETS =
  'This session knows 64,000 secrets and has no room for more: a further one is masked only where a rule finds it. Start another session.';

/** Maximum characters of a call's input shown to a person beside a secret in its answer. */
const INPUT_SHOWN_CHARS = 300;

function shownInput({ request: { inputJson, inputText } }: Call): string {
  return (inputText ?? inputJson).subarray(0, INPUT_SHOWN_CHARS).toString('utf8');
}

/** Masks secrets that the real gitleaks still finds, and remembers them for the session. */
async function searchAgain<T extends Leaving>(
  { session }: Call,
  ownNames: Outcome['ownNames'],
  first: Searched<T>,
  { scrubber, secondSearch }: ScrubDeps,
): Promise<Searched<T>> {
  // Recomputed, because a masked key may have moved.
  const own = ownLeaves(first.value, ownNames);
  const missed = await secondSearch.missedIn(
    collectLeaves(first.value).map((text, position) => (own.has(position) ? '' : text)),
  );
  if (missed.length === 0) return first;
  const again = await scrubber.scrubAgain(session, first.value, missed, { own, ownLines: first.ownLines });
  const known = new Set(first.secrets.map(({ token }) => token));
  return { ...again, secrets: [...first.secrets, ...again.secrets.filter(({ token }) => !known.has(token))] };
}

interface Searched<T> {
  value: T;
  secrets: readonly SecretUse[];
  ownLines: OwnLines;
}

/**
 * A stream's field is a key of `data` and part of refs and cursors, where no token is allowed. A field that contained a
 * secret is renamed to `text_1`, `text_2` and so on.
 */
function withUsableFields(
  { data, streams }: Pick<Leaving, 'data' | 'streams'>,
  given: Outcome['streams'],
): ToolStream[] {
  const taken = new Set([...Object.keys(data), ...given.map(({ field }) => field)]);
  let number = 0;
  const next = (): string => {
    do number += 1;
    while (taken.has(`text_${number}`));
    return `text_${number}`;
  };
  return streams.map(({ field, text }, position) => {
    const { field: givenField, gap } = given[position] ?? {};
    return { field: field === givenField ? field : next(), text, ...(gap === undefined ? {} : { gap }) };
  });
}

/** Values for the texts, by leaf position: the leaves of data come first, then four leaves per stream. */
function atTexts<T>(
  { data, streams }: Pick<Outcome, 'data' | 'streams'>,
  read: (stream: ToolStream) => T | undefined,
): Map<number, T> {
  const found = streams.flatMap((stream, index) => {
    const value = read(stream);
    return value === undefined ? [] : [[index, value] as const];
  });
  if (found.length === 0) return new Map();
  const first = firstText(data);
  return new Map(found.map(([index, value]) => [first + 4 * index, value]));
}

/** Position of the first text. The leaves of a stream are "field", its name, "text" and the text. */
function firstText(data: JsonObject): number {
  return collectLeaves({ data, streams: [] }).length + 3;
}

/** Moves the gaps to their places in the masked texts. */
function withGaps({ data, streams }: Pick<Outcome, 'data' | 'streams'>, places: OwnLines): ToolStream[] {
  if (places.size === 0) return streams.map(({ field, text }) => ({ field, text }));
  const first = firstText(data);
  return streams.map(({ field, text, gap }, index) => {
    const place = places.get(first + 4 * index);
    return gap === undefined || place === undefined ? { field, text } : { field, text, gap: { ...gap, ...place } };
  });
}

/** The outcome if scrubbing itself failed: a fixed message and contextd's own facts, no text of a tool or a command. */
export function withheld(failure: ContextdError, outcome: RawOutcome = EMPTY_OUTCOME): ScrubbedOutcome {
  return {
    data: {},
    streams: [],
    ownNames: [],
    failure:
      failure.code === 'SCRUB_FAILED'
        ? failure
        : new ContextdError('SCRUB_FAILED', 'the output was withheld because it could not be searched for secrets', {
            remedy: 'Call again. If it happens again, see `ctxd server logs`.',
            cause: failure,
          }),
    facts: withoutTexts(withoutOutput(outcome.facts)),
    secrets: [],
    missedByFirstPass: 0,
  };
}

/** A failure with its masked parts. A token that it names itself is not a look-alike. */
function rebuild(
  original: ContextdError,
  parts: { message: string; remedy: string | null; details: Json },
): ContextdError {
  const { token, retryAfterMs } = original;
  const shown = (text: string): string =>
    token === undefined ? text : text.replaceAll(escapeLookAlikes(token), token);
  const details = isJsonObject(parts.details) ? parts.details : {};
  return new ContextdError(original.code, shown(parts.message), {
    ...(parts.remedy === null ? {} : { remedy: shown(parts.remedy) }),
    details: typeof details.token === 'string' ? { ...details, token: shown(details.token) } : details,
    ...(token === undefined ? {} : { token }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

/** Keeps only what JSON can represent. */
function toJson(details: Readonly<Record<string, unknown>>): Json {
  const value: unknown = JSON.parse(JSON.stringify(details));
  return isJsonObject(value) ? value : {};
}

/** A search with the real gitleaks, in addition to our engine. */
export interface SecondSearch {
  /**
   * Returns the secrets that are still in scrubbed texts. Without gitleaks, and for texts that it only searches after the
   * answer, the result is empty and costs nothing. Throws SCRUB_FAILED if `scrub.gitleaks` is `always` and gitleaks fails
   * or is missing: then the texts must not leave.
   */
  missedIn(texts: readonly string[]): Promise<readonly MissedSecret[]>;
  /** Queues a stored output for a background search and returns at once. */
  stored(item: AuditItem): void;
}
