import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEngine } from '#src/scrub/hardened/engine.js';
import { readRuleSources } from '#src/scrub/rule-sources.js';
import { type DaemonAnswer, type DaemonCaller, openCaller } from '../helpers/daemon-caller.ts';
import { type Installation, install } from '../helpers/installation.ts';
import { propertyRuns } from '../helpers/property-runs.ts';
import { ALNUM, type Sample } from '../helpers/sample-patterns.ts';
import { generateSample, RULE_SAMPLES, seededRandom } from '../helpers/secret-samples.ts';

const RUNS = propertyRuns('door');
const SEED = Number(process.env.CONTEXTD_PROPERTY_SEED ?? 20_261_121);
/** A piece of a secret with this many characters counts as a leak. */
const PIECE = 8;

const random = seededRandom(SEED);
const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
const upTo = (most: number): number => Math.floor(random() * (most + 1));

const WORDS = ['build', 'test', 'warning:', 'src/main.ts(12,4)', '0x7ffe', '=>', 'ok', '{', '}', '"name":', '…', 'ünï'];
const words = (count: number): string => Array.from({ length: count }, () => pick(WORDS)).join(' ');
const lines = (count: number): string => Array.from({ length: count }, () => `${words(1 + upTo(9))}\n`).join('');

const PATTERNS = Object.values(RULE_SAMPLES).flatMap(({ match }) => match);
const { pack, official } = readRuleSources();
const engine = createEngine(pack, { official, compile: 'when used' });

interface Planted {
  text: string;
  /** Pieces that only a leak can print. Parts that the pattern itself contains, such as a prefix, are excluded. */
  pieces: string[];
  /** False if a secret is recognised only by its surroundings, which rewriting lines may remove. */
  isPlain: boolean;
}

/** SECURITY.md, known gaps: in a text that looks like code, letters alone are taken for the name of a variable. */
const READS_LIKE_A_NAME = /^[a-z]+$/;

function plant(pattern: string): { sample: Sample; pieces: string[] } {
  const sample = generateSample(pattern, random);
  const other = generateSample(pattern, random).secret;
  const pieces = piecesOf(sample.secret).filter((piece) => new Set(piece).size > 4 && !other.includes(piece));
  return { sample, pieces: READS_LIKE_A_NAME.test(sample.secret) ? [] : pieces };
}

function piecesOf(secret: string): string[] {
  return Array.from({ length: Math.max(0, secret.length - PIECE + 1) }, (_, at) => secret.slice(at, at + PIECE));
}

function tellsItself({ secret }: Sample): boolean {
  const [found] = engine.scan(secret);
  return found !== undefined && found.start === 0 && found.end === secret.length;
}

/** Ordinary output with one to three secrets somewhere, each on its own lines. */
function output(): Planted {
  const planted = Array.from({ length: 1 + upTo(2) }, () => plant(pick(PATTERNS)));
  let text = lines(upTo(60));
  for (const { sample } of planted) text += `${sample.text}\n${lines(upTo(60))}`;
  return {
    text,
    pieces: planted.flatMap(({ pieces }) => pieces),
    isPlain: planted.every(({ sample }) => tellsItself(sample)),
  };
}

const VIEWS = [
  'head',
  'tail',
  'head_tail',
  'errors',
  'digest',
  'json_keys',
  'rows',
  { grep: '.' },
  { grep: '[a-z]+', context: 1 },
  { lines: '3-40' },
  { bytes: '50-3000' },
  { tail: 5 },
  { head_tail: true, densify: false },
];

function printed({ line, errorLine }: DaemonAnswer): string {
  return `${line}\n${errorLine}`;
}

function expectNone(text: string, pieces: ReadonlySet<string>, where: string): void {
  for (let at = 0; at + PIECE <= text.length; at++) {
    const piece = text.slice(at, at + PIECE);
    if (pieces.has(piece)) expect.fail(`${where} holds ${PIECE} characters of a secret, at ${at} (seed ${SEED})`);
  }
}

