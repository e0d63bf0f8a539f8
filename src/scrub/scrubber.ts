import type { SessionRef } from '../call/session.ts';
import type { Clock } from '../core/clock.ts';
import { ContextdError } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import type { Logger } from '../core/log.ts';
import { findSecrets, openedValues, withoutAllowed } from './find-secrets.ts';
import type { Finding } from './finding.ts';
import { weighFirstPass } from './first-pass.ts';
import type { ScrubEngine } from './hardened/engine.ts';
import { collectLeaves, replaceLeaves } from './leaves.ts';
import { type Masking, maskLeaf, type OwnLine } from './mask-leaf.ts';
import type { Scanner } from './scan/scanner.ts';
import { findKnown } from './shown-later.ts';
import type { ShownPart } from './shown-parts.ts';
import { mergeFindings } from './spans.ts';
import { TextMasker } from './text-masker.ts';
import type { Allowance } from './vault/allowance.ts';
import { findPlain, type Guard } from './vault/guard.ts';
import { tokenDigits } from './vault/look-alike.ts';
import type { SecretSummary } from './vault/secret-summary.ts';
import type { Seeds } from './vault/seeds.ts';
import { SessionVaults } from './vault/session-vaults.ts';
import {
  type KnownSecret,
  type NumberStore,
  type RevealedSecret,
  type SecretCall,
  type SecretUse,
  unknownSecret,
} from './vault/vault.ts';
import type { WorkspaceRules } from './workspace-rules.ts';

export type { SecretSummary } from './vault/secret-summary.ts';
export type { KnownSecret, SecretUse } from './vault/vault.ts';

interface Scrubbed<T> {
  value: T;
  /** Distinct, in order of first appearance in this answer. */
  secrets: readonly SecretUse[];
  /** What the daemon's patterns found and the first pass over the same text did not report. */
  missedByFirstPass: number;
  /** Per leaf in the order of `collectLeaves`: what was masked, in order of place. Offsets in the given text. */
  spans: readonly (readonly Finding[])[];
  /** The new places of `hints.ownLines`. */
  ownLines: OwnLines;
}

/** Where a line of contextd stands in a leaf, by the position of the leaf in the order of `collectLeaves`. */
export type OwnLines = ReadonlyMap<number, OwnLine>;

type ScrubbedAgain<T> = Pick<Scrubbed<T>, 'value' | 'secrets' | 'ownLines'>;

/** What is known about a value in advance. Both maps are by position of a leaf in the order of `collectLeaves`. */
export interface ScrubHints {
  /** What the tool's own process found; may cover only the first leaves. Default: nothing. */
  firstPass?: readonly (readonly Finding[])[];
  /** UTF-16 characters at both ends of a leaf that are searched but do not leave. Default: none. */
  margins?: ReadonlyMap<number, { before: number; after: number }>;
  /** What is shown of a leaf, if not all of it: the rest is searched and does not leave. Default: all. */
  parts?: ReadonlyMap<number, readonly ShownPart[]>;
  /** Lines that contextd wrote into a leaf: they stay as they are. Default: none. */
  ownLines?: OwnLines;
  /** The tool whose answer it is. Default: none. */
  tool?: string;
  /** The call whose answer it is. Default: none. */
  call?: SecretCall;
  /** Tokens whose values a program received: masked here however short they are. Default: none. */
  opened?: readonly string[];
  /** Names that contextd wrote itself: not searched, and kept as they are. Default: none. */
  own?: OwnLeaves;
}

/** Positions of leaves in the order of `collectLeaves`. */
export type OwnLeaves = ReadonlySet<number>;

/**
 * The second pass (design §3, step 6): searches every string that leaves, and is the only one that hands out tokens.
 */
