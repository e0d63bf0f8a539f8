import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { entropyOf } from '#src/scrub/exact/entropy.js';
import { KeywordIndex } from '#src/scrub/exact/keyword-index.js';
import { loadConfig, loadPackFile } from '#src/scrub/exact/load-config.js';
import { RuleSet } from '#src/scrub/exact/rule-set.js';
import { createEngine, deferEngine, type EngineOptions } from '#src/scrub/hardened/engine.js';
import { isCovered, maskView, PLACEHOLDER } from '#src/scrub/spans.js';
import type { Span } from '#src/text/offset-map.js';
import { wrap } from '../../../helpers/evasion-forms.ts';
import { evasionCases } from '../../../helpers/evasions.ts';
import { generate, generateSample, RULE_SAMPLES, seededRandom } from '../../../helpers/secret-samples.ts';
import { engine, official, pack } from '../../../helpers/test-rules.ts';

/** The texts that an engine with these rules finds. */
function found(toml: string, text: string): string[] {
  const engine = createEngine([{ name: 'test.toml', text: toml }]);
  return engine.scan(text).map(({ start, end }) => text.slice(start, end));
}

function generateText(pattern: string, seed: number): string {
  return generate(pattern, seededRandom(seed)).replace(/[«»]/g, '');
}

function rule(settings: string): string {
  return `[[rules]]\nid = "r"\n${settings}\n`;
}

function faultOf(toml: string): string {
  try {
    createEngine([{ name: 'mine.toml', text: toml }]);
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown) return `${thrown.code} ${thrown.message}`;
  }
  return 'no fault';
}

describe('SEC-1.1 a rule finds what gitleaks finds', () => {
  it('reports the first group that is not empty, or the whole match', () => {
    expect(found(rule("regex = '''k=(x?)(\\d+)'''"), 'k=12')).toEqual(['12']);
    expect(found(rule("regex = '''k=\\d+'''"), 'k=12')).toEqual(['k=12']);
    expect(found(rule("regex = '''k=(x?)(y?)1'''"), 'k=1')).toEqual(['k=1']);
  });

  it('takes the group that secretGroup names, and the whole match if that group is empty', () => {
    expect(found(rule("regex = '''x(a+)(b*)x'''\nsecretGroup = 2"), 'xaabbx')).toEqual(['bb']);
    expect(found(rule("regex = '''x(a+)(b*)x'''\nsecretGroup = 2"), 'xaax')).toEqual(['xaax']);
  });

  it('reads keys in any case', () => {
    expect(found("[[Rules]]\nID = 'r'\nRegex = '(a)(b)'\nSECRETGROUP = 2\nKeyWords = ['A']", 'ab')).toEqual(['b']);
  });

  it('searches the groups in the match alone, so that \\b matches at its ends', () => {
    expect(found(rule("regex = '''x(\\b1)?\\d+'''"), 'x12')).toEqual(['x12']);
  });

  it('drops a secret whose entropy is at or below the threshold', () => {
    expect(entropyOf('abcd')).toBe(2);
    expect(entropyOf('')).toBe(0);
    expect(entropyOf('éé')).toBe(0.5);
    expect(found(rule("regex = '''[a-z]{4}'''\nentropy = 2.0"), 'abcd')).toEqual([]);
    expect(found(rule("regex = '''[a-z]{4}'''\nentropy = 1.99"), 'abcd')).toEqual(['abcd']);
  });

  it("runs only if the text contains a keyword, in Go's lower case", () => {
    const toml = rule("regex = '''\\d+'''\nkeywords = ['KiT']");
    expect(found(toml, '12')).toEqual([]);
    expect(found(toml, 'xKITx 12')).toEqual(['12']);
    expect(found(toml, '\u212aİt 12')).toEqual(['12']);
  });

  it('treats the last line as if it ended with a line end', () => {
    expect(found(rule("regex = '''a(\\d+)\\n'''"), 'a12')).toEqual(['a12']);
    expect(found(rule("regex = '''\\n?\\d+\\n'''"), 'x\n12')).toEqual(['12']);
  });

  it('ignores gitleaks:allow', () => {
    expect(found(rule("regex = '''\\d{4}'''"), '1234 # gitleaks:allow')).toEqual(['1234']);
  });

  it('counts offsets in UTF-16 units', () => {
    expect(found(rule("regex = '''é😀\\d+'''"), '😀 é😀12 😀')).toEqual(['é😀12']);
  });

  it('scans again after masking, so that a shared separator hides nothing', () => {
    expect(found(rule("regex = '''(?:^|,)(\\d+),'''"), '1,2,3,')).toEqual(['1', '2', '3']);
  });

  it('unites overlapping findings under the rule of the longest', () => {
    const toml = "[[rules]]\nid = 'short'\nregex = 'abc'\n[[rules]]\nid = 'long'\nregex = 'bcdef'";
    expect(createEngine([{ name: 't', text: toml }]).scan('xabcdefx')).toEqual([{ rule: 'long', start: 1, end: 7 }]);
  });
});

