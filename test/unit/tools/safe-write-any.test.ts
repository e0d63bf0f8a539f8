import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createPatch } from 'diff';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { runTool } from '#src/sdk/test-harness.js';
import type { JsonObject } from '#src/sdk/tool.js';
import { findBytes } from '#tools/safe_write/find-text.js';
import { createSafeWrite } from '#tools/safe_write/main.js';
import { propertyRuns } from '../../helpers/property-runs.ts';
import { useWorkspace } from './temp-workspace.ts';

const workspace = useWorkspace();
const tool = createSafeWrite();
const numRuns = propertyRuns();
/** Each case syncs a file to disk. */
const TIMEOUT_MS = 60_000 + 30 * numRuns;

const piece = fc.constantFrom(
  'a',
  'b',
  'ab',
  'aa',
  '\n',
  '\r\n',
  '  ',
  '\t',
  'é',
  '😀',
  '[SECRET\\_1]',
  '\\',
  '+',
  '- ',
  '@@ ',
);
const text = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(''));

async function run(before: string, input: JsonObject) {
  const path = join(workspace.path, 'file');
  writeFileSync(path, before);
  const outcome = await runTool(tool, { path: 'file', ...input }, { workspace: workspace.path }).then(
    ({ output }) => ({ data: output.data, code: output.failure?.code }),
    (thrown: { code: string }) => ({ data: null, code: thrown.code }),
  );
  return { ...outcome, after: readFileSync(path) };
}

/** Replaces every line end with CRLF. */
const isCrlf = (content: string): boolean => content.includes('\n') && !/(?<!\r)\n/.test(content);

interface Edit {
  old: string;
  new: string;
  all: boolean;
}

const pieces = fc.array(piece, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(''));

/** Usually a part of the text; if it is empty, or the text is empty, the drawn text. */
function drawOld(before: string, draw: { pieces: string; at: number; length: number }): string {
  const characters = [...before];
  const start = draw.at % Math.max(1, characters.length);
  return characters.slice(start, start + draw.length).join('') || draw.pieces;
}

/** In a file with both line ends, the lines that are replaced decide. */
function adapted(content: string, { old, new: next, all }: Edit): [string, string] {
  const crlf = (part: string): string => part.replaceAll('\n', '\r\n');
  if (old.includes('\n')) return content.includes(old) ? [old, next] : [crlf(old), crlf(next)];
  const at = content.indexOf(old);
  const newline = at === -1 || all ? -1 : content.indexOf('\n', at);
  return newline > 0 && content[newline - 1] === '\r' ? [old, crlf(next)] : [old, next];
}

/** Null if an edit does not apply. */
function naively(before: string, edits: readonly Edit[]): string | null {
  let content = before;
  for (const { all, ...edit } of edits) {
    const mayTranslate = before.includes('\r\n') && !edit.old.includes('\r') && !edit.new.includes('\r');
    const whole = [edit.old, edit.new].map((part) => (mayTranslate ? part.replaceAll('\n', '\r\n') : part));
    const [old, next] = mayTranslate && !isCrlf(before) ? adapted(content, { ...edit, all }) : whole;
    if (old === undefined || next === undefined) return null;
    const first = content.indexOf(old);
    if (first === -1) return null;
    if (!all && content.indexOf(old, first + 1) !== -1) return null;
    content = all ? content.split(old).join(next) : content.slice(0, first) + next + content.slice(first + old.length);
  }
  return content;
}

/** The lines that `ranges` does not name. */
function linesBeside(content: string, ranges: readonly string[]): string[] {
  const named = ranges.map((range) => range.split('-').map(Number));
  const lines = content.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  return lines.filter((_, n) => !named.some(([first = 0, last = first]) => first <= n + 1 && n + 1 <= last));
}

function isSubsequence(few: readonly string[], many: readonly string[]): boolean {
  let at = 0;
  for (const line of many) if (line === few[at]) at += 1;
  return at === few.length;
}

