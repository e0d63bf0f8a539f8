import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SessionRef } from '#src/call/session.js';
import { systemClock } from '#src/core/clock.js';
import { silentLogger } from '#src/core/log.js';
import type { Finding } from '#src/scrub/finding.js';
import { collectLeaves } from '#src/scrub/leaves.js';
import { createScanner } from '#src/scrub/scan/scanner.js';
import type { Scrubber } from '#src/scrub/scrubber.js';
import { createScrubber, type ScrubberDeps } from '#src/scrub/session-scrubber.js';
import { replaceTokens } from '#src/scrub/vault/look-alike.js';
import { propertyRuns } from '../../helpers/property-runs.ts';
import { generate, generateSample, RULE_SAMPLES, seededRandom } from '../../helpers/secret-samples.ts';
import { sessionNamed } from '../../helpers/sessions.ts';
import { engine, scanner } from '../../helpers/test-rules.ts';

const config = { deadline_base_ms: 60_000, deadline_per_kb_ms: 0 };

function scrubberWith(deps: Partial<ScrubberDeps> = {}): Scrubber {
  const last = new Map<string, number>();
  const numbers = {
    next: ({ session }: SessionRef) => {
      last.set(session, (last.get(session) ?? 0) + 1);
      return last.get(session) ?? 0;
    },
    last: ({ session }: SessionRef) => last.get(session) ?? 0,
  };
  return createScrubber({ scanner, engine, numbers, logger: silentLogger, clock: systemClock, ...deps });
}

const random = seededRandom(7);
const token = (): string => generate('ghp_[A-Za-z0-9]{36}', random);
const withheld = expect.objectContaining({ code: 'SCRUB_FAILED' });