export interface Scrubber {
  start(): Promise<void>;
  stop(): Promise<void>;
  /**
   * Masks the strings and object keys of a value, except `hints.own`. To be called once, on raw strings: text that
   * looks like a token is neutralised (see look-alike.ts), so a scrubbed value must not be scrubbed again. SCRUB_FAILED
   * on any fault.
   */
  scrub<T extends Json>(session: SessionRef, value: T, hints?: ScrubHints): Promise<Scrubbed<T>>;
  /**
   * Replaces tokens by what they stood for where the agent saw them (`form` "seen", the default, for files) or by the
   * plain value (for programs), and restores neutralised look-alikes. SECRET_UNKNOWN for an unknown number. The result
   * may only go into the sandbox.
   */
  openSecrets(session: SessionRef, text: string, form?: 'seen' | 'plain'): string;
  /**
   * Counts one opening of each token, or of none of them: SECRET_UNKNOWN for an unknown one, RATE_LIMITED if one was
   * opened `maxPerHour` times within the hour. Call it once per call, before `openSecrets`.
   */
  bookOpenings(session: SessionRef, tokens: readonly string[], maxPerHour: number): void;
  /** The tokens of this session that stand in a text, each once. */
  tokensIn(session: SessionRef, text: string): string[];
  /**
   * The tokens in a text whose numbers this session gave out, each once; after a restart of the daemon also those whose
   * values are no longer known.
   */
  issuedIn(session: SessionRef, text: string): Promise<string[]>;
  /** The value of a token and where it showed first, for a person alone. SECRET_UNKNOWN for an unknown token. */
  reveal(session: SessionRef, token: string): RevealedSecret;
  /** True once for each session: its first answer with a mask says how a person takes one back. */
  isFirstMask(session: SessionRef): boolean;
  /** The values that no person declared to be no secret. */
  secretsAmong<T extends KnownSecret>(session: SessionRef, values: readonly T[]): T[];
  /** Lists what the session's vault holds, by number, without values. Empty for an unknown session. */
  secrets(session: SessionRef): SecretSummary[];
  /**
   * Masks secrets of this session that turned out to be still in a value that `scrub` returned; they are known from now
   * on. Tokens in the value stay, and so do `own` and `ownLines` (default: nothing). SCRUB_FAILED on any fault.
   */
  scrubAgain<T extends Json>(
    session: SessionRef,
    value: T,
    missed: readonly KnownSecret[],
    hints?: Pick<ScrubHints, 'own' | 'ownLines'>,
  ): Promise<ScrubbedAgain<T>>;
  /** Masks log lines and error texts: patterns and the values of all sessions become "[SECRET]" without a number. */
  maskText(text: string): string;
  /** Masks several texts in the thread that searches outputs. Rejects if that fails. */
  maskTexts(texts: readonly string[]): Promise<string[]>;
  /** Drops the values of a session that is over. */
  forget(session: SessionRef): void;
}

export interface ScrubberDeps {
  scanner: Pick<Scanner, 'start' | 'stop' | 'scan'>;
  /** Used by maskText on the main thread; `deferEngine` makes it free until then. */
  engine: ScrubEngine;
  numbers: NumberStore;
  /** What the machine already knows is secret. Default: nothing. */
  seeds?: Seeds;
  /** What the file of a session's project does to the rules. Default: nothing. */
  workspaceRules?: (session: SessionRef) => Promise<WorkspaceRules | null>;
  /** What a person declared no secret, for a session's project. Default: nothing. */
  allowed?: (session: SessionRef) => Allowance | null;
  logger: Logger;
  clock: Clock;
}

export function createScrubber(deps: ScrubberDeps): Scrubber {
  return new SessionScrubber(deps);
}

const NO_MARGIN = { before: 0, after: 0 };
const NONE: OwnLeaves = new Set();
/** Milliseconds from which a scrub is reported as slow. */
const SLOW_MS = 1000;

class SessionScrubber implements Scrubber {
  readonly #deps: ScrubberDeps;
  readonly #vaults: SessionVaults;
  readonly #texts: TextMasker;

