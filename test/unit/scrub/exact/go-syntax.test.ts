import fc from 'fast-check';
import { RE2JS } from 're2js';
import { afterAll, describe, expect, it } from 'vitest';
import { parseGo } from '#src/scrub/exact/go-syntax.js';
import { GoSyntaxError } from '#src/scrub/exact/go-tree.js';
import type { Engine } from '#src/scrub/exact/linear-engine.js';
import { LinearEngine } from '#src/scrub/exact/linear-engine.js';
import { isTranslatable, NativeEngine } from '#src/scrub/exact/native-engine.js';
import { buildGoRegexp } from '../../../helpers/go-regexp.ts';
import { anyPattern, anyText } from '../../../helpers/hostile-patterns.ts';
import { propertyRuns } from '../../../helpers/property-runs.ts';

const go = buildGoRegexp();
afterAll(() => go.remove());

const QUESTIONS = fc.sample(
  fc.record({ pattern: anyPattern, texts: fc.array(anyText, { minLength: 2, maxLength: 3 }) }),
  // A third of the patterns are refused.
  propertyRuns('function', 5),
);

function accepts(source: string): boolean {
  try {
    parseGo(source);
    RE2JS.compile(source);
    return true;
  } catch (thrown) {
    if (thrown instanceof GoSyntaxError || (thrown instanceof Error && thrown.name.startsWith('RE2JS'))) return false;
    throw thrown;
  }
}

/** In the form of Go's answer, with groups of the first match only. */
function answerOf(engine: Engine, text: string): { matches: number[][]; groups: number[] | null } {
  const pairs = (ranges: ReturnType<Engine['groups']>): number[] =>
    ranges.flatMap((range) => (range === undefined ? [-1, -1] : [range.start, range.end]));
  return {
    matches: engine.findAll(text).map(({ start, end }) => [start, end]),
    groups: engine.hasGroups ? pairs(engine.groups(text)) : null,
  };
}

describe("Go's syntax", () => {
  it.each([
    'a**',
    'a{2}{3}',
    '*a',
    '(?i)*',
    'a|*',
    'a{1001}',
    'a{3,2}',
    'a{99999999999}',
    '(?:a{100}){11}',
    '(?:(?:a{10}){10}){11}',
    '(',
    ')',
    '[',
    '[]',
    '[z-a]',
    '[[:foo:]]',
    '[\\b]',
    '\\C',
    '\\Z',
    '\\8',
    '\\1',
    '\\q',
    '\\',
    '\\x{110000}',
    '\\x{}',
    '\\x4',
    '\\p',
    '\\p{Gree',
    '(?i-)',
    '(?-)',
    '(?x)a',
    '(?=a)',
    '(?<=a)',
    '(?P=n)',
    '(?P<é>a)',
    '(?P<n',
    '(?#a)',
    '[\\d-z',
    `${'('.repeat(1001)}a${')'.repeat(1001)}`,
    `(?:${'abcdefgh'.repeat(500)}){1000}`,
  ])('refuses %s', (source) => {
    expect(() => parseGo(source)).toThrow(GoSyntaxError);
  });

  it.each([
    'a{,2}',
    'a{2',
    'a{01}',
    'a{1000}',
    '(?:a{10}){100}',
    'a(?i)*',
    'a*(?i)*',
    '^*',
    '(|a)*',
    '[]a]',
    '[^]]',
    '[a-]',
    '[[:alpha:][:^digit:]-z]',
    '\\Qa*\\E+',
    '\\Qa',
    '\\x{10FFFF}',
    '\\_',
    '\\0',
    '\\12',
    '(?<n>a)(?P<m>b)',
    '(?)',
    '(?i-s:a)',
    '(?U)a+?',
    '',
  ])('accepts %s', (source) => {
    expect(() => parseGo(source)).not.toThrow();
  });

  it.skipIf(go.missing !== null)('reads patterns as Go does: the same refusals, matches and groups', () => {
    const answers = go.ask(QUESTIONS);
    expect(answers.filter(({ accepted }) => accepted).length).toBeGreaterThan(QUESTIONS.length / 8);
    for (const [at, { pattern, texts }] of QUESTIONS.entries()) {
      const { accepted, matches } = answers[at] ?? { accepted: false, matches: [] };
      expect(accepts(pattern), pattern).toBe(accepted);
      if (!accepted) continue;
      const tree = parseGo(pattern);
      const engines: Engine[] = [new LinearEngine(pattern), ...(isTranslatable(tree) ? [new NativeEngine(tree)] : [])];
      for (const [place, text] of texts.entries()) {
        const found = matches[place] ?? [];
        for (const engine of engines) {
          const answer = answerOf(engine, text);
          expect(answer.matches, `${pattern} in ${text}`).toEqual(found.map(([start, end]) => [start, end]));
          if (answer.groups !== null) expect(answer.groups, `${pattern} in ${text}`).toEqual(found[0]?.slice(2) ?? []);
        }
      }
    }
  });
});
