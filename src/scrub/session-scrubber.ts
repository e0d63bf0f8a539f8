import type { SessionRef } from '../call/session.ts';
import type { Clock } from '../core/clock.ts';
import type { RateLimit } from '../core/envelope.ts';
import { ContextdError } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import type { Logger } from '../core/log.ts';
import { isCredential } from './credential.ts';
import { type EarlyFindings, type EarlySearch, findSecrets, openedValues, withoutAllowed } from './find-secrets.ts';
import type { Finding } from './finding.ts';
import { weighFirstPass } from './first-pass.ts';
import type { ScrubEngine } from './hardened/engine.ts';
import { collectLeaves, collectNamed, replaceLeaves } from './leaves.ts';
import { type Masking, maskLeaf, type OwnLine } from './mask-leaf.ts';
import type { Scanner } from './scan/scanner.ts';
import type { OwnLeaves, Scrubbed, ScrubbedAgain, Scrubber, ScrubHints } from './scrubber.ts';
import { findKnown } from './shown-later.ts';
import { mergeFindings } from './spans.ts';
import { TextMasker } from './text-masker.ts';
import type { Allowance } from './vault/allowance.ts';
import { findPlain, type Guard } from './vault/guard.ts';
import { tokenDigits } from './vault/look-alike.ts';
import {
  type KnownSecret,
  type NumberStore,
  type RevealedSecret,
  type SecretUse,
  unknownSecret,
} from './vault/secret.ts';
import type { SecretSummary } from './vault/secret-summary.ts';
import type { Seeds } from './vault/seeds.ts';
import { type RecalledNumbers, SessionVaults, type VaultsState } from './vault/session-vaults.ts';
import type { Vault } from './vault/vault.ts';
import type { WorkspaceRules } from './workspace-rules.ts';

export interface ScrubberDeps {
  /** Without `scanEarly` nothing is searched early. */
  scanner: Pick<Scanner, 'start' | 'stop' | 'scan'> & Partial<Pick<Scanner, 'scanEarly'>>;
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
        early: hints.early ?? null,
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

  searchEarly(session: SessionRef, value: Json): EarlySearch {
    const texts = collectNamed(value);
    const search = async (): Promise<EarlyFindings | null> => {
      const workspace = (await this.#deps.workspaceRules?.(session)) ?? null;
      const findings = await this.#deps.scanner.scanEarly?.(texts, workspace);
      return findings == null ? null : { workspace, findings };
    };
    const found = search();
    // A call that fails does not use it. One that does gets the failure from the promise itself.
    found.catch(() => {});
    return { texts, found };
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
