/** One part of a pattern: a literal, or any number of characters of one kind. */
export type PatternPart =
  | { readonly literal: string; readonly restarts: readonly number[] }
  | { accepts(codeUnit: number): boolean };

export function literalPart(literal: string): PatternPart {
  return { literal, restarts: restartsOf(literal) };
}

/**
 * Whether the parts one after the other can be the whole text, which is given as UTF-16 units. Reads each unit of the text
 * at most twice for each part, however long the literals are.
 */
export function matchesParts(parts: readonly PatternPart[], text: ArrayLike<number>): boolean {
  let reached = new Uint8Array(text.length + 1);
  reached[0] = 1;
  for (const part of parts) {
    reached = 'literal' in part ? afterLiteral(part, text, reached) : afterAny(part, text, reached);
    if (!reached.includes(1)) return false;
  }
  return reached[text.length] === 1;
}

type Reached = Uint8Array<ArrayBuffer>;
type Literal = Extract<PatternPart, { literal: string }>;

/** The search of Knuth, Morris and Pratt: an occurrence counts if a place where it begins was reached. */
function afterLiteral({ literal, restarts }: Literal, text: ArrayLike<number>, reached: Reached): Reached {
  const next = new Uint8Array(reached.length);
  let matched = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text[at];
    while (matched > 0 && (matched === literal.length || literal.charCodeAt(matched) !== unit))
      matched = restarts[matched - 1] ?? 0;
    if (literal.charCodeAt(matched) === unit) matched++;
    if (matched === literal.length && reached[at + 1 - matched] === 1) next[at + 1] = 1;
  }
  return next;
}

function afterAny({ accepts }: Exclude<PatternPart, Literal>, text: ArrayLike<number>, reached: Reached): Reached {
  const next = reached.slice();
  for (let at = 0; at < text.length; at++) if (next[at] === 1 && accepts(text[at] ?? 0)) next[at + 1] = 1;
  return next;
}

/** By the number of matched units less one: how many are still matched if the next unit differs. */
function restartsOf(literal: string): number[] {
  const restarts = [0];
  for (let at = 1, matched = 0; at < literal.length; at++) {
    while (matched > 0 && literal[at] !== literal[matched]) matched = restarts[matched - 1] ?? 0;
    if (literal[at] === literal[matched]) matched++;
    restarts.push(matched);
  }
  return restarts;
}