it(
  'FR-4.3 edits do what plain string replacement does, or nothing',
  async () => {
    const drawn = fc.record({ pieces, at: fc.nat(), length: fc.nat(8), new: text, all: fc.boolean() });
    let applied = 0;
    await fc.assert(
      fc.asyncProperty(text, fc.array(drawn, { minLength: 1, maxLength: 4 }), async (before, draws) => {
        const list = draws.map((draw) => ({ old: drawOld(before, draw), new: draw.new, all: draw.all }));
        const { data, code, after } = await run(before, { edits: list.map((edit) => ({ ...edit })) });
        const expected = naively(before, list);
        expect(after.equals(Buffer.from(expected ?? before))).toBe(true);
        expect(code).toBe(expected === null ? 'CONFLICT' : undefined);
        if (expected === null) return;
        applied += 1;
        const ranges = data?.changed as string[];
        expect(isSubsequence(linesBeside(expected, ranges), before.match(/[^\n]*\n|[^\n]+$/g) ?? [])).toBe(true);
      }),
      { numRuns },
    );
    expect(applied).toBeGreaterThan(numRuns / 5);
  },
  TIMEOUT_MS,
);

it(
  'FR-4.3 a patch between two texts turns the first into the second, byte for byte',
  async () => {
    await fc.assert(
      fc.asyncProperty(text, text, fc.integer({ min: 1, max: 4 }), async (before, after, context) => {
        const patch = createPatch('file', before, after, '', '', { context });
        // A patch without CRLF gives CRLF to a CRLF file.
        fc.pre(before !== after && !(isCrlf(before) && !patch.includes('\r')));
        const outcome = await run(before, { patch });
        expect(outcome.code).toBeUndefined();
        expect(outcome.after.equals(Buffer.from(after))).toBe(true);
        const ranges = outcome.data?.changed as string[];
        expect(isSubsequence(linesBeside(after, ranges), before.match(/[^\n]*\n|[^\n]+$/g) ?? [])).toBe(true);
      }),
      { numRuns, examples: [['- ', '\r\n\n- ', 1]] },
    );
  },
  TIMEOUT_MS,
);

it(
  'FR-4.3 a patch for another text is applied where its lines are, or not at all',
  async () => {
    const near = fc
      .array(fc.constantFrom('a\n', 'b\n', 'c\n', 'd\n'), { maxLength: 12 })
      .map((lines) => lines.join(''));
    let applied = 0;
    await fc.assert(
      fc.asyncProperty(near, near, near, fc.nat(3), async (first, second, other, context) => {
        fc.pre(first !== second);
        const { code, after, data } = await run(other, { patch: createPatch('f', first, second, '', '', { context }) });
        if (code !== undefined) {
          expect(code).toBe('CONFLICT');
          expect(after.toString()).toBe(other);
          return;
        }
        applied += 1;
        // The number of lines changes as between the two texts, and only named lines change.
        expect(after.length - other.length).toBe(second.length - first.length);
        expect(
          isSubsequence(linesBeside(after.toString(), data?.changed as string[]), other.match(/.*\n/g) ?? []),
        ).toBe(true);
      }),
      { numRuns },
    );
    expect(applied).toBeGreaterThan(numRuns / 20);
  },
  TIMEOUT_MS,
);

it('finds a text wherever a naive search finds it, also a long text', () => {
  const letters = fc.array(fc.constantFrom('a', 'b'), { minLength: 1, maxLength: 6 }).map((all) => all.join(''));
  fc.assert(
    fc.property(letters, fc.integer({ min: 1, max: 60 }), letters, fc.nat(200), (unit, times, more, cut) => {
      const wanted = unit.repeat(times) + more;
      const whole = (wanted.slice(cut % wanted.length) + wanted).repeat(3);
      const expected: number[] = [];
      for (let at = whole.indexOf(wanted); at !== -1; at = whole.indexOf(wanted, at + 1)) expected.push(at);
      const found = (overlapping: boolean) => [...findBytes(Buffer.from(whole), Buffer.from(wanted), { overlapping })];
      expect(found(true)).toEqual(expected);
      expect(found(false)).toHaveLength(whole.split(wanted).length - 1);
    }),
    { numRuns },
  );
});