describe('allowlists', () => {
  const digits = rule("regex = '''k=(\\d+)'''");
  const list = (settings: string): string => `${digits}[[rules.allowlists]]\n${settings}\n`;

  it('excuse by regex on the secret, the match or the line', () => {
    expect(found(list("regexes = ['^12$']"), 'k=12 k=123')).toEqual(['123']);
    expect(found(list("regexTarget = 'match'\nregexes = ['^k=12$']"), 'k=12 k=123')).toEqual(['123']);
    expect(found(list("regexTarget = 'line'\nregexes = ['fine']"), 'k=1\nk=2 fine\nk=3')).toEqual(['1', '3']);
  });

  it('match a line together with the line end before it, as in gitleaks', () => {
    expect(found(list("regexTarget = 'line'\nregexes = ['^\\nk']"), 'k=1\nk=2')).toEqual(['1']);
  });

  it('excuse by stopword, in any case', () => {
    const words = "[[rules]]\nid = 'r'\nregex = 'k=(\\w+)'\n[[rules.allowlists]]\nstopwords = ['TeSt']";
    expect(found(words, 'k=myTESTkey k=other')).toEqual(['other']);
  });

  it('need all kinds with AND and one with OR', () => {
    const both = "regexes = ['1']\nstopwords = ['2']";
    expect(found(list(`condition = 'AND'\n${both}`), 'k=1 k=2 k=12')).toEqual(['1', '2']);
    expect(found(list(`condition = '||'\n${both}`), 'k=1 k=2 k=3')).toEqual(['3']);
  });

  it('of a file apply to all its rules and to no other file', () => {
    const lenient = { name: 'a', text: `[allowlist]\nregexes = ['^1$']\n${digits}` };
    const strict = { name: 'b', text: digits };
    expect(createEngine([lenient]).scan('k=1')).toEqual([]);
    expect(createEngine([lenient, strict]).scan('k=1')).toHaveLength(1);
  });

  it('join their regexes, so that a flag of the first applies to the rest', () => {
    const words = "[[rules]]\nid = 'r'\nregex = 'k=(\\w+)'\n[[rules.allowlists]]\nregexes = ['(?i)^a$', '^b$']";
    expect(found(words, 'k=B k=c')).toEqual(['c']);
  });
});

