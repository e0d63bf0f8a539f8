import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judge } from '#src/scrub/hardened/judge.js';
import { Judgements } from '#src/scrub/hardened/judgements.js';

/** Lines of which the judgement depends on the rule: data after a name in a manifest, a login on two lines. */
const LINE = fc.constantFrom(
  'stringData:\n  type: kubernetes.io/tls\n  password: "x8Kq2vLr7Tzp"\n',
  'const password = settings.password;\nfunction f(user) {\n  return user.password;\n}\n',
  'login: admin\npassword: request.token\n',
  'API_KEY=q8Wz1mXc5Vb7\n',
);
const RULES = ['plain-secret', 'kubernetes-secret-value', 'login-pair', 'quoted-password'];

describe('SEC-1.1 places that several rules find', () => {
  it('are judged as if each rule were the only one', () => {
    const place = fc.record({
      rule: fc.constantFrom(...RULES),
      at: fc.nat(),
      length: fc.constantFrom(0, 1, 4, 12, 20),
    });
    fc.assert(
      fc.property(
        fc.array(LINE, { minLength: 1, maxLength: 4 }),
        fc.array(place, { maxLength: 12 }),
        (lines, places) => {
          const text = lines.join('');
          const words = Array.from(text.matchAll(/[\w."]+/g), ({ index }) => index);
          const judgements = new Judgements(text);
          for (const { rule, at, length } of places) {
            const start = words[at % words.length] ?? 0;
            const finding = { rule, start, end: Math.min(text.length, start + length) };
            const expected = judge(text, finding);
            expect(judgements.of(finding)).toEqual(expected);
            for (const other of RULES) judgements.of({ ...finding, rule: other });
            expect(judgements.of(finding)).toEqual(expected);
          }
        },
      ),
    );
  });
});
