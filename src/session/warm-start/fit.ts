/** Lines under a head, the most important first. */
export interface WarmSection {
  /** '' for lines without a head. */
  readonly head: string;
  readonly lines: readonly string[];
  /** Tokens that it may have at least; what one section leaves, the next may use. */
  readonly share: number;
}

/** The text of all sections within the sum of their shares; a section says how many lines it has no room for. */
export function fitSections(sections: readonly WarmSection[], costOf: (line: string) => number): string {
  const lines: string[] = [];
  let left = 0;
  for (const { head, lines: wanted, share } of sections) {
    left += share;
    if (wanted.length === 0) continue;
    const own: string[] = head === '' ? [] : [head];
    let room = left - own.reduce((sum, line) => sum + costOf(line), 0) - costOf(more(wanted.length));
    for (const line of wanted) {
      const cost = costOf(line);
      if (cost > room) break;
      room -= cost;
      own.push(line);
    }
    const shown = own.length - (head === '' ? 0 : 1);
    if (shown === 0) continue;
    if (shown < wanted.length) own.push(more(wanted.length - shown));
    left -= own.reduce((sum, line) => sum + costOf(line), 0);
    lines.push(...own);
  }
  return lines.map((line) => `${line}\n`).join('');
}

function more(count: number): string {
  return `- ${count} more`;
}
