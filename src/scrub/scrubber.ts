import type { SessionRef } from '../call/session.ts';
import type { Clock } from '../core/clock.ts';
import type { RateLimit } from '../core/envelope.ts';
import { ContextdError } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import type { Logger } from '../core/log.ts';
import { isCredential } from './credential.ts';
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
import { type RecalledNumbers, SessionVaults, type VaultsState } from './vault/session-vaults.ts';
import {
  type KnownSecret,
  type NumberStore,
  type RevealedSecret,
  type SecretCall,
  type SecretUse,
  unknownSecret,
  type Vault,
} from './vault/vault.ts';
import type { WorkspaceRules } from './workspace-rules.ts';

export type { SecretSummary } from './vault/secret-summary.ts';
export type { KnownSecret, SecretUse } from './vault/vault.ts';

interface Scrubbed<T> {
  value: T;
  /** Distinct, in order of first appearance in this answer. */
  secrets: readonly SecretUse[];
  /** Number of findings of the daemon's patterns that the first pass over the same text missed. */
  missedByFirstPass: number;
  /** Masked places per leaf, in the order of `collectLeaves`, sorted. Offsets in the original text. */
  spans: readonly (readonly Finding[])[];
  /** New positions of `hints.ownLines`. */
  ownLines: OwnLines;
}

/** Leaf index (order of `collectLeaves`) → position of contextd's own line in that leaf. */
export type OwnLines = ReadonlyMap<number, OwnLine>;

type ScrubbedAgain<T> = Pick<Scrubbed<T>, 'value' | 'secrets' | 'ownLines'>;

/** Facts about a value known in advance. Maps are keyed by leaf index (order of `collectLeaves`). */
export interface ScrubHints {
  /** Findings of the tool's own process; may cover only the first leaves. Default: none. */
  firstPass?: readonly (readonly Finding[])[];
  /** UTF-16 characters at both ends of a leaf that are searched but not returned. Default: none. */
  margins?: ReadonlyMap<number, { before: number; after: number }>;
  /** The shown parts of a leaf: the rest is searched but not returned. Default: everything is shown. */
  parts?: ReadonlyMap<number, readonly ShownPart[]>;
  /** Lines that contextd wrote into a leaf; kept unchanged. Default: none. */
  ownLines?: OwnLines;
  /** The tool that gave the answer. Default: none. */
  tool?: string;
  /** The call that gave the answer. Default: none. */
  call?: SecretCall;
  /** Tokens whose values a program received: masked here even if they are very short. Default: none. */
  opened?: readonly string[];
  /** Tokens of this session that the value may contain and keeps. Default: text like a token is plain text. */
  handed?: ReadonlySet<string>;
  /** Leaves that contextd wrote itself: neither searched nor changed. Default: none. */
  own?: OwnLeaves;
}

/** Leaf indexes in the order of `collectLeaves`. */
export type OwnLeaves = ReadonlySet<number>;

/** The second pass (ARCHITECTURE.md, step 6): searches every string that leaves the daemon. Only it issues tokens. */
export interface Scrubber {
  start(): Promise<void>;
  stop(): Promise<void>;
  /**
   * Masks the strings and object keys of a value, except `hints.own`. Call it once, on raw strings: text that looks
   * like a token is neutralised (see look-alike.ts), so scrubbed values must not be scrubbed again. Throws SCRUB_FAILED
   * on any error.
   */
  scrub<T extends Json>(session: SessionRef, value: T, hints?: ScrubHints): Promise<Scrubbed<T>>;
  /**
   * Replaces tokens by values and restores neutralised look-alikes. `form` "seen" (default, for files) inserts the
   * spelling that the agent saw, "plain" (for programs) the plain value. The result may only go into the sandbox.
   * Throws SECRET_UNKNOWN for an unknown number.
   */
  openSecrets(session: SessionRef, text: string, form?: 'seen' | 'plain'): string;
  /**
   * Counts one opening of each token; all or nothing. Call it once per call, before `openSecrets`. Throws
   * SECRET_UNKNOWN for an unknown token, RATE_LIMITED if a token was opened `maxPerHour` times within the hour. Returns what is
   * left for the token that was opened most; null without tokens.
   */
  bookOpenings(session: SessionRef, tokens: readonly string[], maxPerHour: number): RateLimit | null;
  /** Distinct tokens of this session in a text. */
  tokensIn(session: SessionRef, text: string): string[];
  /**
   * Distinct tokens in a text whose numbers were issued by this session. After a daemon restart this includes tokens
   * whose values are lost.
   */
  issuedIn(session: SessionRef, text: string): Promise<string[]>;
  /** Value and first occurrence of a token, for people only. Throws SECRET_UNKNOWN for an unknown token. */
  reveal(session: SessionRef, token: string): RevealedSecret;
  /** True once per session: the first answer with a mask says how a person takes a mask back. */
  isFirstMask(session: SessionRef): boolean;
  /**
   * Secrets of the session's answers since the last call that it could not remember: later answers mask them only where a
   * rule finds them.
   */
  unremembered(session: SessionRef): number;
  /** The values that a person has not declared harmless. */
  secretsAmong<T extends KnownSecret>(session: SessionRef, values: readonly T[]): T[];
  /** Secrets in the session's vault by number, without values. Empty for an unknown session. */
  secrets(session: SessionRef): SecretSummary[];
  /**
   * Masks secrets of this session that were found in the result of `scrub`, and remembers those that could be credentials by themselves. Keeps tokens, `own` and
   * `ownLines` (default: none). Throws SCRUB_FAILED on any error.
   */
  scrubAgain<T extends Json>(
    session: SessionRef,
    value: T,
    missed: readonly KnownSecret[],
    hints?: Pick<ScrubHints, 'own' | 'ownLines'>,
  ): Promise<ScrubbedAgain<T>>;
  /**
   * Masks log lines and error texts: pattern matches and the values of all sessions become an unnumbered "[SECRET]".
   */
  maskText(text: string): string;
  /** Masks several texts in the scan thread. Rejects if that fails. */
  maskTexts(texts: readonly string[]): Promise<string[]>;
  /** Drops the values of an ended session. */
  forget(session: SessionRef): void;
  /** The secrets of all sessions, for the next daemon alone: see `VaultState`. */
  vaults(): Promise<VaultsState>;
  /** Takes in the secrets of the daemon before. */
  restore(vaults: VaultsState): void;
}

