import type { Json } from '../core/json.ts';
import { isCredential } from './credential.ts';
import type { Finding } from './finding.ts';
import type { ScannedLeaf } from './first-pass.ts';
import { collectNamed, type NamedText } from './leaves.ts';
import type { Scanner } from './scan/scanner.ts';
import { findKnown, inSlices, moved, shownAlone } from './shown-later.ts';
import { type ShownPart, ShownTogether } from './shown-parts.ts';
import { mergeFindings } from './spans.ts';
import type { Allowance } from './vault/allowance.ts';
import { findPlain, type Guard, type PlainValue } from './vault/guard.ts';
import { tokenDigits } from './vault/look-alike.ts';
import type { KnownSecret } from './vault/secret.ts';
import type { Vault } from './vault/vault.ts';
import type { WorkspaceRules } from './workspace-rules.ts';

/** Knowledge that precedes the search. */
export interface Known {
  vault: Vault;
  seeds: readonly Guard[];
  opened: readonly PlainValue[];
  workspace: WorkspaceRules | null;
  /** Indexes of leaves that contextd wrote itself; not searched. */
  own: ReadonlySet<number>;
  allowance: Allowance | null;
}

/** A search of the first strings of a value, which began before the others were known. */
export interface EarlySearch {
  readonly texts: readonly NamedText[];
  /** Null: there was no room for it. */
  readonly found: Promise<EarlyFindings | null>;
}

export interface EarlyFindings {
  readonly workspace: WorkspaceRules | null;
  readonly findings: readonly (readonly Finding[])[];
}

/** What is known of the value. The returned parts are by leaf index; default: the whole leaf. */
interface ValueFacts {
  margins: ReadonlyMap<number, { before: number; after: number }>;
  parts: ReadonlyMap<number, readonly ShownPart[]>;
  /** Default: none. */
  early?: EarlySearch | null;
}

/**
 * Finds every secret in the strings and keys of a value. The patterns run over everything first, so that the guard
 * finds a secret from one string in all others.
 */
export async function findSecrets(
  { vault, seeds, opened, workspace, own, allowance }: Known,
  value: Json,
  scanner: Pick<Scanner, 'scan'>,
  { margins, parts, early = null }: ValueFacts,
): Promise<ScannedLeaf[]> {
  // An own leaf counts as empty, so nothing is found in it or learned from it, and a first pass cannot claim findings
  // in it.
  const named = collectNamed(value).map((leaf, position) => (own.has(position) ? { ...leaf, text: '' } : leaf));
  const texts = named.map(({ text }) => text);
  const shown = shownAlone(texts, margins);
  const shownNamed = shown.map(({ position, text }) => ({ name: named[position]?.name, text }));
  const scanned = await scanRest([...named, ...shownNamed], workspace, scanner, early);
  const all = scanned.slice(0, named.length).map((findings) => [...findings]);
  for (const [index, { position, before }] of shown.entries())
    all[position]?.push(...moved(scanned[named.length + index] ?? [], before));
  const found = all.map((findings, position) => withoutAllowed({ allowance, vault }, texts[position] ?? '', findings));
  await inSlices(vault.learnAll(secretsIn(texts, found)));
  const leaves: ScannedLeaf[] = [];
  for (const [position, text] of texts.entries()) {
    const byPattern = found[position] ?? [];
    const known: Finding[] = await findKnown([vault.guard, ...seeds], text);
    for (const alone of shown.filter((one) => one.position === position))
      known.push(...moved(await findKnown([vault.guard, ...seeds], alone.text), alone.before));
    const shownParts = parts.get(position);
    if (shownParts !== undefined) {
      // A secret may be known in pieces that are adjacent only in the shown text.
      const together = new ShownTogether(text, shownParts);
      for (const hit of await findKnown([vault.guard, ...seeds], together.text))
        known.push(...together.inOriginal(hit));
    }
    leaves.push({
      text,
      found: byPattern,
      allowed: all[position]?.filter((finding) => !byPattern.includes(finding)) ?? [],
      spans: mergeFindings(
        withoutAllowed({ allowance, vault }, text, [...byPattern, ...known, ...findPlain(text, opened)]),
      ),
    });
  }
  return leaves;
}

/** Scans the texts that an early search did not scan in the same way. */
async function scanRest(
  texts: readonly NamedText[],
  workspace: WorkspaceRules | null,
  scanner: Pick<Scanner, 'scan'>,
  early: EarlySearch | null,
): Promise<readonly (readonly Finding[])[]> {
  const found = await early?.found;
  if (early === null || found == null || found.workspace?.key !== workspace?.key) return scanner.scan(texts, workspace);
  const isDone = ({ text, name }: NamedText, at: number): boolean =>
    early.texts[at]?.text === text && early.texts[at]?.name === name;
  const rest = await scanner.scan(
    texts.filter((one, at) => !isDone(one, at)),
    workspace,
  );
  const left = rest.values();
  return texts.map((one, at) => (isDone(one, at) ? found.findings[at] : left.next().value) ?? []);
}

/** Drops findings that a person declared harmless. */
export function withoutAllowed<T extends Finding>(
  { allowance, vault }: Pick<Known, 'allowance' | 'vault'>,
  text: string,
  findings: readonly T[],
): readonly T[] {
  return allowance === null ? findings : allowance.without(text, findings, (value) => vault.innerOf(value));
}

/**
 * What the session remembers: a value that only its place makes a secret stands for something else in other places, unless it
 * could be a credential by itself.
 */
function* secretsIn(texts: readonly string[], found: readonly (readonly Finding[])[]): Generator<KnownSecret> {
  for (const [position, text] of texts.entries())
    for (const { rule, start, end, inner, byPlace } of found[position] ?? []) {
      const value = text.slice(start, end);
      if (byPlace !== true || isCredential(value)) yield { value, rule, inner };
    }
}

/** Values of tokens, to be masked even if they are very short. */
export function openedValues(vault: Vault, tokens: readonly string[]): PlainValue[] {
  const digits = [...new Set(tokens.flatMap(tokenDigits))].filter((one) => vault.has(one));
  return digits.map((one) => ({ value: vault.open(one), rule: 'opened' }));
}
