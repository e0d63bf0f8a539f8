import type { OpenedSecret } from '../call/outcome.ts';
import { ANY, plainPlaces, secretPlaces } from '../catalog/secret-inputs.ts';
import type { Config } from '../config/schema.ts';
import type { RateLimit } from '../core/envelope.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
import type { Scrubber } from '../scrub/scrubber.ts';
import { shownLookAlikes, tokenDigits } from '../scrub/vault/look-alike.ts';
import type { VerifiedCall } from './call.ts';

export interface OpenSecretsDeps {
  scrubber: Scrubber;
  config: Pick<Config, 'secrets'>;
}

export interface OpenedInput {
  /** For the sandbox only. The audit record and the answer use `call.input`. */
  input: JsonObject;
  opened: readonly OpenedSecret[];
  /** Warnings about tokens left as literal text. */
  notes: readonly string[];
  /** How often the secret with the fewest openings left can still be opened; null without one. */
  openings: RateLimit | null;
}

/**
 * Step 4: replaces `[SECRET_n]` by its value in the inputs whose schema opted in, and nowhere else. A file gets the
 * spelling that the token replaced, a program gets the plain value. Throws SECRET_UNKNOWN for a number that this
 * session never assigned, and RATE_LIMITED if a secret was opened too often; then no secret is opened.
 */
export function openSecrets(call: VerifiedCall, { scrubber, config }: OpenSecretsDeps): OpenedInput {
  const places = secretPlaces(call.tool.arguments.secretInputs, call.input);
  const opened = places.flatMap(({ path, purpose, text }) =>
    tokenDigits(text).map((digits) => ({ token: `[SECRET_${digits}]`, input: `/${path.join('/')}`, use: purpose })),
  );
  const tokens = opened.map(({ token }) => token);
  const openings = scrubber.bookOpenings(call.session, tokens, config.secrets.max_uses_per_hour);
  const texts = new Map(
    places.map(({ path, purpose, text }) => {
      const form = purpose === 'file' ? 'seen' : 'plain';
      return [keyOf(path), scrubber.openSecrets(call.session, text, form)];
    }),
  );
  const input = withTexts(call.input, [], texts);
  return { input: isJsonObject(input) ? input : call.input, opened, notes: literalTokens(call, scrubber), openings };
}

/** Tokens whose values a program received. It may print them, so even very short values are masked. */
export function tokensToMask(opened: readonly OpenedSecret[]): string[] {
  return opened.flatMap(({ token, use }) => (use === 'file' ? [] : [token]));
}

/**
 * Warnings about inputs that open no secrets: session tokens left as literal text, and look-alikes that kept the
 * backslash with which contextd shows them.
 */
function literalTokens(call: VerifiedCall, scrubber: Scrubber): string[] {
  const { secretInputs } = call.tool.arguments;
  const tokens = new Found();
  const lookAlikes = new Found();
  for (const { path, text } of plainPlaces(secretInputs, call.input)) {
    const holder = holderOf(call, path);
    tokens.add(scrubber.tokensIn(call.session, text), holder);
    lookAlikes.add(shownLookAlikes(text), holder);
  }
  const tool = call.tool.manifest.name;
  const places = secretInputs.map(({ path }) => path.map((step) => (step === ANY ? '*' : step)).join('/'));
  const only = places.length === 0 ? 'opens no secrets' : `opens secrets in ${[...new Set(places)].join(', ')} only`;
  return [
    ...tokens.told((all) => `${all} stayed literal text: ${tool} ${only}`),
    ...lookAlikes.told((all) => `${all} kept its backslash: only safe_write takes it away`),
  ];
}

/** A property that is not in the schema is the caller's own text and must not be repeated unscrubbed. */
export function holderOf({ tool }: VerifiedCall, [name = '']: readonly string[]): string {
  return tool.arguments.names.includes(name) ? name : 'another argument';
}

/** Texts found in inputs, and the names of those inputs. */
class Found {
  readonly #texts = new Set<string>();
  readonly #holders = new Set<string>();

  add(texts: readonly string[], holder: string): void {
    if (texts.length > 0) this.#holders.add(holder);
    for (const text of texts) this.#texts.add(text);
  }

  /** One warning; empty if nothing was found. */
  told(warning: (all: string) => string): string[] {
    if (this.#texts.size === 0) return [];
    return [warning(`${[...this.#texts].slice(0, 10).join(', ')} in ${[...this.#holders].join(', ')}`)];
  }
}

/** Copies `value` with the texts at the given paths replaced. */
function withTexts(value: Json, path: readonly string[], texts: ReadonlyMap<string, string>): Json {
  if (typeof value === 'string') return texts.get(keyOf(path)) ?? value;
  if (Array.isArray(value)) return value.map((item: Json, index) => withTexts(item, [...path, String(index)], texts));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, withTexts(inner, [...path, key], texts)]),
  );
}

/** A unique key for a path, for any characters in its names. */
function keyOf(path: readonly string[]): string {
  return JSON.stringify(path);
}