describe('an unusable rule file is refused, with file and rule named', () => {
  const good = "regex = 'a'";
  it.each([
    ['[[rules]', 'mine.toml: not valid TOML'],
    [rule("regex = '(?=a)'"), 'mine.toml: rule "r": the pattern is refused'],
    [rule("regex = '(a)\\1'"), 'mine.toml: rule "r": the pattern is refused'],
    [rule("regex = '(?<!a)b'"), 'the pattern is refused'],
    [rule("regex = 'a{1001}'"), 'the pattern is refused'],
    [rule(`${good}\nentropie = 3`), 'rule "r": "entropie" is not a known setting'],
    [rule(`${good}\npath = 'x'`), 'rule "r": paths and commits are not known where the pack is used'],
    [rule(`${good}\n[[rules.required]]\nid = 'x'`), 'the required rule "x" is not in this file'],
    [rule(`${good}\ndecoders = ['x']`), '"decoders" is not a known setting'],
    [`[extend]\nuseDefault = true\n${rule(good)}`, 'mine.toml: "extend" is a gitleaks setting'],
    [rule(''), 'rule "r": it has no regex'],
    ["[[rules]]\nregex = 'a'", 'rule number 1: it has no id'],
    [rule(`${good}\nsecretGroup = 1`), '"secretGroup" is 1, the regex has 0 groups'],
    [rule(`${good}\nsecretGroup = 1.5`), '"secretgroup" must be a whole number of 0 or more'],
    [rule(`${good}\nentropy = 'high'`), '"entropy" must be a number'],
    [rule(`${good}\nkeywords = 'a'`), '"keywords" must be a list of strings'],
    [rule(`${good}\nkeywords = ['']`), 'a keyword is empty'],
    [rule(`${good}\nID = 's'`), '"ID" is given twice'],
    [rule(good) + rule(good), 'the id is used twice'],
    [rule(`${good}\n[[rules.allowlists]]\ncondition = 'XOR'\nregexes = ['a']`), 'allowlist 1: "condition" is "XOR"'],
    [rule(`${good}\n[[rules.allowlists]]\nregexTarget = 'file'\nregexes = ['a']`), '"regexTarget" is "file"'],
    [rule(`${good}\n[[rules.allowlists]]\npaths = ['a']`), 'paths and commits are not known where the pack is used'],
    [rule(`${good}\n[[rules.allowlists]]\ndescription = 'a'`), 'it has none of commits, paths, regexes and stopwords'],
    [rule(`${good}\n[[rules.allowlists]]\nregexes = ['(']`), 'allowlist 1: the pattern is refused'],
    [rule(`${good}\nallowlist = { regexes = ['a'] }\nallowlists = [{ regexes = ['a'] }]`), 'cannot be used together'],
    [`surprise = 1\n${rule(good)}`, 'mine.toml: "surprise" is not a known setting'],
  ])('%j', (toml, message) => {
    expect(faultOf(toml)).toContain(`SCHEMA_INVALID mine.toml`);
    expect(faultOf(toml)).toContain(message);
  });

  it('compiles late if asked, and then refuses late', () => {
    const engine = createEngine([{ name: 'mine.toml', text: rule("regex = '('\nkeywords = ['a']") }], {
      compile: 'when used',
    });
    expect(engine.scan('b')).toEqual([]);
    expect(() => engine.scan('a')).toThrow('mine.toml: rule "r"');
  });

  it('is not read by a deferred engine before its first use', () => {
    let built = 0;
    const engine = deferEngine(() => {
      built++;
      return createEngine([{ name: 't', text: rule(good) }]);
    });
    expect(built).toBe(0);
    expect([engine.scan('a').length, engine.ruleCount, built]).toEqual([1, 1, 1]);
  });
});

describe("other people's configurations", () => {
  const official = { name: 'gitleaks.toml', text: "[[rules]]\nid = 'o'\nregex = 'o\\d+'\npath = 'x$'\nunknown = 1" };
  const added = { name: '.gitleaks.toml', text: "[extend]\nuseDefault = true\n[[rules]]\nid = 'a'\nregex = 'a\\d+'" };
  const ids = (options: EngineOptions): string[] =>
    createEngine([], options)
      .scan('o12345678 a12345678')
      .map((finding) => finding.rule);

  it('are read as gitleaks reads them, for an unknown path', () => {
    expect(ids({ official })).toEqual(['o']);
    expect(ids({ official, added: [added] })).toEqual(['o', 'a']);
    expect(ids({})).toEqual([]);
  });

  it('cannot extend a file or a missing official configuration', () => {
    expect(() => ids({ added: [added] })).toThrow('is not installed');
    const other = { name: '.gitleaks.toml', text: "[extend]\npath = 'other.toml'" };
    expect(() => ids({ added: [other] })).toThrow('other.toml, which cannot be read');
  });
});