describe('SEC-1.1 SEC-1.3 scrubbing an answer', () => {
  it('replaces secrets with tokens that can be opened again', async () => {
    const scrubber = scrubberWith();
    const [a, b] = [token(), token()];
    const { value, secrets, missedByFirstPass } = await scrubber.scrub(sessionNamed('s'), {
      stdout: `${a} ${b} ${a}`,
      code: 0,
    });
    expect(value).toEqual({ stdout: '[SECRET_1] [SECRET_2] [SECRET_1]', code: 0 });
    expect(secrets).toEqual([
      { token: '[SECRET_1]', rule: 'github-pat' },
      { token: '[SECRET_2]', rule: 'github-pat' },
    ]);
    expect(missedByFirstPass).toBe(0);
    expect(scrubber.openSecrets(sessionNamed('s'), value.stdout)).toBe(`${a} ${b} ${a}`);
  });

  it('masks a known value that only a terminal would put together', async () => {
    const scrubber = scrubberWith();
    const password = generate('[A-Za-z0-9]{24}', random);
    await scrubber.scrub(sessionNamed('s'), `DB_PASSWORD=${password}`);
    const every = (first: number): string =>
      [...password].filter((_, position) => position % 2 === first).join('\u001b[1C');
    const shown = `${every(0)}\r\u001b[1C${every(1)}`;
    const { value } = await scrubber.scrub(sessionNamed('s'), { stdout: `${shown}\n` });
    expect(value.stdout).toMatch(/^\[SECRET_1\].?\n$/);
    const again = await scrubber.scrubAgain(sessionNamed('s'), `${shown}\n`, []);
    expect(again.value).toMatch(/^\[SECRET_1\].?\n$/);
  });

  it('keeps a token for the whole session and shares none with another', async () => {
    const scrubber = scrubberWith();
    const [a, b] = [token(), token()];
    await scrubber.scrub(sessionNamed('one'), [a, b]);
    expect((await scrubber.scrub(sessionNamed('one'), b)).value).toBe('[SECRET_2]');
    expect((await scrubber.scrub(sessionNamed('two'), b)).value).toBe('[SECRET_1]');
    expect(scrubber.openSecrets(sessionNamed('two'), '[SECRET_1]')).toBe(b);
    expect(() => scrubber.openSecrets(sessionNamed('two'), '[SECRET_2]')).toThrow(
      expect.objectContaining({ code: 'SECRET_UNKNOWN' }),
    );
    expect(() => scrubber.openSecrets(sessionNamed('three'), '[SECRET_1]')).toThrow(
      expect.objectContaining({ code: 'SECRET_UNKNOWN' }),
    );
    scrubber.forget(sessionNamed('one'));
    expect(() => scrubber.openSecrets(sessionNamed('one'), '[SECRET_2]')).toThrow(
      expect.objectContaining({ code: 'SECRET_UNKNOWN' }),
    );
  });

  it('gives two concurrent answers the same tokens', async () => {
    const scrubber = scrubberWith();
    const values = Array.from({ length: 20 }, token);
    const answers = await Promise.all([
      scrubber.scrub(sessionNamed('s'), values),
      scrubber.scrub(sessionNamed('s'), values.toReversed()),
    ]);
    expect(answers[0].value).toEqual(answers[1].value.toReversed());
  });

  it('masks a value that was seen even where no pattern finds it', async () => {
    const scrubber = scrubberWith();
    const password = generate('[A-Za-z0-9]{8}-[A-Za-z0-9]{8}', random);
    const first = await scrubber.scrub(sessionNamed('s'), [`the value is x${password}x`, `DB_PASSWORD=${password}`]);
    expect(first.value).toEqual(['the value is x[SECRET_1]x', 'DB_PASSWORD=[SECRET_1]']);
    expect((await scrubber.scrub(sessionNamed('s'), { [password]: 1 })).value).toEqual({ '[SECRET_1]': 1 });
    expect((await scrubber.scrub(sessionNamed('other'), password)).value).toBe(password);
  });

  it.each([
    ['words', 'DB_PASSWORD=correct-horse-battery', 'the correct-horse-battery of the staple'],
    ['a name', 'password: "hiddenCurrentBuild"', 'const hiddenCurrentBuild = 1;'],
    ['a short value', 'DB_PASSWORD=tiger7', '@router.post("/tiger7") -> Message:'],
  ])('masks %s beside the key and nowhere else', async (_what, first, later) => {
    const scrubber = scrubberWith();
    expect((await scrubber.scrub(sessionNamed('s'), first)).value).toContain('[SECRET_1]');
    expect((await scrubber.scrub(sessionNamed('s'), later)).value).toBe(later);
  });

  it('masks short values only if a rule finds them', async () => {
    const { value } = await scrubberWith().scrub(sessionNamed('s'), 'DB_PASSWORD=hunter2\nhunter2 is a word\n');
    expect(value).toBe('DB_PASSWORD=[SECRET_1]\nhunter2 is a word\n');
  });

  it('scrubs object keys and loses no entry', async () => {
    const [a, b] = [token(), token()];
    const { value } = await scrubberWith().scrub(sessionNamed('s'), { [a]: 1, [b]: 2, '[SECRET_1]': 3 });
    expect(value).toEqual({ '[SECRET_1]': 1, '[SECRET_2]': 2, '[SECRET\\_1]': 3 });
  });

  it("SEC-1.1 SEC-1.2: leaves contextd's own names as they are, learns nothing from them, and ignores first-pass claims on them", async () => {
    const scrubber = scrubberWith();
    const [name, secret] = [token(), token()];
    const own = new Set([0]);
    const firstPass = [[{ rule: 'claimed', start: 0, end: 5 }], [{ rule: 'claimed', start: 0, end: 5 }]];
    const first = await scrubber.scrub(sessionNamed('s'), { [name]: `words ${secret}` }, { own, firstPass });
    expect(first.value).toEqual({ [name]: '[SECRET_1] [SECRET_2]' });
    expect(first.missedByFirstPass).toBe(1);
    const again = await scrubber.scrubAgain(sessionNamed('s'), { [name]: name }, [{ rule: 'r', value: name }], {
      own,
    });
    expect(again.value).toEqual({ [name]: '[SECRET_3]' });
  });

  it('neutralises text that looks like a token and restores it', async () => {
    const scrubber = scrubberWith();
    const a = token();
    const { value } = await scrubber.scrub(sessionNamed('s'), `[SECRET_1] ${a} [SECRET\\_9]`);
    expect(value).toBe('[SECRET\\_1] [SECRET_1] [SECRET\\\\_9]');
    expect(scrubber.openSecrets(sessionNamed('s'), value)).toBe(`[SECRET_1] ${a} [SECRET\\_9]`);
  });

  it('masks every value of a .env file', async () => {
    const text = ['# settings', 'DB_PASSWORD=hunter2', 'API_KEY=Tr0ub4dor', 'password=letmein', 'PORT=8080'].join('\n');
    const { value } = await scrubberWith().scrub(sessionNamed('s'), text);
    expect(value).toBe('# settings\nDB_PASSWORD=[SECRET_1]\nAPI_KEY=[SECRET_2]\npassword=[SECRET_3]\nPORT=8080');
  });
});

