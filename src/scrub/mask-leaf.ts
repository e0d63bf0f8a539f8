import { setImmediate } from 'node:timers/promises';
import { firstIndex } from '../text/binary-search.ts';
import type { Finding } from './finding.ts';
import type { ShownPart } from './shown-parts.ts';
import { escapeLookAlikes, UNNUMBERED } from './vault/look-alike.ts';
import type { SecretContext, SecretUse } from './vault/secret.ts';
import type { Vault } from './vault/vault.ts';

/** How often a text is masked again with tokens of their own for some places; then every place that may need one gets one. */
const MAX_ROUNDS = 3;

/** Spans that get their tokens between two pauses: some milliseconds. */
const SPANS_AT_ONCE = 2000;

/** Whose answer is being masked, and what was found in it so far. */
export interface Masking {
  vault: Vault;
  context: Pick<SecretContext, 'tool' | 'time' | 'call'>;
  /** By token, in order of appearance; filled here. */
  secrets: Map<string, SecretUse>;
  /** Tokens that may stand in the text: other text that looks like one is neutralised. `all`: the text was masked before. */
  handed: ReadonlySet<string> | 'all';
}

/** The place of a line of contextd in a text: UTF-16 offsets. The line is not masked. */
export interface OwnLine {
  start: number;
  end: number;
}

/** What of a text is searched but not shown, and what in it contextd wrote itself. */
export interface LeafPlaces {
  margin: { before: number; after: number };
  ownLine: OwnLine | null;
  /** What is shown of the text, if not all between the margins. Default: all of it. */
  parts?: readonly ShownPart[] | undefined;
}

/**
 * A secret that the edge of the margin cuts, or that lies around the line of contextd, is masked as a whole: its token
 * stands for all of it. Returns the masked text, and the new place of the line of contextd.
 */
export async function maskLeaf(
  { vault, context, secrets, handed }: Masking,
  text: string,
  spans: readonly Finding[],
  { margin, ownLine, parts }: LeafPlaces,
): Promise<{ text: string; ownLine: OwnLine | null }> {
  const uses: Use[] = [];
  const isShown = parts === undefined ? () => true : (span: Finding) => touches(parts, span);
  for (const [position, span] of spans.entries()) {
    const { rule, start, end, of } = span;
    if (position % SPANS_AT_ONCE === SPANS_AT_ONCE - 1) await setImmediate();
    if (end <= margin.before || start >= text.length - margin.after || !isShown(span)) continue;
    if (ownLine !== null && start >= ownLine.start && end <= ownLine.end) continue;
    const spelling = text.slice(start, end);
    const use = await vault.use(spelling, rule, { ...context, of });
    uses.push({ ...use, spelling, found: rule, of, start, end, placedAt: null });
  }
  const outside = (part: string): string => (handed === 'all' ? part : escapeLookAlikes(part, handed));
  for (let round = 0; ; round++) {
    const masked = maskWith(text, uses, { margin, ownLine, parts, outside });
    const refused = uses.filter((use) => !isTaken(vault, use, masked.text));
    if (refused.length === 0) {
      for (const { token, rule } of uses)
        secrets.set(token === UNNUMBERED ? `${token} ${rule}` : token, { token, rule });
      return masked;
    }
    const apart =
      round < MAX_ROUNDS ? refused : uses.filter((use) => refused.includes(use) || vault.isAmbiguous(use.token));
    for (const use of apart)
      Object.assign(use, await vault.useApart(use.spelling, use.found, { ...context, of: use.of }));
  }
}

/** Whether a file that holds this part of the masked text gets the same spelling again. */
function isTaken(vault: Vault, { token, spelling, placedAt }: Use, masked: string): boolean {
  return token === UNNUMBERED || placedAt === null || vault.take(token, spelling, masked, placedAt);
}

interface Places extends LeafPlaces {
  /** Applied to the text between the secrets. */
  outside(text: string): string;
}

function maskWith(
  text: string,
  uses: readonly Use[],
  { margin, ownLine, parts, outside }: Places,
): { text: string; ownLine: OwnLine | null } {
  const [from, to] = [margin.before, text.length - margin.after];
  for (const use of uses) use.placedAt = null;
  const mask = (start: number, end: number, offset: number) =>
    maskPart(text, { start, end }, uses, { outside, offset });
  const head = parts === undefined ? mask(from, ownLine?.start ?? to, 0) : maskParts(parts, mask);
  if (ownLine === null) return { text: head, ownLine: null };
  const line = { start: head.length, end: head.length + ownLine.end - ownLine.start };
  const masked = head + text.slice(ownLine.start, ownLine.end) + mask(ownLine.end, to, line.end);
  return { text: masked, ownLine: line };
}

function touches(parts: readonly ShownPart[], { start, end }: Finding): boolean {
  for (let at = firstIndex(0, parts.length, (index) => (parts[index]?.end ?? 0) > start); at < parts.length; at++) {
    const part = parts[at];
    if (part === undefined || part.start >= end) return false;
    if (part.start < part.end) return true;
  }
  return false;
}

/** A cut between two parts may split a pair of surrogates. */
function maskParts(parts: readonly ShownPart[], mask: (start: number, end: number, offset: number) => string): string {
  const pieces: string[] = [];
  let length = 0;
  for (const { start, end, label } of parts) {
    length += label.length;
    const masked = start === end ? '' : mask(start, end, length).toWellFormed();
    pieces.push(label, masked);
    length += masked.length;
  }
  return pieces.join('');
}

/** A secret in a text, and where its token stands in the masked text. */
interface Use extends Finding, SecretUse {
  spelling: string;
  /** The rule that found it here. */
  found: string;
  placedAt: number | null;
}

/** Masks the part of a text that `offset` characters of masked text precede. */
function maskPart(
  text: string,
  part: { start: number; end: number },
  uses: readonly Use[],
  { outside, offset }: { outside(text: string): string; offset: number },
): string {
  const first = firstIndex(0, uses.length, (index) => (uses[index]?.end ?? 0) > part.start);
  const last = firstIndex(first, uses.length, (index) => (uses[index]?.start ?? 0) >= part.end);
  const inside = uses.slice(first, last);
  const shown = inside.map(({ rule, start, end }) => ({
    rule,
    start: Math.max(start, part.start) - part.start,
    end: Math.min(end, part.end) - part.start,
  }));
  let placed = 0;
  return replaceSpans(text.slice(part.start, part.end), shown, {
    tokenAt: (position) => inside[position]?.token ?? UNNUMBERED,
    outside,
    placed: (start) => {
      const use = inside[placed];
      placed += 1;
      if (use !== undefined) use.placedAt ??= offset + start;
    },
  });
}

interface Replacing {
  tokenAt(position: number): string;
  /** Applied to the text between the spans. Default: it stays. */
  outside?(text: string): string;
  /** Called with the offset of each token in the result. */
  placed?(start: number): void;
}

/** Puts a token in the place of each span; they are in order of place and free of overlaps. */
export function replaceSpans(text: string, spans: readonly Finding[], how: Replacing): string {
  const outside = how.outside ?? ((part: string) => part);
  let result = '';
  let from = 0;
  for (const [position, { start, end }] of spans.entries()) {
    result += outside(text.slice(from, start));
    how.placed?.(result.length);
    result += how.tokenAt(position);
    from = end;
  }
  return result + outside(text.slice(from));
}
