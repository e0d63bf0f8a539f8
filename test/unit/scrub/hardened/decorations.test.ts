import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { undecorated, wordsAfter, wordsBefore } from '#src/scrub/hardened/views/decorations.js';
import type { View } from '#src/text/offset-map.js';
import { engine } from '../../../helpers/test-rules.ts';

/** What a program writes before the line with a number. */
const PREFIXES: Readonly<Record<string, (at: number) => string>> = {
  'a sign of a diff': () => '+',
  'a quotation': () => '> ',
  'a quotation in a quotation': () => '> > ',
  'a bar': () => '| ',
  'grep -n': (at) => `${at}:`,
  'grep -n -A': (at) => `${at}${at % 2 === 0 ? ':' : '-'}`,
  'grep -n over files': (at) => `k8s/app-1.yaml-${at}-`,
  'grep -H': () => './k8s/app-1.yaml:',
  'cat -n': (at) => `${String(at).padStart(6)}\t`,
  bat: (at) => `${String(at).padStart(5)} │ `,
  'a service': () => 'web-1  | ',
  'a side of a diff': () => '< ',
  'a diff with context': () => '! ',
  'a pod': () => '[pod/web-7d9f8b6c5-x2x4z/app] ',
  Maven: () => '[INFO] ',
  'git blame': (at) =>
    `3f2a1b${at % 10}c (Ann Example 2026-11-0${1 + (at % 9)} 10:11:12 +0100 ${String(at).padStart(3)}) `,
  'git blame with a file': (at) => `^3f2a1b4 k8s/app-1.yaml (Ann 2026-11-02 10:11:12 +0100 ${at}) `,
  'git blame -s': (at) => `3f2a1b4c ${at}) `,
  'git grep at a revision': (at) => `HEAD~2:k8s/app-1.yaml:${at}:`,
  'git grep at a revision, without numbers': () => 'HEAD:k8s/app-1.yaml:',
};

const line = fc.stringMatching(/^ {0,6}[a-z]{3,12}: [a-z]{2,12}$/);
const lines = fc
  .tuple(fc.array(line, { maxLength: 8 }), fc.array(line, { minLength: 1, maxLength: 8 }))
  .map(([above, below]) => [...above, '  - name: DB_PASSWORD', ...below]);

function linesOf(view: View | null): string[] {
  return view?.text.split('\n').filter((one) => one !== '') ?? [];
}

describe('SEC-1.1 lines are read without what a program writes before each of them', () => {
  it.each(Object.entries(PREFIXES))('%s', (_, prefix) => {
    fc.assert(
      fc.property(lines, fc.integer({ min: 1, max: 400 }), (plain, first) => {
        const text = `${plain.map((one, at) => prefix(first + at) + one).join('\n')}\n`;
        const view = undecorated(text);
        expect(linesOf(view), text).toEqual(plain);
        for (const one of plain) {
          const start = view?.text.indexOf(one) ?? -1;
          const place = view?.toOriginal(start, start + one.length);
          expect(text.slice(place?.start, place?.end)).toBe(one);
        }
      }),
    );
  });

  it('not if the numbers of the lines show that others stand between them', () => {
    expect(undecorated('7:  - name: DB_PASSWORD\n9:    value: kangaroo\n')).toBeNull();
    expect(undecorated('a.yaml:7:  - name: DB_PASSWORD\nb.yaml:8:    value: kangaroo\n')).toBeNull();
  });

  it('not a table, a list, code and a log', () => {
    const texts = [
      '| name | password |\n| me | x |\n',
      'const token = read();\nreturn token;\n',
      '2026-11-29 10:11:12 token read\n2026-11-29 10:11:13 token sent\n',
      '  - name: DB_PASSWORD\n    value: x\n',
    ];
    for (const text of texts) expect(undecorated(text), text).toBeNull();
  });

  it('a hunk as it becomes, and then as it was', () => {
    const hunk = '@@ -1,3 +1,3 @@\n   - name: DB_PASSWORD\n-    value: old\n+    value: new\n   - name: PORT\n';
    expect(linesOf(undecorated(hunk))).toEqual([
      '  - name: DB_PASSWORD',
      '    value: new',
      '  - name: PORT',
      '  - name: DB_PASSWORD',
      '    value: old',
      '  - name: PORT',
    ]);
  });

  it('not a list whose items begin with a dash', () => {
    const texts = ['- name: DB_PASSWORD\n- the token of a session\n', '- token\n- password\n- secret\n'];
    for (const text of texts) expect(undecorated(text), text).toBeNull();
    expect(linesOf(undecorated('-- name: DB_PASSWORD\n-  value: x\n'))).toEqual(['- name: DB_PASSWORD', '  value: x']);
  });

  it('a last line without its end, with the way back to each character', () => {
    const text = '> the token\n> password: kangaroo';
    const view = undecorated(text);
    const start = view?.text.indexOf('kangaroo') ?? -1;
    const place = view?.toOriginal(start, start + 'kangaroo'.length);
    expect(text.slice(place?.start, place?.end)).toBe('kangaroo');
  });

  it('each line once, however many names stand near each other', () => {
    for (const prefix of ['+', '> ', 'web-1  | ', '[INFO] ']) {
      const text = `${prefix}  token: abc\n`.repeat(5000);
      expect(undecorated(text)?.text.length).toBeLessThanOrEqual(text.length);
    }
    const indented = `+x\n${'  token: abc\n'.repeat(5000)}`;
    expect(undecorated(indented)?.text.length).toBeLessThanOrEqual(indented.length);
  });

  it('and only near the name of a secret, so that a long diff is not read twice', () => {
    const filler = '+  port: 1\n'.repeat(10_000);
    const text = `${filler}+  - name: DB_PASSWORD\n+    value: x\n${filler}`;
    expect(undecorated(text)?.text.length).toBeLessThan(1000);
  });
});

describe('SEC-1.1 a diff of words is read on both sides', () => {
  const diff = '  password: [-kangaroo-]{+wombat+} # [-was-]\n';

  it('as it was, and as it becomes', () => {
    expect(wordsBefore(diff)?.text.trimEnd()).toBe('  password: kangaroo # was');
    expect(wordsAfter(diff)?.text.trimEnd()).toBe('  password: wombat #');
  });

  it('with the way back to each word', () => {
    const view = wordsAfter(diff);
    const start = view?.text.indexOf('wombat') ?? -1;
    const place = view?.toOriginal(start, start + 'wombat'.length);
    expect(diff.slice(place?.start, place?.end)).toBe('wombat');
  });

  it('and a password of which a part was changed is masked as a whole', () => {
    const text = `password: kQ7x[-w2mX9-]{+tR4bZ8+}sLp4\n`;
    const [found] = engine.scan(text);
    expect(text.slice(found?.start, found?.end)).toContain('[-w2mX9-]{+tR4bZ8+}sLp4');
  });
});