const samples = Object.values(RULE_SAMPLES).flatMap(({ match }) => match);
const planted = fc.record({ pattern: fc.constantFrom(...samples), seed: fc.nat() });
const noise = fc.oneof(
  fc.string(),
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('\n', '\r\n', ' ', '[SECRET_1]', '[SECRET_', '\\', '"', '{"a":"b"}'),
);

describe('SEC-1.1 a planted secret does not survive', () => {
  it('in any text, at any position, and every token opens again', async () => {
    const whole = fc.tuple(noise, planted, noise, planted, noise);
    await fc.assert(
      fc.asyncProperty(whole, async ([before, one, between, two, after]) => {
        const scrubber = scrubberWith();
        const parts = [one, two].map(({ pattern, seed }) => generateSample(pattern, seededRandom(seed)));
        const text = `${before}\n${parts[0]?.text}\n${between}\n${parts[1]?.text}\n${after}`;
        const { value } = await scrubber.scrub(sessionNamed('s'), text);
        for (const { secret } of parts) if (secret.length >= 12) expect(value).not.toContain(secret);
        expect(scrubber.openSecrets(sessionNamed('s'), value)).toBe(text);
      }),
    );
  });

  it('is masked by its known prefix even in the middle of a word, at every offset', () => {
    const free = [
      'github-pat',
      'gitlab-token',
      'slack-token',
      'stripe-key',
      'google-api-key',
      'npm-token',
      'aws-access-key-id',
    ];
    const word = fc.string({ unit: fc.constantFrom('a', 'Z', '0', '-', '_', '.', '"', '\\', '\x1b[1m', 'é', '😀') });
    const patterns = free.flatMap((id) => RULE_SAMPLES[id]?.match ?? []);
    fc.assert(
      fc.property(word, fc.constantFrom(...patterns), fc.nat(), word, (before, pattern, seed, after) => {
        const { secret } = generateSample(pattern, seededRandom(seed));
        const text = before + secret + after;
        const spans = engine.scan(text);
        expect(spans.some(({ start, end }) => start <= before.length && end >= before.length + secret.length)).toBe(
          true,
        );
      }),
    );
  });

  it('because scrubbed text has nothing more to scrub', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(planted, noise), { maxLength: 5 }), async (pieces) => {
        const text = pieces
          .map((piece) =>
            typeof piece === 'string' ? piece : generateSample(piece.pattern, seededRandom(piece.seed)).text,
          )
          .join('\n');
        const once = await scrubberWith().scrub(sessionNamed('s'), text);
        const again = await scrubberWith().scrub(sessionNamed('s'), once.value);
        expect(again.secrets).toEqual([]);
        expect(replaceTokens(again.value, () => expect.unreachable('no token was given'))).toBe(once.value);
      }),
    );
  });
});