describe('SEC-1.1 SEC-1.2 SEC-1.3 no piece of a secret leaves', () => {
  let at: Installation;
  let daemon: DaemonCaller;
  const every = new Set<string>();

  beforeAll(async () => {
    at = await install();
    daemon = await openCaller(at, 'property');
  });
  afterAll(async () => {
    daemon.close();
    await at.remove();
  });

  /** Ways in which a text reaches an agent: unchanged and rewritten. */
  const WHOLE: readonly ((file: string) => { tool: string; input: object })[] = [
    (file) => ({ tool: 'safe_bash', input: { command: `cat ${file}` } }),
    (file) => ({ tool: 'safe_bash', input: { command: `cat ${file} >&2; exit 3` } }),
    (file) => ({ tool: 'safe_read', input: { path: file } }),
    (file) => ({ tool: 'safe_read', input: { path: file, tail: 1 + upTo(40) } }),
    (file) => ({ tool: 'safe_read', input: { path: file, bytes: `${upTo(400)}-${400 + upTo(4000)}` } }),
  ];
  const REWRITTEN: typeof WHOLE = [
    (file) => ({ tool: 'safe_bash', input: { command: `cat -A ${file} | sed 's/[$]$//'` } }),
    (file) => ({ tool: 'safe_bash', input: { command: `while read -r l; do "$l"; done <${file}` } }),
    (file) => ({ tool: 'safe_bash', input: { command: `grep -n . ${file}` } }),
  ];

  it(`in ${RUNS} answers with their pages, for any output, budget and view`, { timeout: 3_600_000 }, async () => {
    for (let run = 0; run < RUNS; run++) {
      const planted = output();
      for (const piece of planted.pieces) every.add(piece);
      writeFileSync(join(at.project, 'out.txt'), planted.text);
      const { tool, input } = pick(planted.isPlain ? [...WHOLE, ...REWRITTEN] : WHOLE)('out.txt');
      const max_tokens = 256 + upTo(1500);
      const first = await daemon.call(tool, { ...input, max_tokens, view: pick(VIEWS) });
      expectNone(printed(first), every, `answer ${run} of ${tool} ${JSON.stringify(input)}`);
      const [ref] = first.envelope.refs;
      const again = ref === undefined ? first : await daemon.call('tool_view', { ref, max_tokens, view: pick(VIEWS) });
      expectNone(printed(again), every, `another view of answer ${run}`);
      for (const [caller, from] of [[tool, first] as const, ['tool_view', again] as const]) {
        let { meta } = from.envelope;
        for (let page = 0; meta.pagination !== undefined && page < 30; page++) {
          const next = await daemon.call(caller, { continuation: meta.pagination.cursor, max_tokens });
          expectNone(printed(next), every, `page ${page} of answer ${run}`);
          ({ meta } = next.envelope);
        }
      }
    }
    expect(every.size).toBeGreaterThan(RUNS * 5);
  });

  it('in errors, file names and arguments', async () => {
    const tokens = Array.from({ length: 200 }, () => plant(pick(PATTERNS))).filter(({ sample }) => tellsItself(sample));
    const planted = tokens.slice(0, 5);
    expect(planted).toHaveLength(5);
    for (const { pieces } of planted) for (const piece of pieces) every.add(piece);
    for (const secret of planted.map(({ sample }) => sample.secret).filter((one) => !/[\n/\0]/.test(one))) {
      for (const [tool, input] of [
        ['safe_read', { path: secret }],
        ['safe_bash', { command: 'true', cwd: secret }],
        ['safe_bash', { command: `touch -- '${secret.replaceAll("'", '')}'; ls` }],
        ['safe_read', { path: 'out.txt', lines: secret }],
        [secret, {}],
        ['safe_bash', { [secret]: 1 }],
      ] as const) {
        const told = await daemon.call(tool, input).then(printed, String);
        expectNone(told, every, `the refusal of ${tool.length > 12 ? 'a tool' : tool}`);
      }
    }
  });

  it('in what memory_store is given and keeps, whatever stands beside a key', async () => {
    for (const [at, beside] of ['-u KEY:', 'Config(key=KEY, retries=3)', '7,KEY,x', '?key=KEY&x', '[KEY]'].entries()) {
      const { secret } = generateSample(`«sk_live_${ALNUM}{24}»`, random);
      for (const piece of piecesOf(secret.slice('sk_live_'.length))) every.add(piece);
      const text = beside.replace('KEY', secret);
      const lesson = { title: `lesson ${at}`, description: 'how to call it', content: text, outcome: 'success' };
      const stored = await daemon.call('memory_store', lesson);
      expect(stored.exitCode).toBe(0);
      expectNone(printed(stored), every, `the answer to a memory with ${beside}`);
      const found = await daemon.call('memory_search', { query: `lesson ${at}` });
      expectNone(printed(found), every, `the memory with ${beside}`);
    }
  });

  it('in the stores, the audit log and the daemon log', () => {
    for (const entry of readdirSync(at.home, { recursive: true, encoding: 'utf8' })) {
      const path = join(at.home, entry);
      // It keeps names and contents of the project's files to put them back, for nobody but the daemon.
      if (entry === 'data/undo') expect(statSync(path).mode & 0o077).toBe(0);
      if (entry.startsWith('data/undo/') || !statSync(path, { throwIfNoEntry: false })?.isFile()) continue;
      // Hashes of answers consist of the same digits as many secrets, so eight equal digits can occur by chance.
      expectNone(readFileSync(path, 'utf8').replace(/"output_sha256":"[0-9a-f]{64}"/g, ''), every, entry);
    }
  });
});
