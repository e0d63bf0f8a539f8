import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '#src/scrub/exact/load-config.js';
import { RulePaths } from '#src/scrub/hardened/rule-paths.js';

const AROUND_CHARS = 4096;
/** A rule for files of each kind, and the lines that only these files have. */
const KINDS: readonly [path: string, line: RegExp][] = [
  ['\\.ya?ml$', /^[ \t-]*["']?[\w.$/-]+["']?:(?:[ \t]|$)/m],
  ['\\.php$', /<\?php|^[ \t]*(?:\$\w+[ \t]*=|'[\w-]+'[ \t]*=>)/m],
  ['nuget\\.config$', /<\w+[^>]*>/],
];
const rules = KINDS.map(([path], at) => `[[rules]]\nid = "kind-${at}"\nregex = 'x'\npath = '''${path}'''\n`);
const paths = new RulePaths([
  loadConfig({ name: 'test', text: rules.join('\n') }, { readFile: () => '', official: null }),
]);

const piece = fc.constantFrom(
  'a: b',
  'key:',
  `${'k'.repeat(900)}:`,
  '\n',
  '\r\n',
  ' ',
  "'a' => ",
  '$a = 1',
  '<?php',
  '<add',
  '>',
  'x'.repeat(50),
  'y\n'.repeat(600),
  'z '.repeat(1500),
);

describe('SEC-1.1 rules for files of a kind', () => {
  it('apply where the text around a place has a line of that kind', () => {
    let applied = 0;
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 14 }), fc.array(fc.nat(), { maxLength: 6 }), (pieces, places) => {
        const text = pieces.join('');
        const holdsAt = paths.in(text);
        for (const at of places)
          for (const [kind, [, line]] of KINDS.entries()) {
            const start = at % (text.length + 1);
            const end = Math.min(text.length, start + 9);
            const isOfKind = line.test(text.slice(Math.max(0, start - AROUND_CHARS), end + AROUND_CHARS));
            expect(holdsAt(`kind-${kind}`, { start, end })).toBe(isOfKind);
            if (isOfKind) applied += 1;
          }
      }),
    );
    expect(applied).toBeGreaterThan(0);
  });

  it('do not apply because of a line of which only the beginning is near', () => {
    const text = `${'x'.repeat(AROUND_CHARS - 10)}\n${'k'.repeat(90)}: v`;
    expect(paths.in(text)('kind-0', { start: 0, end: 4 })).toBe(false);
    expect(paths.in(text)('kind-0', { start: 100, end: 104 })).toBe(true);
  });

  it('apply everywhere if nothing is known of their files', () => {
    expect(paths.in('text')('another', { start: 0, end: 1 })).toBe(true);
  });
});