  constructor(deps: ScrubberDeps) {
    this.#deps = deps;
    this.#vaults = new SessionVaults(deps.numbers, deps.clock);
    const guards = (): Guard[] => [...this.#vaults.guards(), ...(deps.seeds?.guards() ?? [])];
    this.#texts = new TextMasker({ engine: deps.engine, scanner: deps.scanner, guards });
  }

  async start(): Promise<void> {
    await Promise.all([this.#deps.scanner.start(), this.#deps.seeds?.start()]);
  }

  async stop(): Promise<void> {
    this.#vaults.clear();
    await this.#deps.scanner.stop();
  }

  async scrub<T extends Json>(session: SessionRef, value: T, hints: ScrubHints = {}): Promise<Scrubbed<T>> {
    const { clock, logger } = this.#deps;
    const started = clock.monotonic();
    try {
      const vault = this.#vaults.of(session);
      const seeds = (await this.#deps.seeds?.guardsFor(session)) ?? [];
      const opened = openedValues(vault, hints.opened ?? []);
      const workspace = (await this.#deps.workspaceRules?.(session)) ?? null;
      const own = hints.own ?? NONE;
      const allowance = this.#deps.allowed?.(session) ?? null;
      const leaves = await findSecrets({ vault, seeds, opened, workspace, own, allowance }, value, this.#deps.scanner, {
        margins: hints.margins ?? new Map(),
        parts: hints.parts ?? new Map(),
      });
      const { extra, missed } = weighFirstPass(leaves, hints.firstPass ?? []);
      const secrets = new Map<string, SecretUse>();
      const masking: Masking = { vault, secrets, context: { tool: hints.tool, time: clock.now(), call: hints.call } };
      const texts: string[] = [];
      const movedLines = new Map<number, OwnLine>();
      const masked: Finding[][] = [];
      const given = collectLeaves(value);
      for (const [position, { text, spans }] of leaves.entries()) {
        const found = mergeFindings([...spans, ...withoutAllowed({ allowance, vault }, text, extra[position] ?? [])]);
        masked.push(found);
        if (own.has(position)) {
          texts.push(given[position] ?? '');
          continue;
        }
        const margin = hints.margins?.get(position) ?? NO_MARGIN;
        const [ownLine, parts] = [hints.ownLines?.get(position) ?? null, hints.parts?.get(position)];
        const leaf = await maskLeaf(masking, text, found, { margin, ownLine, parts });
        if (leaf.ownLine !== null) movedLines.set(position, leaf.ownLine);
        texts.push(leaf.text);
      }
      const durationMs = Math.round(clock.monotonic() - started);
      if (durationMs >= SLOW_MS) logger.warn('scrub.slow', { duration_ms: durationMs, leaves: leaves.length });
      // The same shape with other strings in it, which the type system cannot see.
      const scrubbed = replaceLeaves(value, texts) as T;
      return {
        value: scrubbed,
        secrets: [...secrets.values()],
        missedByFirstPass: missed,
        spans: masked,
        ownLines: movedLines,
      };
    } catch (thrown) {
      throw failClosed(thrown);
    }
  }

  async scrubAgain<T extends Json>(
    session: SessionRef,
    value: T,
    missed: readonly KnownSecret[],
    { own = NONE, ownLines = new Map() }: Pick<ScrubHints, 'own' | 'ownLines'> = {},
  ): Promise<ScrubbedAgain<T>> {
    try {
      const vault = this.#vaults.of(session);
      const allowance = this.#deps.allowed?.(session) ?? null;
      const secret = this.secretsAmong(session, missed);
      for (const { value: known, rule } of secret) vault.learn(known, rule);
      const seeds = (await this.#deps.seeds?.guardsFor(session)) ?? [];
      const secrets = new Map<string, SecretUse>();
      const masking: Masking = { vault, secrets, context: { time: this.#deps.clock.now() }, again: true };
      const texts: string[] = [];
      const movedLines = new Map<number, OwnLine>();
      for (const [position, text] of collectLeaves(value).entries()) {
        if (own.has(position)) {
          texts.push(text);
          continue;
        }
        const known = [...findPlain(text, secret), ...(await findKnown([vault.guard, ...seeds], text))];
        const spans = mergeFindings(withoutAllowed({ allowance, vault }, text, known));
        const ownLine = ownLines.get(position) ?? null;
        const leaf = await maskLeaf(masking, text, spans, { margin: NO_MARGIN, ownLine });
        if (leaf.ownLine !== null) movedLines.set(position, leaf.ownLine);
        texts.push(leaf.text);
      }
      // The same shape with other strings in it, which the type system cannot see.
      return { value: replaceLeaves(value, texts) as T, secrets: [...secrets.values()], ownLines: movedLines };
    } catch (thrown) {
      throw failClosed(thrown);
    }
  }

  openSecrets(session: SessionRef, text: string, form: 'seen' | 'plain' = 'seen'): string {
    return this.#vaults.open(session, text, form);
  }

  bookOpenings(session: SessionRef, tokens: readonly string[], maxPerHour: number): void {
    this.#vaults.book(session, tokens, maxPerHour);
  }

  tokensIn(session: SessionRef, text: string): string[] {
    return tokenDigits(text).flatMap((digits) =>
      this.#vaults.find(session)?.has(digits) ? [`[SECRET_${digits}]`] : [],
    );
  }

  async issuedIn(session: SessionRef, text: string): Promise<string[]> {
    const found = tokenDigits(text);
    if (found.length === 0) return [];
    const last = await this.#deps.numbers.last(session);
    return found
      .filter((digits) => !digits.startsWith('0') && Number(digits) <= last)
      .map((digits) => `[SECRET_${digits}]`);
  }

  reveal(session: SessionRef, token: string): RevealedSecret {
    const [digits = ''] = tokenDigits(token);
    const vault = this.#vaults.find(session);
    if (vault === undefined) throw unknownSecret(digits);
    return vault.reveal(digits);
  }

  isFirstMask(session: SessionRef): boolean {
    return this.#vaults.find(session)?.tellOnce() ?? false;
  }

  secretsAmong<T extends KnownSecret>(session: SessionRef, values: readonly T[]): T[] {
    const allowance = this.#deps.allowed?.(session) ?? null;
    return values.filter(({ value }) => allowance?.has(value) !== true);
  }

  secrets(session: SessionRef): SecretSummary[] {
    return this.#vaults.find(session)?.list() ?? [];
  }

  maskText(text: string): string {
    return this.#texts.mask(text);
  }

  maskTexts(texts: readonly string[]): Promise<string[]> {
    return this.#texts.maskAll(texts);
  }

  forget(session: SessionRef): void {
    this.#vaults.forget(session);
  }
}

/** No scrub, no output. The cause is for the log and never sent. */
function failClosed(thrown: unknown): ContextdError {
  if (thrown instanceof ContextdError && thrown.code === 'SCRUB_FAILED') return thrown;
  return new ContextdError('SCRUB_FAILED', 'the output was withheld: it could not be searched for secrets', {
    remedy: 'Call again. If it fails again, see `ctxd server logs`.',
    cause: thrown,
  });
}
