import { randomBytes } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../core/clock.ts';
import { ContextdError } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import type { Logger } from '../core/log.ts';
import type { Finding } from './finding.ts';
import { type ScannedLeaf, weighFirstPass } from './first-pass.ts';
import type { ScrubEngine } from './hardened/engine.ts';
import { collectLeaves, replaceLeaves } from './leaves.ts';
import type { Scanner } from './scan/scanner.ts';
import { mergeFindings } from './spans.ts';
import { escapeLookAlikes, replaceTokens, UNNUMBERED } from './vault/look-alike.ts';
import { type NumberStore, type SecretUse, unknownSecret, Vault } from './vault/vault.ts';

export type { SecretUse } from './vault/vault.ts';

interface Scrubbed<T> {
  value: T;
  /** Distinct, in order of first appearance in this answer. */
  secrets: readonly SecretUse[];
  /** What the daemon's patterns found and a first pass that covered the same text had not reported. */
  missedByFirstPass: number;
}

/** What is known of a value beforehand. Both are by the position of a leaf in the order of `collectLeaves`. */
export interface ScrubHints {
  /** What the tool's own process found. May cover only the first leaves. Default: nothing was searched. */
  firstPass?: readonly (readonly Finding[])[];
  /** UTF-16 characters at both ends of a leaf that are searched and do not leave. Default: none. */
  margins?: ReadonlyMap<number, { before: number; after: number }>;
}

/** The second pass (design §3, step 6): every string that leaves, and the only one that hands out tokens. */
export interface Scrubber {
  start(): Promise<void>;
  stop(): Promise<void>;
  /**
   * Masks the strings and object keys of a value. Meant to be run once, on raw strings: text that looks like a token
   * is neutralised (see look-alike.ts), so a scrubbed value does not go through it again. SCRUB_FAILED when anything
   * goes wrong.
   */
  scrub<T extends Json>(sessionKey: string, value: T, hints?: ScrubHints): Promise<Scrubbed<T>>;
  /** Tokens become their values, neutralised look-alikes what they were. SECRET_UNKNOWN for an unknown number. */
  openSecrets(sessionKey: string, text: string): string;
  /** For log lines and error texts: patterns and the values of all sessions, "[SECRET]" without numbers. */
  maskText(text: string): string;
  /** The session is over: its values are gone. */
  forget(sessionKey: string): void;
}

export interface ScrubberDeps {
  scanner: Scanner;
  /** Used by maskText, on the main thread; `deferEngine` keeps it from costing anything before. */
  engine: ScrubEngine;
  numbers: NumberStore;
  logger: Logger;
  clock: Clock;
}

export function createScrubber(deps: ScrubberDeps): Scrubber {
  return new SessionScrubber(deps);
}

/** Characters the guard goes through before it lets others have the thread. */
const SLICE_CHARS = 2 * 1024 * 1024;
/** maskText looks at no more characters: it runs on the main thread. */
const MASK_MAX_CHARS = 65_536;
/** What is dropped of a cut text besides: a secret cut in two is not recognised. */
const MASK_MARGIN_CHARS = 4096;
const NO_MARGIN = { before: 0, after: 0 };
/** Milliseconds from which a scrub is reported as slow. */
const SLOW_MS = 1000;

class SessionScrubber implements Scrubber {
  readonly #deps: ScrubberDeps;
  readonly #vaults = new Map<string, Vault>();
  readonly #identityKey = randomBytes(32);

  constructor(deps: ScrubberDeps) {
    this.#deps = deps;
  }

  start(): Promise<void> {
    return this.#deps.scanner.start();
  }

  async stop(): Promise<void> {
    this.#vaults.clear();
    await this.#deps.scanner.stop();
  }

  async scrub<T extends Json>(sessionKey: string, value: T, hints: ScrubHints = {}): Promise<Scrubbed<T>> {
    const { clock, logger } = this.#deps;
    const started = clock.monotonic();
    try {
      const vault = this.#vaultOf(sessionKey);
      const leaves = await this.#scanLeaves(vault, collectLeaves(value));
      const { extra, missed } = weighFirstPass(leaves, hints.firstPass ?? []);
      const secrets = new Map<string, SecretUse>();
      const texts: string[] = [];
      for (const [position, { text, spans }] of leaves.entries()) {
        const found = mergeFindings([...spans, ...(extra[position] ?? [])]);
        texts.push(await maskLeaf(vault, text, found, hints.margins?.get(position) ?? NO_MARGIN, secrets));
      }
      const durationMs = Math.round(clock.monotonic() - started);
      if (durationMs >= SLOW_MS) logger.warn('scrub.slow', { duration_ms: durationMs, leaves: leaves.length });
      // The same shape with other strings in it, which the type system cannot see.
      const masked = replaceLeaves(value, texts) as T;
      return { value: masked, secrets: [...secrets.values()], missedByFirstPass: missed };
    } catch (thrown) {
      throw failClosed(thrown);
    }
  }

