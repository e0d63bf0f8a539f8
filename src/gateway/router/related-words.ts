import { stemOf } from './words.ts';

/** A word of a catalogue that a term of a query may mean. */
export interface Variant {
  readonly stem: string;
  /** How certainly, from 0 to 1. */
  readonly certainty: number;
}

/** How much a word counts in place of another one of its class. */
const CLASS_CERTAINTY = 0.2;

/**
 * What tools do, and the everyday words for it: the actions on stored things, on messages, on processes and on numbers.
 * Neither names of tools nor of things: those are learned from catalogues and from use.
 */
const ACTIONS = `
  create add make new insert register generate build provision
  delete remove drop erase destroy clear purge discard
  get fetch retrieve read load view show display describe check lookup
  list enumerate show browse display
  search find query lookup locate discover filter seek
  update edit modify change alter amend set adjust patch revise
  send post publish submit deliver dispatch push share notify message
  run execute start launch trigger invoke perform
  stop cancel abort terminate kill halt end disable deactivate
  enable activate
  calculate compute determine evaluate estimate
  convert transform translate change
  predict forecast project
  book reserve schedule order
  buy purchase order
  download export save
  upload import
  copy duplicate clone
  move transfer migrate
  merge combine join concatenate
  summarize condense summary digest brief
  count number total
  login authenticate signin
  plot draw graph chart visualize
  subscribe follow watch
  log record track
`;

const RELATED = new Map<string, Variant[]>();
for (const line of ACTIONS.trim().split('\n')) {
  const stems = line.trim().split(' ').map(stemOf);
  for (const stem of stems) {
    const known = RELATED.get(stem) ?? [];
    const others = stems.filter((other) => other !== stem && known.every((one) => one.stem !== other));
    RELATED.set(stem, [...known, ...others.map((other) => ({ stem: other, certainty: CLASS_CERTAINTY }))]);
  }
}

/** The words that mean nearly the same as a stem. */
export function relatedTo(stem: string): readonly Variant[] {
  return RELATED.get(stem) ?? [];
}