export interface ScrubberDeps {
  scanner: Pick<Scanner, 'start' | 'stop' | 'scan'>;
  /** Used by `maskText` on the main thread. `deferEngine` makes it free until then. */
  engine: ScrubEngine;
  numbers: NumberStore;
  /** Default: the values of a new vault get new numbers. */
  recalled?: RecalledNumbers;
  /** Secrets already known on this machine. Default: none. */
  seeds?: Seeds;
  /** Changes to the rules by the project of a session. Default: none. */
  workspaceRules?: (session: SessionRef) => Promise<WorkspaceRules | null>;
  /** Values that a person declared harmless, for the project of a session. Default: none. */
  allowed?: (session: SessionRef) => Allowance | null;
  logger: Logger;
  clock: Clock;
}

export function createScrubber(deps: ScrubberDeps): Scrubber {
  return new SessionScrubber(deps);
}

const NO_MARGIN = { before: 0, after: 0 };
const NONE: OwnLeaves = new Set();
const NO_TOKENS: ReadonlySet<string> = new Set();
/** Milliseconds above which a scrub is logged as slow. */
const SLOW_MS = 1000;

class SessionScrubber implements Scrubber {
  readonly #deps: ScrubberDeps;
  readonly #vaults: SessionVaults;
  readonly #texts: TextMasker;

  constructor(deps: ScrubberDeps) {
    this.#deps = deps;
    this.#vaults = new SessionVaults(deps.numbers, deps.clock, deps.recalled);
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
      const context = { tool: hints.tool, time: clock.now(), call: hints.call };
      const masking: Masking = { vault, secrets, context, handed: hints.handed ?? NO_TOKENS };
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
      if (masking.handed !== 'all') noteHanded(vault, masking.handed, { texts, secrets });
      const durationMs = Math.round(clock.monotonic() - started);
      if (durationMs >= SLOW_MS) logger.warn('scrub.slow', { duration_ms: durationMs, leaves: leaves.length });
      // Same shape with different strings, which the type system cannot express.
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
      for (const { value: known, rule } of secret) if (isCredential(known)) vault.learn(known, rule);
      const seeds = (await this.#deps.seeds?.guardsFor(session)) ?? [];
      const secrets = new Map<string, SecretUse>();
      const masking: Masking = { vault, secrets, context: { time: this.#deps.clock.now() }, handed: 'all' };
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
      // Same shape with different strings, which the type system cannot express.
      return { value: replaceLeaves(value, texts) as T, secrets: [...secrets.values()], ownLines: movedLines };
    } catch (thrown) {
      throw failClosed(thrown);
    }
  }

  openSecrets(session: SessionRef, text: string, form: 'seen' | 'plain' = 'seen'): string {
    return this.#vaults.open(session, text, form);
  }

  bookOpenings(session: SessionRef, tokens: readonly string[], maxPerHour: number): RateLimit | null {
    return this.#vaults.book(session, tokens, maxPerHour);
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

  unremembered(session: SessionRef): number {
    return this.#vaults.find(session)?.unremembered() ?? 0;
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

  vaults(): Promise<VaultsState> {
    return this.#vaults.state();
  }

  restore(vaults: VaultsState): void {
    this.#vaults.restore(vaults);
  }
}

/** Adds tokens that the tool received earlier and that occur in this answer to its secrets. */
function noteHanded(
  vault: Vault,
  handed: ReadonlySet<string>,
  { texts, secrets }: { texts: readonly string[]; secrets: Map<string, SecretUse> },
): void {
  if (handed.size === 0) return;
  for (const { token, rule } of vault.list())
    if (handed.has(token) && !secrets.has(token) && texts.some((text) => text.includes(token)))
      secrets.set(token, { token, rule });
}

/** Fails closed: without a scrub there is no output. The cause is logged and never sent. */
function failClosed(thrown: unknown): ContextdError {
  if (thrown instanceof ContextdError && thrown.code === 'SCRUB_FAILED') return thrown;
  return new ContextdError('SCRUB_FAILED', 'the output was withheld: it could not be searched for secrets', {
    remedy: 'Call again. If it fails again, see `ctxd server logs`.',
    cause: thrown,
  });
}
