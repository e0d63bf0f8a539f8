import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Detection, type DetectOptions, Detector } from '#src/scrub/exact/detector.js';
import { loadConfig } from '#src/scrub/exact/load-config.js';

function detectorOf(toml: string): Detector {
  return new Detector(loadConfig({ name: 't', text: toml }, { readFile: () => '', official: null }));
}

function detect(toml: string, text: string, options: DetectOptions = {}): Detection[] {
  return detectorOf(toml).detect(text, options);
}

function rule(settings: string, id = 'r'): string {
  return `[[rules]]\nid = '${id}'\n${settings}\n`;
}

function secrets(toml: string, text: string, options: DetectOptions = {}): string[] {
  return detect(toml, text, options).map(({ secret }) => secret);
}

const K = rule("regex = '''k=(\\w+)'''");
const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe('SEC-1.1 the location of a finding', () => {
  const place = (text: string, toml = K): unknown[] =>
    detect(toml, text).map((d) => [d.startLine, d.endLine, d.startColumn, d.endColumn, d.line]);

  it('counts columns from one on the first line and from two on later lines, including the line end before them', () => {
    expect(place('a k=1\n')).toEqual([[1, 1, 3, 5, 'a k=1']]);
    expect(place('a\nk=1\n')).toEqual([[2, 2, 2, 4, '\nk=1']]);
  });

  it('takes all of the text for an unfinished last line', () => {
    expect(place('a\nb k=1 c')).toEqual([[2, 2, 4, 6, 'a\nb k=1 c']]);
    expect(place('a\nb k=1 c\rd')).toEqual([[2, 2, 4, 6, 'a\nb k=1 c']]);
    expect(place('a k=1 c')).toEqual([[1, 1, 3, 5, 'a k=1 c']]);
  });

  it('counts columns in bytes and offsets in UTF-16 units', () => {
    expect(detect(K, 'é😀 k=1 \n')).toMatchObject([{ startColumn: 8, endColumn: 10, start: 6, end: 7 }]);
  });

  it('leaves out line ends after a match and keeps the position of line ends before it', () => {
    const toml = rule("regex = '''\\n+k=(\\w+)\\n'''");
    // The pattern does not match the match alone, so the whole match is the secret.
    expect(detect(toml, 'a\n\nk=12\nb\n')).toMatchObject([
      { match: 'k=12', secret: 'k=12', start: 3, end: 7, startLine: 2, endLine: 3 },
    ]);
  });

  it('reports findings that span lines', () => {
    expect(place('x\nk=1\nl=2\ny\n', rule("regex = '''k=1\\nl=2'''"))).toEqual([[2, 3, 2, 4, '\nk=1\nl=2']]);
  });
});

describe('SEC-1.1 what gitleaks passes over', () => {
  it('is a line with gitleaks:allow, unless comments are ignored', () => {
    const text = 'k=1 # gitleaks:allow\nk=2\n';
    expect(secrets(K, text)).toEqual(['2']);
    expect(secrets(K, text, { heedAllowComments: false })).toEqual(['1', '2']);
  });

  it('skips a whole text before an unfinished last line that is allowed somewhere', () => {
    expect(secrets(K, '# gitleaks:allow\nk=1\nk=2')).toEqual(['1']);
  });

  it('skips paths that an allowlist names, and rules for another path', () => {
    const excused = `${K}[[rules.allowlists]]\npaths = ['\\.lock$']\n`;
    expect(secrets(excused, 'k=1', { path: 'a.lock' })).toEqual([]);
    expect(secrets(excused, 'k=1')).toEqual(['1']);
    const yaml = rule("regex = '''k=(\\w+)'''\npath = '\\.yml$'");
    expect(secrets(yaml, 'k=1', { path: 'a.yml' })).toEqual(['1']);
    expect(secrets(yaml, 'k=1', { path: 'a.txt' })).toEqual([]);
    expect(secrets(yaml, 'k=1')).toEqual([]);
    expect(secrets(`[allowlist]\npaths = ['\\.lock$']\n${K}`, 'k=1', { path: 'a.lock' })).toEqual([]);
  });

  it('skips the secret of a generic rule if another rule finds it too', () => {
    const toml = `${rule("regex = '''key=(\\w+)'''", 'my-GENERIC-rule')}${rule("regex = '''(?:key=)(abc\\w+)'''", 'abc')}`;
    expect(
      detect(toml, 'key=abc1\nkey=xyz1\n')
        .map((d) => `${d.rule}:${d.secret}`)
        .sort(),
    ).toEqual(['abc:abc1', 'my-GENERIC-rule:xyz1']);
    const shorter = `${rule("regex = '''key=(\\w+)'''", 'generic')}${rule("regex = '''key=(ab)'''", 'abc')}`;
    expect(secrets(shorter, 'key=abc1')).toHaveLength(2);
  });

  it('is a rule for paths only if the path does not match', () => {
    const toml = rule("path = '\\.p12$'", 'p') + K;
    expect(detect(toml, 'k=1', { path: 'a.p12' })).toMatchObject([
      { rule: 'p', match: 'file detected: a.p12', startLine: 0 },
      { rule: 'r' },
    ]);
    expect(secrets(toml, 'k=1', { path: 'a.pem' })).toEqual(['1']);
  });
});

