import { contains, pairsOf } from '../src/scrub/exact/char-set.ts';
import { childrenOf, type GoNode } from '../src/scrub/exact/go-tree.ts';

/** In [0, below). */
export type Random = (below: number) => number;

/** The same numbers for the same seed (xorshift). */
export function seededRandom(seed: number): Random {
  let state = (seed | 0) === 0 ? 1 : seed | 0;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

const ORDINARY = ['\r', '\t', ' ', '\n', '\r\n', 'a', 'A', '0', '=', '-', '.', '"', "'", ':', '/', '_', 'é', '\u212a'];
/** What may make a run that should match fail at its very end. */
const ENDINGS = ['', '\0', '\n', '!', 'é', ' '];
const LOOPS_LOOKED_AT = 12;
const SOUPS = 10;
const MAX_FREE_TURNS = 4;

/** Texts of about `length` characters that may cost a backtracking engine much, made from the pattern's own tree. */
export function* attackStrings(tree: GoNode, length: number, random: Random): Generator<string> {
  const pieces = [...new Set(piecesOf(tree, random))].filter((piece) => piece !== '').slice(0, 60);
  const pool = [...ORDINARY, ...pieces];
  for (const char of ORDINARY) yield fill(char, length);
  for (const { before, pump } of someOf(loopsOf(tree, '', random), LOOPS_LOOKED_AT, random)) {
    yield fill(pump, length, before, pick(ENDINGS, random));
    yield fill(before + pump, length, '', pick(ENDINGS, random));
    yield fill(before + pump.repeat(1 + random(40)), length, '', pick(ENDINGS, random));
    yield fill(pick(ORDINARY, random), length, before, pick(ENDINGS, random));
    yield fill(pump + pick(pool, random), length, before, pick(ENDINGS, random));
  }
  for (let i = 0; i < SOUPS; i++) {
    const sample = sampleOf(tree, random);
    const cut = sample.slice(0, 1 + random(sample.length || 1));
    yield fill(cut, length, '', pick(ENDINGS, random));
    yield fill(cut + pick(ORDINARY, random), length);
    yield fill(pick(ORDINARY, random), length, cut);
    yield fill(mutate(sample, random), length);
    yield soup(pool, length, random);
    yield soup(someOf(pool, 3, random), length, random);
  }
}

/** A text that matches, or nearly: loops turn a few times or as often as they may. */
export function sampleOf(node: GoNode, random: Random): string {
  switch (node.kind) {
    case 'chars':
      return charOf(node, random);
    case 'assertion':
      return '';
    case 'choice':
      return sampleOf(pick(node.options, random), random);
    case 'repeat': {
      const most = Math.min(node.max, node.min + (random(8) === 0 ? 60 : MAX_FREE_TURNS));
      const turns = node.min + random(most - node.min + 1);
      return Array.from({ length: turns }, () => sampleOf(node.of, random)).join('');
    }
    default:
      return childrenOf(node)
        .map((part) => sampleOf(part, random))
        .join('');
  }
}

/** One to three small changes. */
export function mutate(text: string, random: Random): string {
  let changed = text;
  for (let left = 1 + random(3); left > 0; left--) {
    const at = random(changed.length + 1);
    const put = random(3) === 0 ? '' : pick([...ORDINARY, 'ſ', '\u2028', '\u00a0', '\v', '😀', 'k', 'S'], random);
    changed = changed.slice(0, at) + put + changed.slice(at + random(3));
  }
  return changed;
}

export function pick<Item>(items: readonly Item[], random: Random): Item {
  const item = items[random(items.length)];
  if (item === undefined) throw new Error('nothing to pick from');
  return item;
}

function charOf({ set }: GoNode & { kind: 'chars' }, random: Random): string {
  if (set.length === 0) return '';
  // Mostly what is written in real texts; sometimes the edges of the set.
  for (let tries = 0; tries < 6 && random(5) > 0; tries++) {
    const char = 0x20 + random(0x5f);
    if (contains(set, char)) return String.fromCharCode(char);
  }
  const [low, high] = pick(pairsOf(set), random);
  return String.fromCodePoint(random(2) === 0 ? low : Math.min(high, low + random(0x60)));
}

/** Every loop of a tree: a text that leads to it, and what one turn of it takes. */
function loopsOf(node: GoNode, before: string, random: Random): { before: string; pump: string }[] {
  if (node.kind === 'choice') return node.options.flatMap((option) => loopsOf(option, before, random));
  if (node.kind !== 'repeat') {
    let lead = before;
    return childrenOf(node).flatMap((part) => {
      const loops = loopsOf(part, lead, random);
      lead += sampleOf(part, random);
      return loops;
    });
  }
  const inner = loopsOf(node.of, before, random);
  return node.max > 2 ? [{ before, pump: sampleOf(node.of, random) }, ...inner] : inner;
}

function piecesOf(node: GoNode, random: Random): string[] {
  const own = sampleOf(node, random);
  return [own, ...childrenOf(node).flatMap((child) => piecesOf(child, random))].filter((text) => text.length < 200);
}

function someOf<Item>(items: readonly Item[], most: number, random: Random): Item[] {
  if (items.length <= most) return [...items];
  return Array.from({ length: most }, () => pick(items, random));
}

function fill(what: string, length: number, before = '', after = ''): string {
  const turn = what === '' ? 'a' : what;
  const turns = Math.max(1, Math.floor((length - before.length - after.length) / turn.length));
  return before + turn.repeat(turns) + after;
}

function soup(pool: readonly string[], length: number, random: Random): string {
  let text = '';
  while (text.length < length) text += pick(pool, random);
  return text;
}