describe('SEC-1.1 hardened never finds less than exact', () => {
  const deps = { readFile: () => '', official: null };
  const exact = new RuleSet([...pack.map(loadPackFile), loadConfig(official, deps)]);
  const matching = Object.values(RULE_SAMPLES).flatMap(({ match }) => match);
  const clean = Object.values(RULE_SAMPLES).flatMap((samples) => samples.clean);
  const part = fc.oneof(
    fc
      .tuple(fc.constantFrom(...matching), fc.nat())
      .map(([pattern, seed]) => generateSample(pattern, seededRandom(seed))),
    fc
      .oneof(
        fc.tuple(fc.constantFrom(...clean), fc.nat()).map(([pattern, seed]) => generateText(pattern, seed)),
        fc.constantFrom(' ', '\n', '\x1b[1m', '\\n', '"', '\u200b', '%C3%A9', '&quot;', '\r\n', 'words of a text'),
      )
      .map((text) => ({ text, secret: '', start: 0 })),
  );

  // What exact finds besides the secrets of the samples may be a name or an expression: see judge.test.ts.
  it('of the secrets in any text; SEC-1.3 and finds nothing in what it masked', () => {
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
        let text = '';
        const planted: Span[] = [];
        for (const { text: sample, secret, start } of parts) {
          // Words that run into each other make names, which are no secrets, and one value of two. A token goes on with the dashes of a key.
          if (/[\w=}]$/.test(text) && /^[\w*$-]/.test(sample)) text += '\n';
          if (secret !== '') planted.push({ start: text.length + start, end: text.length + start + secret.length });
          text += sample;
        }
        const found = engine.scan(text);
        for (const finding of exact.find(text))
          for (const { start, end } of planted)
            if (finding.start <= start && finding.end >= end)
              expect(isCovered({ rule: '', start, end }, found)).toBe(true);
        expect(engine.scan(maskView(text, found).text)).toEqual([]);
      }),
    );
  });
});

describe('SEC-1.1 findings in views', () => {
  const assigned = rule("regex = '''pw=(\\w{4,})'''\nkeywords = ['pw']");
  const marked = rule("regex = '''tok_[a-z0-9]{20}'''\nkeywords = ['tok_']");
  const token = 'tok_abcdefghij0123456789';

  it('in text joined from pieces count only with a mark of their own', () => {
    const wrapped = `${token.slice(0, 12)}\n${token.slice(12)}`;
    expect(found(marked, wrapped)).toEqual([wrapped]);
    expect(found(assigned, 'pw=" + "abcdefghij0123456789')).toEqual([]);
    expect(found(assigned, 'pw=\x1b[1mk7fw0d2jxq')).toEqual(['k7fw0d2jxq']);
  });

  it('are found through one form inside another', () => {
    const line = `\x1b[31m${token.slice(0, 9)}\x1b[0m${token.slice(9)}`;
    expect(found(marked, JSON.stringify({ log: JSON.stringify({ line }) }))).toHaveLength(1);
    const inner = Buffer.from(`é ${token} and more of it`).toString('base64');
    expect(found(marked, JSON.stringify(`${inner.slice(0, 40)}\n${inner.slice(40)}`))).toHaveLength(1);
    const encoded = token.replace('_', '%5F').replace('c', '%63');
    expect(found(marked, `%C3%A9${encodeURIComponent(encoded)}`)).toHaveLength(1);
  });
});

describe('SEC-1.1 an incomplete private key', () => {
  const lines = (evasionCases(1)[3]?.secrets[0] ?? '').split('\n');
  const masked = (text: string): string => maskView(text, createEngine([]).scan(text)).text;

  it('is found by its first bytes, up to its end', () => {
    expect(masked(`a\n${lines.slice(1, 9).join('\n')}\n$ ls -la\n`)).toBe(`a\n${PLACEHOLDER}\n$ ls -la\n`);
    expect(masked(`key: "${lines.slice(1, 9).join('\\n')}"`)).toBe(`key: "${PLACEHOLDER}"`);
  });

  it('is found by its end', () => {
    const end = lines.at(-1);
    expect(masked(`x y\n${lines.slice(9).join('\n')}\n`)).toBe(`x y\n${PLACEHOLDER}${end}\n`);
    expect(masked(`end:\n${end}\n`)).toBe(`end:\n${end}\n`);
  });

  it('is not found in a certificate', () => {
    const certificate = Buffer.from([0x30, 0x82, 4, 0xbd, 0x30, 0x82, 3, 0xa5, 2, 1, 0, ...Buffer.alloc(200, 7)]);
    const text = `${wrap(certificate.toString('base64'), 64)}\n`;
    expect(masked(text)).toBe(text);
  });
});

describe('the keyword index', () => {
  it('finds exactly the keywords in a text', () => {
    const keyword = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'é'), minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(
        fc.array(keyword),
        fc.string({ unit: fc.constantFrom('a', 'b', 'C', 'é', '😀') }),
        (keywords, text) => {
          const expected = [...keywords.keys()].filter((id) => text.toLowerCase().includes(keywords[id] ?? ''));
          expect([...new KeywordIndex(keywords).find(text)].sort((a, b) => a - b)).toEqual(expected);
        },
      ),
    );
  });
});
