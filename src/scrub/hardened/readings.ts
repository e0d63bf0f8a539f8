import type { View, ViewOf } from '../../text/offset-map.ts';
import { resolvedView, withoutStyling } from '../../text/resolved-view.ts';
import { commandLines } from './views/arguments.ts';
import { base32Decoded, base64Decoded, hexDecoded, inflated, turnedRound } from './views/blobs.ts';
import { undecorated, wordsAfter, wordsBefore } from './views/decorations.ts';
import { inPlainLetters, overlaidLines, withoutInvisible, withoutTerminalCodes } from './views/display.ts';
import { ascii85Decoded, dumpsRead, uudecoded } from './views/dumps.ts';
import { percentDecoded, quotedPrintableDecoded, unescaped, withoutEntities } from './views/escapes.ts';
import { joinedStrings, unwrapped, withoutSpacing } from './views/joints.ts';
import { highBytesFirst, lowBytesFirst, withSwallowedLetters } from './views/misread.ts';
import { hiddenLetters, numberedPieces, piecesInColumns, withoutHomoglyphs, withoutTags } from './views/pieces.ts';

/** A view of a text and how it was made. */
export interface Reading {
  /** Offsets are of the text that it is a view of: the text of `inner`. */
  view: View;
  /** The reading that this one reads further. Null: the text itself. */
  inner: Reading | null;
  /** In order: what was done to the text. */
  kinds: readonly ViewKind[];
}

/** Most views on top of each other. */
const MAX_KINDS = 4;
/** Most characters of all views together: this many times the text, and at least this many. */
const BUDGET_SHARE = 2;
const MIN_BUDGET_CHARS = 262_144;

/**
 * Returns the ways to read a text besides the plain one: views of the text before views of views, small ones before
 * large ones. A text made to have many large views is not read in all of them.
 */
export function* readingsOf(text: string): Generator<Reading> {
  let budget = Math.max(MIN_BUDGET_CHARS, BUDGET_SHARE * text.length);
  let level: Reading[] = [];
  for (let depth = 0; depth < MAX_KINDS && (depth === 0 || level.length > 0); depth++) {
    const next = (
      depth === 0 ? readFurther(text, null) : level.flatMap((inner) => readFurther(inner.view.text, inner))
    ).sort(byUrgency);
    level = [];
    const seen = new Set<string>();
    for (const reading of next) {
      // The order in which the same views were made often makes no difference.
      const same = `${identityOf(reading)} ${reading.view.text}`;
      if (seen.has(same)) continue;
      seen.add(same);
      if (!isAlwaysRead(reading)) budget -= reading.view.text.length;
      if (budget < 0) return;
      yield reading;
      level.push(reading);
    }
  }
}

/** The same for readings that may be read further in the same ways, and whose findings are believed in the same way. */
function identityOf({ kinds }: Reading): string {
  const used = kinds.map((kind) => VIEW_KINDS.indexOf(kind)).sort((a, b) => a - b);
  return `${used.join()} ${kinds.at(-1)?.layer}`;
}

function byUrgency(a: Reading, b: Reading): number {
  return Number(isAlwaysRead(b)) - Number(isAlwaysRead(a)) || a.view.text.length - b.view.text.length;
}

/** This holds for the text itself, not for what is decoded from it. */
function isAlwaysRead({ kinds }: Reading): boolean {
  return kinds.length === 1 && kinds[0]?.isAlwaysRead === true;
}

function readFurther(text: string, inner: Reading | null): Reading[] {
  const kinds = inner?.kinds ?? [];
  return VIEW_KINDS.flatMap((kind) => {
    const view = mayFollow(kinds, kind) ? kind.of(text) : null;
    return view === null ? [] : [{ view, inner, kinds: [...kinds, kind] }];
  });
}

const LAYERS: readonly ViewKind['layer'][] = ['display', 'escape', 'joint', 'code'];

