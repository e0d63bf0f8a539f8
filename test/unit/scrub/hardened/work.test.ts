import { afterEach, describe, expect, it, vi } from 'vitest';
import { Pattern } from '#src/scrub/exact/pattern.js';
import { RuleSet } from '#src/scrub/exact/rule-set.js';
import type { Span } from '#src/text/offset-map.js';
import { generateSample, RULE_SAMPLES, seededRandom } from '../../../helpers/secret-samples.ts';
import { engine } from '../../../helpers/test-rules.ts';

interface Work {
  /** Characters of all readings of the text. */
  read: number;
  /** Characters that patterns searched. */
  searched: number;
}

afterEach(() => {
  vi.restoreAllMocks();
});

/** What a scan does, in characters: as it is, while it does it. */
function workOf(text: string): Work {
  const work: Work = { read: 0, searched: 0 };
  const find = RuleSet.prototype.find;
  const { findAll, test } = Pattern.prototype;
  vi.spyOn(RuleSet.prototype, 'find').mockImplementation(function (this: RuleSet, ...args) {
    work.read += args[0].length;
    return find.apply(this, args);
  });
  vi.spyOn(Pattern.prototype, 'findAll').mockImplementation(function (
    this: Pattern,
    whole: string,
    parts?: readonly Span[],
  ) {
    work.searched += parts === undefined ? whole.length : parts.reduce((sum, { start, end }) => sum + end - start, 0);
    return findAll.call(this, whole, parts);
  });
  vi.spyOn(Pattern.prototype, 'test').mockImplementation(function (this: Pattern, whole: string) {
    work.searched += whole.length;
    return test.call(this, whole);
  });
  engine.scan(text);
  vi.restoreAllMocks();
  return work;
}

/** Texts made of a sample, in the way of a log, of one line, and of strings within strings. */
const SHAPES: readonly ((sample: string) => string)[] = [
  (sample) => `${sample}\n`,
  (sample) => `${sample.replaceAll('\n', ' ')} `,
  (sample) => `{\\"password\\":\\"${sample.replaceAll('\n', ' ')}\\"}`,
  (sample) => `${Buffer.from(sample).toString('base64')}\n`,
];
const PIECES = [
  '+token\n',
  '1:token\n',
  '> password\n',
  '[-a-]{+b+}',
  '[-',
  'https://u:p@',
  'a\n',
  'key=',
  '%41',
  '\\u0041',
  '<b>a</b>',
  'kind: secret data: ',
  'curl -u ',
];
const CHARS = 32_768;
/** Characters that may be read and searched for each character of a text. */
const MOST_READ = 12;
const MOST_SEARCHED = 300;

function repeated(make: () => string, chars: number): string {
  let text = '';
  while (text.length < chars) text += make();
  return text.slice(0, chars);
}

describe('SEC-1.1 the work of a scan is linear in the text', () => {
  const samples = Object.values(RULE_SAMPLES).flatMap(({ match }) => match.slice(0, 1));

  it.each([...SHAPES.keys()])('whatever secrets a text consists of (shape %i)', (shape) => {
    const random = seededRandom(shape + 1);
    for (let turn = 0; turn < 2; turn++) {
      const sample = samples[Math.floor(random() * samples.length)] ?? '';
      const make = (): string => SHAPES[shape]?.(generateSample(sample, random).text) ?? '';
      expectLinear(make, sample);
    }
  });

  it.each(['a\b\r', '\r 12 % of the token', 'a\rpassword,'])('and it ends, for 262,144 characters of %j', (piece) => {
    expect(engine.scan(repeated(() => piece, 262_144))).toBeInstanceOf(Array);
  });

  it.each(PIECES)('for a text of %j', (piece) => {
    expectLinear(() => piece, piece);
  });

  it.each([
    ['tokens', '«ghp_[A-Za-z0-9]{36}»\n'],
    ['passwords in JSON within JSON, one line', '{\\\\"password\\\\":\\\\"«[A-Za-z0-9]{16}»\\\\"}'],
    ['keys in one line', '"api_key":"«[A-Za-z0-9]{32}»",'],
    ['variables', 'API_KEY_[A-Z]{4}=«[A-Za-z0-9]{32}»\n'],
  ])('for a text of %s', (name, pattern) => {
    const random = seededRandom(5);
    expectLinear(() => generateSample(pattern, random).text, name);
  });

  function expectLinear(make: () => string, name: string): void {
    const { read, searched } = workOf(repeated(make, CHARS));
    expect(read, name).toBeLessThan(MOST_READ * CHARS);
    expect(searched, name).toBeLessThan(MOST_SEARCHED * CHARS);
  }

  it('and what is encoded in a long text costs its surroundings only, however often it was encoded', () => {
    const random = seededRandom(3);
    const line = (): string => `func f${Math.floor(random() * 1e6)}(name string, list []byte) error { return nil }\n`;
    const named = (): string => `data: kind: secret\ncurl key password\n${line().repeat(500)}`;
    const plain = repeated(named, CHARS);
    let blob = 'ordinary words, nothing else 1';
    for (let layer = 0; layer < 4; layer++) blob = Buffer.from(blob).toString('base64');
    const encoded = `${plain.slice(0, CHARS / 2)}\n${blob}\n${plain.slice(CHARS / 2)}`;
    const [before, after] = [workOf(plain), workOf(encoded)];
    expect(after.searched - before.searched).toBeLessThan(CHARS);
  });
});
