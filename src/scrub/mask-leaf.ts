import type { Finding } from './finding.ts';
import { escapeLookAlikes, UNNUMBERED } from './vault/look-alike.ts';
import type { SecretContext, SecretUse, Vault } from './vault/vault.ts';

/** Most places of one string whose surroundings are remembered; later ones are distinguished by those. */
const MAX_REMEMBERED = 500;

/** Whose answer is being masked, and what was found in it so far. */
export interface Masking {
  vault: Vault;
  context: Pick<SecretContext, 'tool' | 'time'>;
  /** By token, in order of appearance; filled here. */
  secrets: Map<string, SecretUse>;
  /** The text was masked before: what looks like a token is one. Default: look-alikes are neutralised. */
  again?: boolean;
}

/** A secret that the edge of the margin cuts is masked as a whole: its token stands for all of it. */
export async function maskLeaf(
  { vault, context, secrets, again }: Masking,
  text: string,
  spans: readonly Finding[],
  margin: { before: number; after: number },
): Promise<string> {
  const from = margin.before;
  const to = text.length - margin.after;
  const shown: Finding[] = [];
  const uses: { token: string; spelling: string }[] = [];
  for (const { rule, start, end, of } of spans) {
    if (end <= from || start >= to) continue;
    const spelling = text.slice(start, end);
    const use = await vault.use(spelling, rule, { ...context, of });
    secrets.set(use.token === UNNUMBERED ? `${use.token} ${use.rule}` : use.token, use);
    uses.push({ token: use.token, spelling });
    shown.push({ rule, start: Math.max(start, from) - from, end: Math.min(end, to) - from });
  }
  const starts: number[] = [];
  const masked = replaceSpans(text.slice(from, to), shown, {
    tokenAt: (position) => uses[position]?.token ?? UNNUMBERED,
    ...(again === true ? {} : { outside: escapeLookAlikes }),
    placed: (start) => starts.push(start),
  });
  for (const [position, { token, spelling }] of uses.slice(0, MAX_REMEMBERED).entries())
    if (token !== UNNUMBERED) vault.rememberPlace(token, spelling, masked, starts[position] ?? 0);
  return masked;
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
