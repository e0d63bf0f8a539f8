import type { Json } from '../core/json.ts';
import type { Finding } from './finding.ts';
import type { ScannedLeaf } from './first-pass.ts';
import { collectNamed } from './leaves.ts';
import type { Scanner } from './scan/scanner.ts';
import { findKnown, inSlices, moved, shownAlone } from './shown-later.ts';
import { type ShownPart, ShownTogether } from './shown-parts.ts';
import { mergeFindings } from './spans.ts';
import type { Allowance } from './vault/allowance.ts';
import { findPlain, type Guard, type PlainValue } from './vault/guard.ts';
import { tokenDigits } from './vault/look-alike.ts';
import type { KnownSecret, Vault } from './vault/vault.ts';
import type { WorkspaceRules } from './workspace-rules.ts';

/** What is known before a text is looked at. */
export interface Known {
  vault: Vault;
  seeds: readonly Guard[];
  opened: readonly PlainValue[];
  workspace: WorkspaceRules | null;
  /** Positions of leaves that contextd wrote itself: they are not searched. */
  own: ReadonlySet<number>;
  allowance: Allowance | null;
}

/** What of each leaf leaves, by position; by default all of it. */
interface LeavingParts {
  margins: ReadonlyMap<number, { before: number; after: number }>;
  parts: ReadonlyMap<number, readonly ShownPart[]>;
}

/**
 * Finds every secret in the strings and keys of a value. The patterns run over everything first, so that the guard knows a
 * secret found in one string in all others.
 */
export async function findSecrets(
  { vault, seeds, opened, workspace, own, allowance }: Known,
  value: Json,
  scanner: Pick<Scanner, 'scan'>,
  { margins, parts }: LeavingParts,
): Promise<ScannedLeaf[]> {
  // An own leaf counts as empty: nothing is found in it or learned from it, and no first pass can claim it.
  const named = collectNamed(value).map((leaf, position) => (own.has(position) ? { ...leaf, text: '' } : leaf));
  const texts = named.map(({ text }) => text);
  const shown = shownAlone(texts, margins);
  const scanned = await scanner.scan(
    [...named, ...shown.map(({ position, text }) => ({ name: named[position]?.name, text }))],
    workspace,
  );
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
      // A secret may be known in pieces that only stand together where they are shown.
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

/** Without what a person declared to be no secret. */
export function withoutAllowed<T extends Finding>(
  { allowance, vault }: Pick<Known, 'allowance' | 'vault'>,
  text: string,
  findings: readonly T[],
): readonly T[] {
  return allowance === null ? findings : allowance.without(text, findings, (value) => vault.innerOf(value));
}

function* secretsIn(texts: readonly string[], found: readonly (readonly Finding[])[]): Generator<KnownSecret> {
  for (const [position, text] of texts.entries())
    for (const { rule, start, end, inner } of found[position] ?? [])
      yield { value: text.slice(start, end), rule, inner };
}

/** The values of tokens, to be masked however short they are. */
export function openedValues(vault: Vault, tokens: readonly string[]): PlainValue[] {
  const digits = [...new Set(tokens.flatMap(tokenDigits))].filter((one) => vault.has(one));
  return digits.map((one) => ({ value: vault.open(one), rule: 'opened' }));
}
