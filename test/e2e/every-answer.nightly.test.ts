import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DaemonAnswer, type DaemonCaller, openCaller } from '../helpers/daemon-caller.ts';
import { type Installation, install } from '../helpers/installation.ts';
import { propertyRuns } from '../helpers/property-runs.ts';
import { seededRandom } from '../helpers/secret-samples.ts';

const RUNS = propertyRuns('door');
const SEED = Number(process.env.CONTEXTD_PROPERTY_SEED ?? 20_261_121);
const random = seededRandom(SEED);
const upTo = (most: number): number => Math.floor(random() * (most + 1));
const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;

const MARKER = /^… ([\d,]+) bytes omitted; pass meta\.pagination\.cursor as continuation …$/;
const WORDS = [
  'src/a.ts:12:4',
  'error:',
  'ok',
  '世界',
  '😀😀',
  '0x7f',
  '"k":',
  '\t',
  'ünï',
  '{}',
  'FAILED',
  '—'.repeat(9),
];
const line = (): string => Array.from({ length: upTo(12) }, () => pick(WORDS)).join(pick([' ', '  ', '']));
const JSON_TEXT = (): string =>
  JSON.stringify(
    Array.from({ length: upTo(40) }, (_, id) => ({ id, name: line() })),
    null,
    2,
  );
const TEXTS: readonly (() => string)[] = [
  () => Array.from({ length: upTo(400) }, () => `${line()}\n`).join(''),
  () => Array.from({ length: upTo(3000) }, () => pick(WORDS)).join(' '),
  () => `${line()}\n`.repeat(upTo(500)),
  JSON_TEXT,
  () => `id,name\n${Array.from({ length: upTo(200) }, (_, id) => `${id},${id * 7}\n`).join('')}`,
  () => '',
];
const RANGES = [{ lines: '2-30' }, { bytes: '10-2000' }, { head: 40 }, { tail: 40 }] as const;
const ENDS = ['head', 'tail', 'head_tail'] as const;
const MADE = ['errors', 'json_keys', 'rows', 'digest', 'diff', { grep: 'a' }, { grep: 'e.*r', context: 2 }] as const;
const OTHERS = [
  { json_path: '$..name' },
  { json_path: '$[0]' },
  { json_keys: ['id'], path: '$[0]' },
  { digest: { query: 'ok' } },
];

/**
 * The texts between the lines that mark gaps, and the bytes that each mark names. The line ends around a mark belong to
 * it.
 */
function piecesOf(text: string): { pieces: string[]; gaps: number[] } {
  const pieces: string[] = [];
  const gaps: number[] = [];
  let piece: string[] = [];
  for (const one of text.split('\n')) {
    const bytes = MARKER.exec(one)?.[1];
    if (bytes === undefined) piece.push(one);
    else {
      pieces.push(piece.join('\n'));
      gaps.push(Number(bytes.replaceAll(',', '')));
      piece = [];
    }
  }
  return { pieces: [...pieces, piece.join('\n')], gaps };
}

describe('any answer, for any output, tool, budget and view', () => {
  let at: Installation;
  let daemon: DaemonCaller;

  beforeAll(async () => {
    at = await install({ warm: true });
    daemon = await openCaller(at, 'property');
  });
  afterAll(async () => {
    daemon.close();
    await at.remove();
  });

  /** Checks that an answer keeps its budget. The caller checks its shape and count. */
  async function ask(tool: string, input: object, maxTokens: number): Promise<DaemonAnswer> {
    const answer = await daemon.call(tool, { ...input, max_tokens: maxTokens });
    expect(answer.envelope.tokens_used, `${tool} ${JSON.stringify(input)} (seed ${SEED})`).toBeLessThanOrEqual(
      maxTokens,
    );
    return answer;
  }

  /** Returns the texts of all pages, by key of data. */
  async function walk(tool: string, from: DaemonAnswer, maxTokens: number): Promise<Map<string, string>> {
    const pages = new Map<string, string>();
    for (let { meta } = from.envelope; meta.pagination !== undefined; ) {
      const { envelope } = await ask(tool, { continuation: meta.pagination.cursor }, maxTokens);
      for (const [field, text] of Object.entries(envelope.data))
        pages.set(field, (pages.get(field) ?? '') + String(text));
      ({ meta } = envelope);
    }
    return pages;
  }

  /** Puts the pages in place of the gaps in what is shown. */
  function together(shown: string, pages: string): string {
    const { pieces, gaps } = piecesOf(shown);
    const bytes = Buffer.from(pages);
    expect(gaps.reduce((sum, gap) => sum + gap, 0)).toBe(bytes.length);
    let text = pieces[0] ?? '';
    let read = 0;
    for (const [index, gap] of gaps.entries()) {
      text += bytes.subarray(read, read + gap).toString() + (pieces[index + 1] ?? '');
      read += gap;
    }
    return text;
  }

  it(`FR-3.2 FR-3.3 FR-3.4 FR-3.5 CE-1.4 CE-2.4 DATA-2 keeps its budget and shape, and head, pages and tail are the output (${RUNS})`, {
    timeout: 3_600_000,
  }, async () => {
    for (let run = 0; run < RUNS; run++) {
      const [out, err] = [pick(TEXTS)(), upTo(3) === 0 ? pick(TEXTS)() : ''];
      writeFileSync(join(at.project, 'out.txt'), out);
      writeFileSync(join(at.project, 'err.txt'), err);
      const command = `cat out.txt; cat err.txt >&2; exit ${pick([0, 0, 1])}`;
      const view = { [pick(ENDS)]: true, densify: false };
      const maxTokens = 256 + upTo(2500);
      const answer = await ask('safe_bash', { command, view }, maxTokens);
      const pages = await walk(pick(['safe_bash', 'tool_view']), answer, 256 + upTo(2500));
      for (const [field, text] of [
        ['stdout', out],
        ['stderr', err],
      ] as const) {
        const shown = String(answer.envelope.data[field]);
        expect(together(shown, pages.get(field) ?? ''), `${field} of run ${run}, ${JSON.stringify(view)}`).toBe(text);
      }
      await otherViews(answer, { stdout: out, stderr: err });
    }
  });

  async function otherViews({ envelope: { refs } }: DaemonAnswer, texts: { stdout: string; stderr: string }) {
    const [ref] = refs;
    if (ref === undefined) return expect(texts).toEqual({ stdout: '', stderr: '' });
    const maxTokens = 256 + upTo(1500);
    const range = await ask('tool_view', { ref, view: { ...pick(RANGES), densify: false } }, maxTokens);
    const rest = await walk('tool_view', range, maxTokens);
    for (const [field, text] of Object.entries(texts)) {
      if (typeof range.envelope.data[field] !== 'string') continue;
      expect(text).toContain(together(String(range.envelope.data[field]), rest.get(field) ?? ''));
    }
    const made = await ask('tool_view', { ref, view: pick([...MADE, ...OTHERS]) }, maxTokens);
    await walk('tool_view', made, maxTokens);
    await ask('safe_read', { path: 'out.txt', grep: pick(['a', '.', '(']) }, maxTokens);
  }
});