describe('SEC-1.1 a text as later steps show it', () => {
  // Lines that have many readings of the same length, so that the budget for readings is spent.
  const padding = 'lorem ipsum \u001b[1m a&amp;b %41b \\u0041c =41 q\u200bz \uff12 "a" + "b"\n'.repeat(4000);

  it('masks a secret that only a dropped colour splits, however many readings the rest has', async () => {
    const secret = token();
    const text = `${secret.slice(0, 20)}\u001b[1m${secret.slice(20)}\n${padding}`;
    const { value } = await scrubberWith().scrub(sessionNamed('s'), text);
    expect(value.slice(0, 20)).toMatch(/^\[SECRET_1\]\n/);
  });

  it.each([
    ['a long colour', `\u001b[${'0;'.repeat(20)}0m`],
    ['a title', '\u001b]0;t1\u0007'],
    ['a one-character introducer', '\u009b1m'],
    ['a long list of modes', `\u001b[?${'25;'.repeat(15)}25h`],
  ])('masks a known value that only %s splits', async (_, between) => {
    const scrubber = scrubberWith();
    const password = generate('[A-Za-z0-9]{24}', random);
    await scrubber.scrub(sessionNamed('s'), `DB_PASSWORD=${password}`);
    const text = (password.match(/.{6}/g) ?? []).join(between);
    expect((await scrubber.scrub(sessionNamed('s'), text)).value).toBe('[SECRET_1]');
  });

  it.each([3, 5, 8])(
    'masks a secret that a terminal assembles only without the margin of %i characters',
    async (before) => {
      const secret = token();
      const [head, tail] = [secret.slice(0, 20), secret.slice(20)];
      const line = `${'Q'.repeat(before)}${'j'.repeat(20 - before)}${'!'.repeat(before)}${tail}\r${head}\b\nlast\n`;
      const margins = new Map([[0, { before, after: 0 }]]);
      const { value } = await scrubberWith().scrub(sessionNamed('s'), line, { margins });
      expect(value).toContain('[SECRET_1]');
    },
  );
});

describe('SEC-1.1 the margins of a text', () => {
  const margins = new Map([[0, { before: 10, after: 10 }]]);

  it('are not part of the answer, and a secret that their edge cuts is masked whole', async () => {
    const secret = token();
    const shownAt = async (before: number, after: number): Promise<string> => {
      const scrubber = scrubberWith();
      const text = `${'. '.repeat(before)}${secret}${' .'.repeat(after)}`;
      const { value } = await scrubber.scrub(sessionNamed('s'), text, { margins });
      expect(scrubber.openSecrets(sessionNamed('s'), value)).toBe(value.replace('[SECRET_1]', secret));
      return value;
    };
    expect(await shownAt(10, 10)).toBe(`${'. '.repeat(5)}[SECRET_1]${' .'.repeat(5)}`);
    expect(await shownAt(2, 10)).toBe(`[SECRET_1]${' .'.repeat(5)}`);
    expect(await shownAt(10, 2)).toBe(`${'. '.repeat(5)}[SECRET_1]`);
    expect(await shownAt(2, 2)).toBe('[SECRET_1]');
  });

  it('do not reveal a secret that lies in them as a whole', async () => {
    const { value, secrets } = await scrubberWith().scrub(sessionNamed('s'), `AKIA${'Q'.repeat(16)} and more`, {
      margins: new Map([[0, { before: 20, after: 0 }]]),
    });
    expect([value, secrets]).toEqual([' and more', []]);
  });

  it('identify a part of a private key by the text around it', async () => {
    const key = generate('[A-Za-z0-9+/]{64}\n[A-Za-z0-9+/]{64}\n[A-Za-z0-9+/]{64}\n', random);
    const before = '-----BEGIN RSA PRIVATE' + ' KEY-----\n';
    const text = `${before}${key}`;
    const { value } = await scrubberWith().scrub(sessionNamed('s'), text, {
      margins: new Map([[0, { before: before.length + 65, after: 65 }]]),
    });
    expect(value.trim()).toBe('[SECRET_1]');
  });
});

