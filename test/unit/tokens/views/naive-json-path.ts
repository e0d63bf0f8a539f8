import fc from 'fast-check';

/** A path as data, evaluated in the simplest way over parsed JSON: the reference for the walk over the text. */
export type NaiveSelector = string | number | { slice: [number | null, number | null, number] } | '*all*';
export interface NaiveSegment {
  descends: boolean;
  selectors: NaiveSelector[];
}
interface Node {
  at: string;
  value: unknown;
}

export function naiveSelect(root: unknown, segments: readonly NaiveSegment[]): unknown[] {
  let nodes: Node[] = [{ at: '', value: root }];
  for (const { descends, selectors } of segments) {
    const from = descends ? nodes.flatMap(descendants) : nodes;
    const found = from.flatMap((node) => selectors.flatMap((selector) => pick(node, selector)));
    nodes = found.filter(({ at }, i) => found.findIndex((other) => other.at === at) === i);
  }
  return nodes.map(({ value }) => value);
}

function descendants(node: Node): Node[] {
  return [node, ...children(node).flatMap(descendants)];
}

function children({ at, value }: Node): Node[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).map(([key, child]) => ({ at: `${at}/${JSON.stringify(key)}`, value: child }));
}

function pick(node: Node, selector: NaiveSelector): Node[] {
  const below = children(node);
  if (selector === '*all*') return below;
  const isArray = Array.isArray(node.value);
  if (typeof selector === 'string')
    return isArray ? [] : below.filter(({ at }) => at === `${node.at}/${JSON.stringify(selector)}`);
  if (!isArray) return [];
  if (typeof selector === 'number')
    return below.filter((_, i) => i === (selector < 0 ? below.length + selector : selector));
  return slice(below.length, selector.slice).flatMap((i) => below[i] ?? []);
}

/** Python's slice, counted out one by one. */
function slice(length: number, [start, end, step]: [number | null, number | null, number]): number[] {
  if (step === 0) return [];
  const whole = [...Array(length).keys()];
  const from = (index: number): number => (index < 0 ? length + index : index);
  if (step > 0) {
    const [low, high] = [Math.max(from(start ?? 0), 0), from(end ?? length)];
    return whole.filter((i) => i >= low && i < high && (i - low) % step === 0);
  }
  const [high, low] = [Math.min(from(start ?? length - 1), length - 1), end === null ? -1 : Math.max(from(end), -1)];
  return whole.filter((i) => i <= high && i > low && (high - i) % -step === 0).reverse();
}

/** A path in one of its spellings. */
export function spell(segments: readonly NaiveSegment[]): string {
  return `$${segments.map(spellSegment).join('')}`;
}

function spellSegment({ descends, selectors }: NaiveSegment): string {
  const [only] = selectors;
  const dots = descends ? '..' : '.';
  if (selectors.length === 1 && only === '*all*') return `${dots}*`;
  if (selectors.length === 1 && typeof only === 'string' && /^[a-z]+$/.test(only)) return `${dots}${only}`;
  return `${descends ? '..' : ''}[${selectors.map(spellSelector).join(' , ')}]`;
}

function spellSelector(selector: NaiveSelector, i: number): string {
  if (selector === '*all*') return '*';
  if (typeof selector === 'number') return String(selector);
  if (typeof selector === 'string') return i % 2 === 0 ? JSON.stringify(selector) : singleQuoted(selector);
  const [start, end, step] = selector.slice;
  return `${start ?? ''}:${end ?? ''}:${step}`;
}

function singleQuoted(name: string): string {
  return `'${JSON.stringify(name).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}

/**
 * Keys that are not numbers, because JSON.parse would put numbers first. Not the backslash alone: once Node 24.21 has
 * read such a key, its JSON.parse reads `{"\n":1}` as an object with the key `\`.
 */
const NAMES = ['a', 'b', 'id', '', 'x y', '"', "'", 'x\\y', '\n', 'é', '😀', '__proto__', 'a":1,"b'];

export const names = fc.constantFrom(...NAMES);

const index = fc.integer({ min: -4, max: 4 });
const selectors: fc.Arbitrary<NaiveSelector> = fc.oneof(
  { weight: 3, arbitrary: names },
  { weight: 2, arbitrary: index },
  fc.record({ slice: fc.tuple(fc.option(index), fc.option(index), fc.integer({ min: -3, max: 3 })) }),
);

export const paths: fc.Arbitrary<NaiveSegment[]> = fc.array(
  fc.record({
    descends: fc.boolean(),
    selectors: fc.oneof(
      { weight: 2, arbitrary: fc.constant<NaiveSelector[]>(['*all*']) },
      { weight: 3, arbitrary: fc.array(selectors, { minLength: 1, maxLength: 3 }) },
    ),
  }),
  { maxLength: 4 },
);

/** JSON as text, with numbers that no double can hold, escapes, unnecessary blanks and repeated keys. */
export const jsonTexts: fc.Arbitrary<{ spaced: string; compact: string }> = fc.letrec<{
  value: { spaced: string; compact: string };
}>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'medium' },
    fc
      .constantFrom(
        'null',
        'true',
        'false',
        '0',
        '-0',
        '1.0',
        '1e400',
        '12345678901234567890',
        '-1.50E+2',
        '"\\u0041\\n\\/"',
        '"a  b"',
        '"😀[{,"',
      )
      .map((text) => ({ spaced: text, compact: text })),
    fc.string().map((text) => ({ spaced: JSON.stringify(text), compact: JSON.stringify(text) })),
    joined('[', ']', fc.array(tie('value'), { maxLength: 5 })),
    joined(
      '{',
      '}',
      fc.array(
        fc.tuple(names, tie('value')).map(([name, { spaced, compact }]) => ({
          spaced: `${JSON.stringify(name)} \t:\n ${spaced}`,
          compact: `${JSON.stringify(name)}:${compact}`,
        })),
        { maxLength: 5 },
      ),
    ),
  ),
})).value;

function joined(open: string, close: string, items: fc.Arbitrary<{ spaced: string; compact: string }[]>) {
  return items.map((parts) => ({
    spaced: `${open} ${parts.map(({ spaced }) => spaced).join('\r\n, ')}\n${close}`,
    compact: `${open}${parts.map(({ compact }) => compact).join(',')}${close}`,
  }));
}
