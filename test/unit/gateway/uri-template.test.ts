import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { literalPart, matchesParts, type PatternPart } from '#src/gateway/uri-match.js';
import { parseUriTemplate, URI_MAX_CHARS, type UriTemplate } from '#src/gateway/uri-template.js';

function template(text: string): UriTemplate {
  const parsed = parseUriTemplate(text);
  if (parsed === null) throw new Error(`${text} is no template`);
  return parsed;
}

/** The values of the examples of RFC 6570, as far as they are texts. */
const VALUES = { var: 'value', hello: 'Hello World!', path: '/foo/bar', empty: '', x: '1024', y: '768' };

describe('gateway surface §9.4 a template of URIs', () => {
  it.each([
    ['{var}', 'value'],
    ['{hello}', 'Hello%20World%21'],
    ['{+hello}', 'Hello%20World!'],
    ['{+path}/here', '/foo/bar/here'],
    ['X{#var}', 'X#value'],
    ['map?{x,y}', 'map?1024,768'],
    ['{x,hello,y}', '1024,Hello%20World%21,768'],
    ['{+x,hello,y}', '1024,Hello%20World!,768'],
    ['X{.x,y}', 'X.1024.768'],
    ['{/var,x}/here', '/value/1024/here'],
    ['{;x,y,empty}', ';x=1024;y=768;empty'],
    ['{?x,y,empty}', '?x=1024&y=768&empty='],
    ['?fixed=yes{&x}', '?fixed=yes&x=1024'],
    ['{var:3}', 'val'],
    ['{?undef,x}', '?x=1024'],
    ['{undef}', ''],
  ])('%s becomes %s, as RFC 6570 says', (text, uri) => {
    expect(template(text).expand(VALUES)).toBe(uri);
  });

  it('names its variables, and which may be left out', () => {
    expect(template('repo://{owner}/{+path}{?page,owner}').variables).toEqual([
      { name: 'owner', isRequired: true },
      { name: 'path', isRequired: true },
      { name: 'page', isRequired: false },
    ]);
  });

  it.each([
    '{',
    '}',
    'a{b',
    '{}',
    '{a b}',
    '{a,}',
    '{=a}',
    `${'{a}'.repeat(17)}`,
    `{${'a,'.repeat(64)}a}`,
    'x'.repeat(4_097),
  ])('refuses %s', (text) => {
    expect(parseUriTemplate(text)).toBeNull();
  });

  it('matches every URI that it makes', () => {
    const operators = fc.constantFrom('', '+', '#', '.', '/', ';', '?', '&');
    const literal = fc.stringMatching(/^[a-z:/]{0,6}$/);
    fc.assert(
      fc.property(
        fc.array(fc.tuple(literal, operators), { maxLength: 5 }),
        fc.array(fc.string(), { minLength: 5, maxLength: 5 }),
        (parts, texts) => {
          const text = parts.map(([before, operator], index) => `${before}{${operator}v${index}}`).join('');
          const values = Object.fromEntries(texts.map((value, index) => [`v${index}`, value]));
          const made = template(text);
          expect(made.matches(made.expand(values) ?? '')).toBe(true);
        },
      ),
    );
  });

  it.each([
    ['repo://{owner}/{name}', 'repo://a/b/c'],
    ['repo://{owner}/{name}', 'other://a/b'],
    ['repo://{owner}', 'repo://a?b'],
    ['docs://{a}.md', 'docs://a.txt'],
  ])('%s does not match %s', (text, uri) => {
    expect(template(text).matches(uri)).toBe(false);
  });

  it('is matched without backtracking: the test would not end', () => {
    const greedy = template(`x://${'{+a}'.repeat(16)}!`);
    expect(greedy.matches(`x://${'a'.repeat(2_000)}`)).toBe(false);
    expect(greedy.matches(`x://${'a'.repeat(2_000)}!`)).toBe(true);
  });
});

const OPERATORS = ['', '+', '#', '.', '/', ';', '?', '&'];

