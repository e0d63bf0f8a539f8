import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { certificateOf } from '#src/scrub/exact/certified-patterns.js';
import { parseGo } from '#src/scrub/exact/go-syntax.js';
import { KeywordIndex } from '#src/scrub/exact/keyword-index.js';
import { type Landmarks, landmarksOf, partsNear } from '#src/scrub/exact/landmarks.js';
import { loadPackFile } from '#src/scrub/exact/load-config.js';
import { Pattern } from '#src/scrub/exact/pattern.js';
import { requiredWords } from '#src/scrub/exact/required-words.js';
import { readRulePack } from '#src/scrub/exact/rule-pack.js';
import type { Span } from '#src/text/offset-map.js';
import { anyPattern, anyText } from '../../../helpers/hostile-patterns.ts';
import { propertyRuns } from '../../../helpers/property-runs.ts';
import { generateSample, RULE_SAMPLES, seededRandom } from '../../../helpers/secret-samples.ts';

/** The parts of a text that may hold a match; undefined: all of it. */
function partsOf(landmarks: Landmarks, text: string): Span[] | undefined {
  const words = [...landmarks.words, ...(landmarks.head?.words ?? [])].flat();
  const places = new KeywordIndex(words).findPlaces(text);
  return partsNear(text, landmarks, (list) => list.flatMap((word) => places(words.indexOf(word))));
}

/** The same with all its lists of words. */
function withMore(landmarks: Landmarks): Landmarks {
  return { ...landmarks, words: [...landmarks.words, ...landmarks.more] };
}

function compiled(source: string): Pattern | undefined {
  try {
    return new Pattern(source, 'test');
  } catch {
    return undefined;
  }
}

describe('SEC-1.1 the words that every match of a pattern contains', () => {
  it.each([
    ['ghp_[A-Za-z0-9]{36}', ['ghp_']],
    ['(?i)(?:pass(?:word|wd)|secret)[ \\t]*=', ['passwd', 'secret', 'password']],
    ['(?:api|db)[_-]?keys?[a-z]', ['dbkey', 'apikey', 'db-key', 'db_key', 'api-key', 'api_key']],
    ['[0-9a-f]{32}-us[0-9]', ['-us']],
    ['(?:key){2,}x', ['keykey']],
    ['a*b{0,2}', null],
    ['(?:key|[a-z]+)=?', null],
    ['\\bkey?', ['ke']],
    ['\\x00é', ['é']],
    ['\\x00[пП]ароль', ['пароль']],
  ])('%s: %j', (source, words) => {
    expect(requiredWords(parseGo(source))[0] ?? null).toEqual(words);
  });
});

describe('SEC-1.1 the parts of a text that can hold a match', () => {
  it.each([
    ['key=\\w+', 'one\nkey=2\nthree', ['key=2']],
    ['key=\\w+', 'one\ntwo', []],
    [
      '(?m)^data:\\s*\\n\\s*key',
      'one\n\ndata:\n\n  \n key\n\n\nnext\nlast',
      ['one\n\ndata:\n\n  \n key\n\n\nnext\nlast'],
    ],
    ['key"[^"]*"', 'one\nkey"2"', ['key"2"']],
    ['[a-z]+[^.]*[a-z]', 'one\nkey"2"', null],
    ['curl(?:.*|.*\\n.*)[ \\t]-u[ \\t]"[^"]{3,}"', 'curl a\nb\nc\nd\ne -u "abc"', []],
    [
      'curl(?:.*|.*\\n.*)[ \\t]-u[ \\t]"[^"]{3,}"',
      'z\nz\nz\nz\ncurl d\ne -u "f\ng\n"',
      ['z\nz\nz\ncurl d\ne -u "f\ng\n"'],
    ],
    ['a:(?s:.){0,900}?b:\\s+c{2,}', `a:\n${'d\n'.repeat(9000)}b: ccc`, []],
    ['a:(?s:.){0,900}?b:\\s+c{2,}', 'a:\nd\nb: ccc', ['a:\nd\nb: ccc']],
    ['key"[^"]*"', 'one', []],
    ['key=\\s\\w{2}', `${'-'.repeat(50)}key= 12${'-'.repeat(50)}`, [`${'-'.repeat(5)}key= 12${'-'.repeat(6)}`]],
    ['ſ?s=1', 'ſ=1\ns=2', null],
  ])('%s in %j', (source, text, expected) => {
    const parts = partsOf(landmarksOf(parseGo(source)), text);
    expect(parts?.map(({ start, end }) => text.slice(start, end)) ?? null).toEqual(expected);
  });

  it('are enough: a pattern of any kind finds the same in them as in the whole text', () => {
    let searchedLess = 0;
    const withWord = fc.tuple(
      fc.constantFrom('', 'ab', '(?i)ks'),
      anyPattern,
      fc.constantFrom('', 'aa?\\n', '(?:ab|k\\s*S)'),
    );
    fc.assert(
      fc.property(
        withWord.map((parts) => parts.join('')),
        fc.array(anyText, { minLength: 1, maxLength: 12 }),
        (source, pieces) => {
          const pattern = compiled(source);
          if (pattern === undefined) return;
          const tree = parseGo(source);
          const all = landmarksOf(tree, 'all');
          for (const landmarks of [landmarksOf(tree), all, withMore(all)])
            for (const text of [pieces.join(''), pieces.join('\n'), pieces.join('\n \n')]) {
              const parts = partsOf(landmarks, text);
              if (parts !== undefined) searchedLess += 1;
              expect(pattern.findAll(text, parts), source).toEqual(pattern.findAll(text));
            }
        },
      ),
    );
    expect(searchedLess).toBeGreaterThan(propertyRuns() / 4);
  });

  it('are enough for every rule of the pack', () => {
    const rules = readRulePack(join(import.meta.dirname, '../../../../src/scrub/rules'))
      .flatMap((file) => loadPackFile(file).rules)
      .filter(({ regex }) => regex !== '')
      .map(({ id, regex, where }) => ({
        id,
        pattern: new Pattern(regex, where),
        landmarks: landmarksOf(parseGo(regex), certificateOf(regex)),
      }));
    const samples = Object.values(RULE_SAMPLES).flatMap(({ match }) => match);
    const sample = fc
      .record({ pattern: fc.constantFrom(...samples), seed: fc.nat() })
      .map(({ pattern, seed }) => generateSample(pattern, seededRandom(seed)).text);
    const between = fc.constantFrom(
      '\n',
      '\n\n',
      '\r\n',
      ' ',
      ' \n\t\n ',
      '"',
      '\\n',
      '😀',
      'ordinary words\n'.repeat(9),
    );
    const text = fc
      .array(fc.tuple(sample, between), { minLength: 1, maxLength: 6 })
      .map((pieces) => pieces.flat().join(''));
    fc.assert(
      fc.property(text, (whole) => {
        for (const { id, pattern, landmarks } of rules)
          for (const all of [landmarks, ...(landmarks.more.length === 0 ? [] : [withMore(landmarks)])])
            expect(pattern.findAll(whole, partsOf(all, whole)), id).toEqual(pattern.findAll(whole));
      }),
      { numRuns: propertyRuns('door') },
    );
  });
});
