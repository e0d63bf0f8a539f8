/** Lines under a head, the most important first. */
export interface WarmSection {
  /** '' for lines without a head. */
  readonly head: string;
  readonly lines: readonly string[];
  /** Tokens that it may have at least. */
  readonly share: number;
}

/**
 * The text of all sections within the sum of their shares. What one section leaves, the next may use, and what all leave, the
 * first ones. A section says how many lines it has no room for.
 */
export function fitSections(sections: readonly WarmSection[], costOf: (line: string) => number): string {
  const fitted = sections.filter(({ lines }) => lines.length > 0).map((section) => new FittedSection(section, costOf));
  let left = 0;
  for (const section of sections) {
    left += section.share;
    left -= fitted.find((one) => one.section === section)?.grow(left) ?? 0;
  }
  for (const section of fitted) left -= section.grow(left);
  return fitted
    .flatMap((section) => section.text())
    .map((line) => `${line}\n`)
    .join('');
}

class FittedSection {
  readonly section: WarmSection;
  readonly #costOf: (line: string) => number;
  #shown = -1;
  #linesCost = 0;

  constructor(section: WarmSection, costOf: (line: string) => number) {
    this.section = section;
    this.#costOf = costOf;
  }

  /** Takes as many of its next lines as there is room for. Returns the tokens that this costs. */
  grow(room: number): number {
    const before = this.#cost(this.#shown, this.#linesCost);
    const { lines } = this.section;
    let cost = this.#linesCost;
    for (let count = this.#shown + 1; count <= lines.length; count += 1) {
      const line = lines[count - 1];
      if (line !== undefined) cost += this.#costOf(line);
      // Its lines alone have no room any more. The last line may cost less than to say that there is one more.
      if (cost - before > room) break;
      if (this.#cost(count, cost) - before > room) continue;
      [this.#shown, this.#linesCost] = [count, cost];
    }
    return this.#cost(this.#shown, this.#linesCost) - before;
  }

  text(): string[] {
    const { head, lines } = this.section;
    if (this.#shown < 0) return [];
    const rest = lines.length - this.#shown;
    return [...(head === '' ? [] : [head]), ...lines.slice(0, this.#shown), ...(rest === 0 ? [] : [more(rest)])];
  }

  /** `shown`: -1 for nothing at all, not even the head. */
  #cost(shown: number, linesCost: number): number {
    if (shown < 0) return 0;
    const { head, lines } = this.section;
    const rest = lines.length - shown;
    return linesCost + (head === '' ? 0 : this.#costOf(head)) + (rest === 0 ? 0 : this.#costOf(more(rest)));
  }
}

function more(count: number): string {
  return `- ${count} more`;
}