describe('gateway surface §9.4 the bounds of a template', () => {
  it('makes no URI beyond the bound, and reads no value after it is reached', () => {
    const value = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 40 }),
      fc
        .tuple(fc.constantFrom('a', 'é', '\u{1F600}', '/'), fc.integer({ min: 1, max: 3_000 }))
        .map(([one, times]) => one.repeat(times)),
    );
    const expressions = fc.array(
      fc.tuple(
        fc.stringMatching(/^[a-z:/]{0,6}$/),
        fc.constantFrom(...OPERATORS),
        fc.array(fc.constantFrom('a', 'b', 'c', 'a:3', 'b:9999'), { minLength: 1, maxLength: 8 }),
      ),
      { maxLength: 8 },
    );
    fc.assert(
      fc.property(expressions, fc.record({ a: value, b: value, c: value }), (parts, texts) => {
        const made = template(parts.map(([before, operator, names]) => `${before}{${operator}${names}}`).join(''));
        let readChars = 0;
        const counted = new Proxy(texts, {
          get: (_, name: keyof typeof texts) => {
            readChars += texts[name].length;
            return texts[name];
          },
        });
        const uri = made.expand(counted);
        if (uri !== null) expect(uri.length).toBeLessThanOrEqual(URI_MAX_CHARS);
        const cut = parts.flatMap(([, , names]) => names).filter((name) => name.includes(':')).length;
        // What came before fits into the URI, except where only the first characters of a value count.
        expect(readChars).toBeLessThanOrEqual(URI_MAX_CHARS * (1 + cut) + 3_000 * 2);
      }),
    );
  });

  it('refuses one value that is used often before the URI is built', () => {
    let reads = 0;
    const values = {
      get a() {
        reads += 1;
        return 'é'.repeat(1_000);
      },
    };
    expect(template(`e:{${'a,'.repeat(63)}a}`).expand(values)).toBeNull();
    expect(reads).toBe(1);
    expect(template('e:{a}').expand({ a: 'x'.repeat(URI_MAX_CHARS - 2) })).toHaveLength(URI_MAX_CHARS);
    expect(template('e:{a}').expand({ a: 'x'.repeat(URI_MAX_CHARS - 1) })).toBeNull();
    expect(template('e:{a:1}').expand({ a: 'x'.repeat(URI_MAX_CHARS + 1) })).toBeNull();
  });

  it('matches no URI beyond the bound', () => {
    expect(template('e:{a}').matches(`e:${'x'.repeat(URI_MAX_CHARS - 2)}`)).toBe(true);
    expect(template('e:{a}').matches(`e:${'x'.repeat(URI_MAX_CHARS - 1)}`)).toBe(false);
  });

  it('reads each character of a URI at most twice for each part, however long the literals are', () => {
    const literal = `${'a'.repeat(120)}b`;
    const parts = Array.from({ length: 16 }, (): PatternPart[] => [
      { accepts: () => true },
      literalPart(literal),
    ]).flat();
    const uri = Array.from({ length: 2_044 }, () => 'a'.charCodeAt(0));
    let reads = 0;
    const counted = new Proxy(uri, {
      get: (units, key) => {
        if (key !== 'length') reads += 1;
        return Reflect.get(units, key);
      },
    });
    expect(matchesParts(parts.slice(0, -1), counted)).toBe(false);
    expect(reads).toBeGreaterThan(0);
    expect(reads).toBeLessThanOrEqual(2 * uri.length * parts.length);
  });

  it('matches what a regular expression of the same parts matches', () => {
    const part = fc.oneof(fc.constant(null), fc.stringMatching(/^[ab]{1,4}$/));
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), fc.stringMatching(/^[abc]{0,12}$/), (parts, text) => {
        const pattern = parts.map((one) =>
          one === null ? { accepts: (unit: number) => unit !== 99 } : literalPart(one),
        );
        const expected = new RegExp(`^${parts.map((one) => one ?? '[ab]*').join('')}$`).test(text);
        expect(matchesParts(pattern, Buffer.from(text))).toBe(expected);
      }),
    );
  });
});