function mayFollow(kinds: readonly ViewKind[], kind: ViewKind): boolean {
  const last = kinds.at(-1);
  if (last === undefined) return true;
  if (kinds.filter((used) => used === kind).length >= kind.times) return false;
  if (last.layer === 'escape' || last.layer === 'code') return true;
  return LAYERS.indexOf(kind.layer) >= LAYERS.indexOf(last.layer);
}

interface ViewKind {
  of: ViewOf;
  /** A view of a view must be of the same layer or a deeper one; unescaped or decoded text may hold any layer. */
  layer: 'display' | 'escape' | 'joint' | 'code';
  /** How often this view may occur in a chain of views. */
  times: number;
  /**
   * Whether ordinary text can look like a secret in this view, so that only findings with a mark of their own count.
   */
  needsMark: boolean;
  /**
   * Whether a value without a mark counts only if it has no letters of Chinese, Japanese or Korean: a text in these
   * languages gives a few random characters in this view. Default false.
   */
  isDecoded?: boolean;
  /**
   * Read even if the budget is spent: a later step may show the text like this, or contextd itself decoded it from this.
   * Default false.
   */
  isAlwaysRead?: boolean;
}

/** In the order in which they are tried. */
export const VIEW_KINDS: readonly ViewKind[] = [
  { of: resolvedView, layer: 'display', times: 1, needsMark: false, isAlwaysRead: true },
  { of: withoutStyling, layer: 'display', times: 1, needsMark: false, isAlwaysRead: true },
  { of: withoutTerminalCodes, layer: 'display', times: 1, needsMark: false, isAlwaysRead: true },
  { of: lowBytesFirst, layer: 'display', times: 1, needsMark: false, isDecoded: true, isAlwaysRead: true },
  { of: highBytesFirst, layer: 'display', times: 1, needsMark: false, isDecoded: true, isAlwaysRead: true },
  { of: withSwallowedLetters, layer: 'display', times: 1, needsMark: false, isAlwaysRead: true },
  { of: withoutInvisible, layer: 'display', times: 1, needsMark: false },
  { of: overlaidLines, layer: 'display', times: 1, needsMark: false },
  { of: inPlainLetters, layer: 'display', times: 1, needsMark: false },
  { of: withoutHomoglyphs, layer: 'display', times: 1, needsMark: false },
  { of: hiddenLetters, layer: 'display', times: 1, needsMark: false },
  { of: unescaped, layer: 'escape', times: 3, needsMark: false },
  { of: withoutEntities, layer: 'escape', times: 2, needsMark: false },
  { of: percentDecoded, layer: 'escape', times: 2, needsMark: false },
  { of: quotedPrintableDecoded, layer: 'escape', times: 1, needsMark: false },
  { of: wordsBefore, layer: 'joint', times: 1, needsMark: false },
  { of: wordsAfter, layer: 'joint', times: 1, needsMark: false },
  { of: undecorated, layer: 'joint', times: 2, needsMark: false },
  { of: commandLines, layer: 'joint', times: 1, needsMark: false },
  { of: unwrapped, layer: 'joint', times: 1, needsMark: true },
  { of: joinedStrings, layer: 'joint', times: 1, needsMark: true },
  { of: withoutSpacing, layer: 'joint', times: 1, needsMark: true },
  { of: withoutTags, layer: 'joint', times: 1, needsMark: true },
  { of: numberedPieces, layer: 'joint', times: 1, needsMark: true },
  { of: piecesInColumns, layer: 'joint', times: 1, needsMark: true },
  { of: base64Decoded, layer: 'code', times: 1, needsMark: false },
  { of: inflated, layer: 'code', times: 1, needsMark: false },
  { of: base32Decoded, layer: 'code', times: 1, needsMark: false },
  { of: turnedRound, layer: 'code', times: 1, needsMark: false },
  { of: uudecoded, layer: 'code', times: 1, needsMark: false },
  { of: ascii85Decoded, layer: 'code', times: 1, needsMark: false },
  { of: hexDecoded, layer: 'code', times: 1, needsMark: false },
  { of: dumpsRead, layer: 'code', times: 1, needsMark: false },
];
