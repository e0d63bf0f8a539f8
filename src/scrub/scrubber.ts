import type { SessionRef } from '../call/session.ts';
import type { RateLimit } from '../core/envelope.ts';
import type { Json } from '../core/json.ts';
import type { EarlySearch } from './find-secrets.ts';
import type { Finding } from './finding.ts';
import type { OwnLine } from './mask-leaf.ts';
import type { ShownPart } from './shown-parts.ts';
import type { KnownSecret, RevealedSecret, SecretCall, SecretUse } from './vault/secret.ts';
import type { SecretSummary } from './vault/secret-summary.ts';
import type { VaultsState } from './vault/session-vaults.ts';

export type { KnownSecret, SecretUse } from './vault/secret.ts';
export type { SecretSummary } from './vault/secret-summary.ts';

export interface Scrubbed<T> {
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

export type ScrubbedAgain<T> = Pick<Scrubbed<T>, 'value' | 'secrets' | 'ownLines'>;

/** Facts about a value known in advance. Maps are keyed by leaf index (order of `collectLeaves`). */
export interface ScrubHints {
  /** Findings of the tool's own process; may cover only the first leaves. Default: none. */
  firstPass?: readonly (readonly Finding[])[];
  /** What `searchEarly` returned for the first strings of the value. Default: none. */
  early?: EarlySearch | null;
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
   * Searches the strings of a value with the patterns, before `scrub` is called with a value that begins with them. Does nothing
   * if that would make others wait.
   */
  searchEarly(session: SessionRef, value: Json): EarlySearch;
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
