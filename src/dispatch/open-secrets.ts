import type { OpenedSecret } from '../call/outcome.ts';
import { ANY, secretPlaces } from '../catalog/secret-inputs.ts';
import type { Config } from '../config/schema.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
import type { Scrubber } from '../scrub/scrubber.ts';
import { tokenDigits } from '../scrub/vault/look-alike.ts';
import type { VerifiedCall } from './call.ts';

export interface OpenSecretsDeps {
  scrubber: Scrubber;
  config: Pick<Config, 'secrets'>;
}

export interface OpenedInput {
  /** For the sandbox only; audit and answers are made from `call.input`. */
  input: JsonObject;
  opened: readonly OpenedSecret[];
}

/**
 * Step 4: `[SECRET_n]` becomes its value in the inputs whose schema opted in, and nowhere else. A file gets back what
 * the token stood for in the answers, a program the plain value. SECRET_UNKNOWN for a number this session never gave,
 * RATE_LIMITED when a secret was opened too often; then none is opened.
 */
export function openSecrets(call: VerifiedCall, { scrubber, config }: OpenSecretsDeps): OpenedInput {
  const places = secretPlaces(call.tool.arguments.secretInputs, call.input);
  const opened = places.flatMap(({ path, purpose, text }) =>
    tokenDigits(text).map((digits) => ({ token: `[SECRET_${digits}]`, input: `/${path.join('/')}`, use: purpose })),
  );
  const tokens = opened.map(({ token }) => token);
  scrubber.bookOpenings(call.sessionKey, tokens, config.secrets.max_uses_per_hour);
  const texts = new Map(
    places.map(({ path, purpose, text }) => {
      const form = purpose === 'file' ? 'seen' : 'plain';
      return [keyOf(path), scrubber.openSecrets(call.sessionKey, text, form)];
    }),
  );
  const input = withTexts(call.input, [], texts);
  return { input: isJsonObject(input) ? input : call.input, opened };
}

/** Tokens whose values a program was given: it may print them, so they are masked however short they are. */
export function tokensToMask(opened: readonly OpenedSecret[]): string[] {
  return opened.flatMap(({ token, use }) => (use === 'file' ? [] : [token]));
}

/** One line when tokens of this session stand where they are not opened: they stayed the text they are. */
export function literalTokens(call: VerifiedCall, scrubber: Scrubber): string[] {
  const { secretInputs, names } = call.tool.arguments;
  const opened = new Set(secretPlaces(secretInputs, call.input).map(({ path }) => keyOf(path)));
  const tokens = new Set<string>();
  const holders = new Set<string>();
  for (const { path, text } of textsOf(call.input, [])) {
    if (opened.has(keyOf(path))) continue;
    for (const token of scrubber.tokensIn(call.sessionKey, text)) {
      tokens.add(token);
      // A property that the schema does not know is the caller's own text, which is not repeated unscrubbed.
      holders.add(names.includes(path[0] ?? '') ? (path[0] ?? '') : 'another argument');
    }
  }
  if (tokens.size === 0) return [];
  const places = secretInputs.map(({ path }) => path.map((step) => (step === ANY ? '*' : step)).join('/'));
  const only = places.length === 0 ? 'opens no secrets' : `opens secrets in ${[...new Set(places)].join(', ')} only`;
  const shown = [...tokens].slice(0, 10).join(', ');
  return [`${shown} in ${[...holders].join(', ')} stayed literal text: ${call.tool.manifest.name} ${only}`];
}

function textsOf(value: Json, path: readonly string[]): { path: readonly string[]; text: string }[] {
  if (typeof value === 'string') return [{ path, text: value }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [
    { path: [...path, key, ''], text: key },
    ...textsOf(inner, [...path, key]),
  ]);
}

/** The value with the texts in their places, all in one walk. */
function withTexts(value: Json, path: readonly string[], texts: ReadonlyMap<string, string>): Json {
  if (typeof value === 'string') return texts.get(keyOf(path)) ?? value;
  if (Array.isArray(value)) return value.map((item: Json, index) => withTexts(item, [...path, String(index)], texts));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, withTexts(inner, [...path, key], texts)]),
  );
}

/** No two places share one, whatever characters their names hold. */
function keyOf(path: readonly string[]): string {
  return JSON.stringify(path);
}