  openSecrets(sessionKey: string, text: string): string {
    const vault = this.#vaults.get(sessionKey);
    return replaceTokens(text, (digits) => {
      if (vault === undefined) throw unknownSecret(digits);
      return vault.open(digits);
    });
  }

  maskText(text: string): string {
    try {
      const seen = text.slice(0, MASK_MAX_CHARS);
      const known = [...this.#vaults.values()].flatMap((vault) => vault.guard.scan(seen));
      const spans = mergeFindings([...this.#deps.engine.scan(seen), ...known]);
      if (text.length <= MASK_MAX_CHARS) return replaceSpans(seen, spans, () => UNNUMBERED);
      const end = MASK_MAX_CHARS - MASK_MARGIN_CHARS;
      const kept = spans.filter((span) => span.start < end).map((span) => ({ ...span, end: Math.min(span.end, end) }));
      return `${replaceSpans(seen.slice(0, end), kept, () => UNNUMBERED)}… (${text.length - end} characters left out)`;
    } catch {
      return '[text withheld: it could not be searched for secrets]';
    }
  }

  forget(sessionKey: string): void {
    this.#vaults.delete(sessionKey);
  }

  #vaultOf(sessionKey: string): Vault {
    const known = this.#vaults.get(sessionKey);
    if (known !== undefined) return known;
    const vault = new Vault(this.#identityKey, () => this.#deps.numbers.next(sessionKey));
    this.#vaults.set(sessionKey, vault);
    return vault;
  }

  /** Patterns first, over everything: a secret found in one string is known to the guard in all the others. */
  async #scanLeaves(vault: Vault, texts: readonly string[]): Promise<ScannedLeaf[]> {
    const found = await this.#deps.scanner.scan(texts);
    for (const [position, text] of texts.entries())
      for (const { rule, start, end } of found[position] ?? []) vault.learn(text.slice(start, end), rule);
    const leaves: ScannedLeaf[] = [];
    for (const [position, text] of texts.entries()) {
      const byPattern = found[position] ?? [];
      leaves.push({ text, found: byPattern, spans: mergeFindings([...byPattern, ...(await guardScan(vault, text))]) });
    }
    return leaves;
  }
}

async function guardScan(vault: Vault, text: string): Promise<Finding[]> {
  const found: Finding[] = [];
  for (let from = 0; from < text.length; from += SLICE_CHARS) {
    if (from > 0) await setImmediate();
    for (const finding of vault.guard.scan(text, from, Math.min(text.length, from + SLICE_CHARS))) found.push(finding);
  }
  return found;
}

/** A secret that the edge of the margin cuts is masked as a whole: its token stands for all of it. */
async function maskLeaf(
  vault: Vault,
  text: string,
  spans: readonly Finding[],
  margin: { before: number; after: number },
  secrets: Map<string, SecretUse>,
): Promise<string> {
  const from = margin.before;
  const to = text.length - margin.after;
  const shown: Finding[] = [];
  const tokens: string[] = [];
  for (const { rule, start, end } of spans) {
    if (end <= from || start >= to) continue;
    const use = await vault.use(text.slice(start, end), rule);
    secrets.set(use.token === UNNUMBERED ? `${use.token} ${use.rule}` : use.token, use);
    tokens.push(use.token);
    shown.push({ rule, start: Math.max(start, from) - from, end: Math.min(end, to) - from });
  }
  return replaceSpans(text.slice(from, to), shown, (position) => tokens[position] ?? UNNUMBERED, escapeLookAlikes);
}

/** `outside` is applied to the text between the spans. */
function replaceSpans(
  text: string,
  spans: readonly Finding[],
  tokenAt: (position: number) => string,
  outside: (text: string) => string = (part) => part,
): string {
  let result = '';
  let from = 0;
  for (const [position, { start, end }] of spans.entries()) {
    result += outside(text.slice(from, start)) + tokenAt(position);
    from = end;
  }
  return result + outside(text.slice(from));
}

/** No scrub, no output; the cause is for the log and never sent. */
function failClosed(thrown: unknown): ContextdError {
  if (thrown instanceof ContextdError && thrown.code === 'SCRUB_FAILED') return thrown;
  return new ContextdError('SCRUB_FAILED', 'the output was withheld: it could not be searched for secrets', {
    remedy: 'Call again; see `ctxd server logs` if it stays.',
    cause: thrown,
  });
}
