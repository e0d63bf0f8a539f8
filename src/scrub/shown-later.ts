import { setImmediate } from 'node:timers/promises';
import type { ViewOf } from '../text/offset-map.ts';
import { resolvedView, withoutStyling } from '../text/resolved-view.ts';
import type { Finding } from './finding.ts';
import { withoutTerminalCodes } from './hardened/views/display.ts';
import { uudecoded } from './hardened/views/dumps.ts';
import { highBytesFirst, lowBytesFirst, withSwallowedLetters } from './hardened/views/misread.ts';
import { hiddenLetters } from './hardened/views/pieces.ts';
import { Guard, type GuardHit } from './vault/guard.ts';

/**
 * The ways in which a later step may show a text, those to undo a decoding that was not right, and those of which a value
 * has no form that could be looked for: lines of uuencode, characters that nothing shows.
 */
const SHOWN_AS: readonly ViewOf[] = [
  resolvedView,
  withoutStyling,
  withoutTerminalCodes,
  lowBytesFirst,
  highBytesFirst,
  withSwallowedLetters,
  uudecoded,
  hiddenLetters,
];

/** Finds known values in a text as it is, as a terminal or a later step would show it, and in the bytes it may come from. */
export async function findKnown(guards: readonly Guard[], text: string): Promise<GuardHit[]> {
  const found = await guardScan(guards, text);
  const seen = new Set([text]);
  for (const showAs of SHOWN_AS) {
    const shown = showAs(text);
    if (shown === null || seen.has(shown.text)) continue;
    seen.add(shown.text);
    for (const hit of await guardScan(guards, shown.text)) {
      const place = shown.toOriginal(hit.start, hit.end);
      if (place !== null) found.push({ ...hit, ...place });
    }
  }
  return found;
}

function guardScan(guards: readonly Guard[], text: string): Promise<GuardHit[]> {
  return inSlices(Guard.search(guards, text));
}

/** Runs work that yields every few milliseconds, and lets others use the thread whenever it does. */
export async function inSlices<Result>(work: Generator<void, Result, void>): Promise<Result> {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    await setImmediate();
  }
}

/** The part of a leaf between its margins. */
interface ShownAlone {
  position: number;
  text: string;
  before: number;
}

/**
 * The leaves whose lines a terminal would assemble in another way without their margins: later steps show them without, so
 * they are searched without too.
 */
export function shownAlone(
  texts: readonly string[],
  margins: ReadonlyMap<number, { before: number; after: number }>,
): ShownAlone[] {
  return [...margins].flatMap(([position, { before, after }]) => {
    const whole = texts[position] ?? '';
    const text = whole.slice(before, whole.length - after);
    return resolvedView(text) === null ? [] : [{ position, text, before }];
  });
}

export function moved<T extends Finding>(findings: readonly T[], by: number): T[] {
  return findings.map((finding) => ({ ...finding, start: finding.start + by, end: finding.end + by }));
}