describe('SEC-1.1 a line of contextd in a text', () => {
  const line = '… 5 bytes were not kept by contextd, line 2 …\n';

  it('stays, and its new place is returned, whatever is masked around it', async () => {
    const scrubber = scrubberWith();
    const place = (text: string) => ({ start: text.indexOf(line), end: text.indexOf(line) + line.length });
    const hidden = '. '.repeat(10);
    const text = `${hidden}${token()}\n${line}${token()} end\n`;
    const hints = { ownLines: new Map([[0, place(text)]]), margins: new Map([[0, { before: 20, after: 0 }]]) };
    const { value, ownLines } = await scrubber.scrub(sessionNamed('s'), text, hints);
    expect(value).toBe(`[SECRET_1]\n${line}[SECRET_2] end\n`);
    expect(ownLines.get(0)).toEqual(place(value));
    const known = [{ rule: 'r', value: 'end' }];
    const again = await scrubber.scrubAgain(sessionNamed('s'), value, known, { ownLines });
    expect(again.ownLines.get(0)).toEqual(place(again.value));
  });

  it('stays between two tokens if one secret lies around it', async () => {
    const body = generate('[A-Za-z0-9+/]{64}\n[A-Za-z0-9+/]{64}\n', random);
    const [begin, end] = ['-----BEGIN RSA PRIVATE' + ' KEY-----\n', '-----END RSA PRIVATE' + ' KEY-----\n'];
    const head = `${begin}${body}`;
    const place = { start: head.length, end: head.length + line.length };
    const { value } = await scrubberWith().scrub(sessionNamed('s'), `${head}${line}${body}${end}`, {
      ownLines: new Map([[0, place]]),
    });
    expect(value.trim()).toBe(`[SECRET_1]${line}[SECRET_1]`);
  });
});