describe('SEC-1.1 decoded text', () => {
  it('reports a finding with its decoded text, at the whole encoded place', () => {
    const blob = base64('the key is k=secret99');
    expect(detect(K, `x ${blob} y\n`)).toMatchObject([
      {
        secret: 'secret99',
        start: 2,
        end: 2 + blob.length,
        startColumn: 3,
        tags: ['decoded:base64', 'decode-depth:1'],
      },
    ]);
  });

  it('reports the kinds of all layers', () => {
    const blob = Buffer.from(base64('the key is k=secret99')).toString('hex');
    expect(detect(K, blob)).toMatchObject([
      { start: 0, end: blob.length, tags: ['decoded:hex', 'decoded:base64', 'decode-depth:2'] },
    ]);
    expect(detect(K, blob, { maxDecodeDepth: 1 })).toEqual([]);
    expect(detect(K, blob, { maxDecodeDepth: 0 })).toEqual([]);
  });

  it('reports a finding once: a match without decoded text was found before', () => {
    expect(secrets(K, `k=plain\n${base64('nothing of note 12345')}\n`)).toEqual(['plain']);
  });

  it("searches only where a rule's own keywords occur", () => {
    const toml = rule("regex = '''k=(\\w+)'''\nkeywords = ['hidden']");
    expect(secrets(toml, base64('hidden: k=secret99'))).toEqual(['secret99']);
  });

  it('compares allowlists with the decoded line', () => {
    const toml = `${K}[[rules.allowlists]]\nregexTarget = 'line'\nregexes = ['harmless']\n`;
    expect(secrets(toml, base64('harmless k=secret99'))).toEqual([]);
    expect(secrets(toml, `${base64('the key is k=secret99')}\n harmless`)).toEqual(['secret99']);
  });
});

describe('SEC-1.1 a rule that requires another rule', () => {
  const required = (limits: string): string =>
    `${K}[[rules.required]]\nid = 'l'\n${limits}\n${rule("regex = '''l=(\\w+)'''\nskipReport = true\nkeywords = ['nowhere']", 'l')}`;

  it.each([
    ['', ['1', '2', '3']],
    ['withinLines = 0', ['2']],
    ['withinLines = 1', ['1', '2']],
    ['withinColumns = 0', ['3']],
    ['withinLines = 0\nwithinColumns = 3', []],
  ])('finds nothing if the other rule does not match nearby: %j', (limits, expected) => {
    expect(secrets(required(limits), 'k=1\n..... l=9 k=2\n\n..... k=3\n')).toEqual(expected);
  });

  it('finds nothing if the other is missing', () => {
    expect(secrets(required(''), 'k=1')).toEqual([]);
  });
});

describe('SEC-1.1 any text', () => {
  it('yields secrets that are at their offsets, and the same ones every time', () => {
    const detector = detectorOf(`${K}${rule("regex = '''(?s)\\n*<(.{0,9})>\\n*'''", 'generic')}`);
    const texts = fc
      .array(
        fc.constantFrom(
          'k=',
          'abc',
          '\n',
          '<',
          '>',
          ' ',
          'é',
          '\u{1f600}',
          '\ud800',
          '\u0130',
          base64('k=hidden 1234 <x>'),
        ),
        { maxLength: 24 },
      )
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(texts, (text) => {
        const found = detector.detect(text);
        for (const { start, end, secret, match, tags } of found) {
          expect(0 <= start && start <= end && end <= text.length).toBe(true);
          if (tags.length === 0) expect(text.slice(start, end)).toBe(secret === '' ? match : secret);
        }
        expect(detector.detect(text)).toEqual(found);
      }),
    );
  });
});
