import { compose, type View } from '../../text/view.ts';
import { VIEW_KINDS, type ViewKind } from './views/kinds.ts';

/** A view of a text and how it came to be. */
export interface Reading {
  view: View;
  /** In order: what was done to the text. */
  kinds: readonly ViewKind[];
}

/** Views on top of each other. */
const MAX_KINDS = 4;
/** Characters of all views of a text: so many times its own, and at least so many. */
const BUDGET_SHARE = 2;
const MIN_BUDGET_CHARS = 262_144;

/**
 * The ways in which a text can be read beside the plain one: simple ones before those that are made of several, small
 * ones before large ones. A text made to have many large ones is not read in all of them.
 */
export function* readingsOf(text: string): Generator<Reading> {
  let budget = Math.max(MIN_BUDGET_CHARS, BUDGET_SHARE * text.length);
  let level: Reading[] = [{ view: { text, toOriginal: (start, end) => ({ start, end }) }, kinds: [] }];
  for (let depth = 0; depth < MAX_KINDS && level.length > 0; depth++) {
    const next = level.flatMap(readFurther).sort(byUrgency);
    level = [];
    for (const reading of next) {
      if (!isAlwaysRead(reading)) budget -= reading.view.text.length;
      if (budget < 0) return;
      yield reading;
      level.push(reading);
    }
  }
}

function byUrgency(a: Reading, b: Reading): number {
  return Number(isAlwaysRead(b)) - Number(isAlwaysRead(a)) || a.view.text.length - b.view.text.length;
}

function isAlwaysRead({ kinds }: Reading): boolean {
  return kinds.at(-1)?.isAlwaysRead === true;
}

function readFurther(reading: Reading): Reading[] {
  return VIEW_KINDS.flatMap((kind) => {
    const next = mayFollow(reading, kind) ? kind.of(reading.view.text) : null;
    return next === null ? [] : [{ view: compose(next, reading.view), kinds: [...reading.kinds, kind] }];
  });
}

const LAYERS: readonly ViewKind['layer'][] = ['display', 'escape', 'joint', 'code'];

function mayFollow({ kinds }: Reading, kind: ViewKind): boolean {
  const last = kinds.at(-1);
  if (last === undefined) return true;
  if (kinds.filter((used) => used === kind).length >= kind.times) return false;
  if (last.layer === 'escape' || last.layer === 'code') return true;
  return LAYERS.indexOf(kind.layer) >= LAYERS.indexOf(last.layer);
}