describe('SEC-1.2 the first pass', () => {
  const a = token();
  const text = `the ${a} end`;
  const own: Finding = { rule: 'github-pat', start: 4, end: 4 + a.length };

  it('counts what only the daemon finds, if there was a first pass', async () => {
    const missed = async (firstPass?: Finding[][]): Promise<number> =>
      (await scrubberWith().scrub(sessionNamed('s'), [text, text], firstPass && { firstPass })).missedByFirstPass;
    expect(await missed()).toBe(0);
    expect(await missed([[own], [own]])).toBe(0);
    expect(await missed([[own]])).toBe(0);
    expect(await missed([[], [own]])).toBe(1);
    expect(await missed([[], [{ ...own, start: 5 }]])).toBe(2);
  });

  it('can add a mask, which the guard does not remember', async () => {
    const scrubber = scrubberWith();
    const words = 'an ordinary sentence';
    const { value, secrets } = await scrubber.scrub(sessionNamed('s'), words, {
      firstPass: [[{ rule: 'x', start: 3, end: 11 }]],
    });
    expect(value).toBe('an [SECRET_1] sentence');
    expect(secrets).toEqual([{ token: '[SECRET_1]', rule: 'first-pass' }]);
    expect(scrubber.openSecrets(sessionNamed('s'), value)).toBe(words);
    expect((await scrubber.scrub(sessionNamed('s'), words)).value).toBe(words);
  });

  it('cannot change what the daemon finds, mask a long text or reach outside', async () => {
    const long = `${'word '.repeat(200)}${a}`;
    const hostile = [
      { rule: 'x', start: 0, end: long.length },
      { rule: 'x', start: -5, end: 4 },
      { rule: 'x', start: 0.5, end: 4 },
      { rule: 'x', start: 8, end: 2 },
      { rule: 'x', start: long.length - 3, end: long.length + 1 },
      { rule: 'x', start: Number.NaN, end: Number.POSITIVE_INFINITY },
    ];
    const { value, secrets } = await scrubberWith().scrub(sessionNamed('s'), long, { firstPass: [hostile, hostile] });
    expect(value).toBe(`${'word '.repeat(200)}[SECRET_1]`);
    expect(secrets).toEqual([{ token: '[SECRET_1]', rule: 'github-pat' }]);
    const { value: near } = await scrubberWith().scrub(sessionNamed('s'), text, {
      firstPass: [[{ rule: 'x', start: 2, end: 10 }]],
    });
    expect(near).toBe('th[SECRET_1][SECRET_2] end');
  });

  it('never opens or changes a text, whatever it claims', async () => {
    const claim = fc.record({
      rule: fc.string(),
      start: fc.oneof(fc.integer({ min: -2, max: 60 }), fc.double()),
      end: fc.integer({ min: -2, max: 60 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(claim, { maxLength: 6 }), { maxLength: 3 }), async (claims) => {
        const scrubber = scrubberWith();
        const value = { k: text };
        const scrubbed = await scrubber.scrub(sessionNamed('s'), value, { firstPass: claims });
        expect(JSON.stringify(scrubbed.value)).not.toContain(a);
        expect(collectLeaves(scrubbed.value).map((leaf) => scrubber.openSecrets(sessionNamed('s'), leaf))).toEqual([
          'k',
          text,
        ]);
      }),
      { numRuns: propertyRuns('slow') },
    );
  });
});

describe('SEC-1.1 scrubbing fails closed', () => {
  it('refuses the answer if the scanner, the numbering or the value itself fails', async () => {
    const broken = createScanner({
      config,
      logger: silentLogger,
      readRules: () => Promise.reject(new Error('no rules')),
    });
    await expect(scrubberWith({ scanner: broken }).scrub(sessionNamed('s'), 'x')).rejects.toEqual(withheld);
    await broken.stop();
    const numbers = { next: () => Promise.reject(new Error('disk')), last: () => 0 };
    await expect(scrubberWith({ numbers }).scrub(sessionNamed('s'), token())).rejects.toEqual(withheld);
    let deep: string | unknown[] = 'x';
    for (let i = 0; i < 100_000; i++) deep = [deep];
    await expect(scrubberWith().scrub(sessionNamed('s'), deep as never)).rejects.toEqual(withheld);
  });

  it('and reports nothing of the scrubbed text', async () => {
    const secret = token();
    const numbers = { next: () => Promise.reject(new Error(secret)), last: () => 0 };
    const failure = await scrubberWith({ numbers })
      .scrub(sessionNamed('s'), secret)
      .catch((thrown: unknown) => thrown);
    expect(JSON.stringify([failure, String(failure)])).not.toContain(secret);
  });
});

describe('maskText', () => {
  it('masks by pattern and by the values of every session, without numbers', async () => {
    const scrubber = scrubberWith();
    const password = generate('[A-Za-z0-9]{8}-[A-Za-z0-9]{8}', random);
    await scrubber.scrub(sessionNamed('one'), `DB_PASSWORD=${password}`);
    expect(scrubber.maskText(`failed with ${password} and ${token()}`)).toBe('failed with [SECRET] and [SECRET]');
    expect(scrubber.maskText('[SECRET_4] stays')).toBe('[SECRET_4] stays');
  });

  it('cuts a long text without cutting a secret in two', () => {
    const secret = token();
    for (const at of [61_400, 61_420, 61_436, 61_440, 65_500, 65_530]) {
      const masked = scrubberWith().maskText(`${'x'.repeat(at - 1)} ${secret}${' y'.repeat(40_000)}`);
      expect(masked).not.toContain(secret.slice(0, 10));
      expect(masked.length).toBeLessThan(66_000);
      expect(masked).toMatch(/… \(\d+ characters left out\)$/);
    }
  });

  it('withholds the text if the engine fails', () => {
    const failing = { ruleCount: 0, scan: () => expect.fail('on purpose') };
    expect(scrubberWith({ engine: failing }).maskText('x')).toBe(
      '[text withheld: it could not be searched for secrets]',
    );
  });
});
