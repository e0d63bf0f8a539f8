/** The order of what a search found. Pure and deterministic. */
import { similarity } from './learn.ts';
import { telling } from './query.ts';

export interface Candidate {
  readonly id: string;
  /** Larger is better; comparable within one search only. */
  readonly relevance: number;
  /** From 0 to 1. */
  readonly confidence: number;
  readonly uses: number;
  readonly updatedMs: number;
  /** The installed tool that stored it; '' for all others. */
  readonly tool: string;
  /** Title, description and the beginning of the content. */
  readonly text: string;
}

/** Of candidates with this share of words in common, one is shown before all others. */
const REPEAT_FROM = 0.7;

/**
 * The best first: by relevance, which confidence moves by up to a fifth and use by up to a twentieth; then the newer, then
 * by id. Of candidates that say nearly the same, all but the best come after all others, and so do those of one tool
 * beyond a third of the places: no tool can crowd out the rest. At most `limit`.
 */
export function rank<T extends Candidate>(candidates: readonly T[], limit: number): T[] {
  const scored = candidates.map((candidate) => ({ candidate, score: scoreOf(candidate) }));
  scored.sort(
    (a, b) => b.score - a.score || b.candidate.updatedMs - a.candidate.updatedMs || byId(a.candidate, b.candidate),
  );
  return crowdsLast(
    scored.map(({ candidate }) => candidate),
    limit,
  );
}

function scoreOf({ relevance, confidence, uses }: Candidate): number {
  return relevance * (0.8 + 0.4 * confidence) * (1 + 0.05 * (1 - 1 / (1 + uses / 10)));
}

function byId(a: Candidate, b: Candidate): number {
  return a.id < b.id ? -1 : 1;
}

function crowdsLast<T extends Candidate>(ordered: readonly T[], limit: number): T[] {
  const shown: T[] = [];
  const words: ReadonlySet<string>[] = [];
  const repeats: T[] = [];
  const ofOneTool = Math.max(1, Math.floor(limit / 3));
  for (const candidate of ordered) {
    if (shown.length === limit) break;
    const own = telling(candidate.text);
    const isRepeat = words.some((other) => similarity(own, other) >= REPEAT_FROM);
    const isCrowding = candidate.tool !== '' && shown.filter(({ tool }) => tool === candidate.tool).length >= ofOneTool;
    if (isRepeat || isCrowding) repeats.push(candidate);
    else {
      shown.push(candidate);
      words.push(own);
    }
  }
  return [...shown, ...repeats].slice(0, limit);
}
