import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect, type DaemonClient } from '#src/cli/client.js';
import { readEnvironment } from '#src/config/env.js';
import { findInstallRoot } from '#src/config/install-root.js';
import { resolvePaths } from '#src/config/paths.js';
import { newRequestId } from '#src/core/ids.js';
import { PROTOCOL_VERSION } from '#src/protocol/versions.js';
import { readRulePack } from '#src/scrub/exact/rule-pack.js';
import { createEngine } from '#src/scrub/hardened/engine.js';
import { type Answer, type Installation, install } from '../helpers/installation.ts';
import type { Sample } from '../helpers/sample-patterns.ts';
import { generateSample, RULE_SAMPLES, seededRandom } from '../helpers/secret-samples.ts';

/** 300 in the gate; a nightly run sets CONTEXTD_PROPERTY_RUNS=10000. */
const RUNS = Number(process.env.CONTEXTD_PROPERTY_RUNS ?? 300);
const SEED = Number(process.env.CONTEXTD_PROPERTY_SEED ?? 20_261_121);
/** A piece of this many characters of a secret is a leak. */
const PIECE = 8;

const random = seededRandom(SEED);
const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
const upTo = (most: number): number => Math.floor(random() * (most + 1));

const WORDS = ['build', 'test', 'warning:', 'src/main.ts(12,4)', '0x7ffe', '=>', 'ok', '{', '}', '"name":', '…', 'ünï'];
const words = (count: number): string => Array.from({ length: count }, () => pick(WORDS)).join(' ');
const lines = (count: number): string => Array.from({ length: count }, () => `${words(1 + upTo(9))}\n`).join('');

const PATTERNS = Object.values(RULE_SAMPLES).flatMap(({ match }) => match);
const engine = createEngine(readRulePack(join(findInstallRoot(), 'src/scrub/rules')), { compile: 'when used' });

interface Planted {
  text: string;
  /** Pieces that only a leak can print: what the pattern itself says, such as a prefix, is not among them. */
  pieces: string[];
  /** False: some secret is one only by what stands beside it, which a way that rewrites lines may take away. */
  isPlain: boolean;
}

function plant(pattern: string): { sample: Sample; pieces: string[] } {
  const sample = generateSample(pattern, random);
  const other = generateSample(pattern, random).secret;
  const pieces = piecesOf(sample.secret).filter((piece) => new Set(piece).size > 4 && !other.includes(piece));
  return { sample, pieces };
}

function piecesOf(secret: string): string[] {
  return Array.from({ length: Math.max(0, secret.length - PIECE + 1) }, (_, at) => secret.slice(at, at + PIECE));
}

function tellsItself({ secret }: Sample): boolean {
  const [found] = engine.scan(secret);
  return found !== undefined && found.start === 0 && found.end === secret.length;
}

/** Ordinary output with one to three secrets somewhere, on lines of their own as the samples are. */
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

function expectNone(text: string, pieces: ReadonlySet<string>, where: string): void {
  for (let at = 0; at + PIECE <= text.length; at++) {
    const piece = text.slice(at, at + PIECE);
    if (pieces.has(piece)) expect.fail(`${where} holds ${PIECE} characters of a secret, at ${at} (seed ${SEED})`);
  }
}

describe('SEC-1.1 SEC-1.2 SEC-1.3 no piece of a secret leaves', () => {
  let at: Installation;
  let daemon: DaemonClient;
  const every = new Set<string>();

  beforeAll(async () => {
    at = await install();
    const home = { ...readEnvironment(at.environment), contextdHome: at.home };
    daemon = await connect(resolvePaths(home, findInstallRoot()));
  });
  afterAll(async () => {
    daemon.close();
    await at.remove();
  });

  async function call(tool: string, input: object): Promise<{ line: string; answer: Answer }> {
    const { envelope_json, error_line } = await daemon.execute(
      {
        tool,
        input_json: Buffer.from(JSON.stringify(input)),
        context: {
          request_id: newRequestId(Date.now()),
          project_root: at.project,
          session_id: 'property',
          protocol_version: PROTOCOL_VERSION,
        },
      },
      new AbortController().signal,
    );
    const line = envelope_json.toString();
    return { line: `${line}\n${error_line}`, answer: JSON.parse(line) };
  }

  /** Ways in which a text reaches an agent: as it is, and rewritten. */
  const WHOLE: readonly ((file: string) => { tool: string; input: object })[] = [
    (file) => ({ tool: 'safe_bash', input: { command: `cat ${file}` } }),
    (file) => ({ tool: 'safe_bash', input: { command: `cat ${file} >&2; exit 3` } }),
    (file) => ({ tool: 'safe_read', input: { path: file } }),
    (file) => ({ tool: 'safe_read', input: { path: file, tail: 1 + upTo(40) } }),
    (file) => ({ tool: 'safe_read', input: { path: file, bytes: `${upTo(400)}-${400 + upTo(4000)}` } }),
  ];
  const REWRITTEN: typeof WHOLE = [
    (file) => ({ tool: 'safe_bash', input: { command: `cat -A ${file} | tr -d '$'` } }),
    (file) => ({ tool: 'safe_bash', input: { command: `while read -r l; do "$l"; done <${file}` } }),
    (file) => ({ tool: 'safe_bash', input: { command: `grep -n . ${file}` } }),
  ];

  it(`in ${RUNS} answers with their pages, for any output, budget and view`, { timeout: 3_600_000 }, async () => {
    for (let run = 0; run < RUNS; run++) {
      const planted = output();
      for (const piece of planted.pieces) every.add(piece);
      writeFileSync(join(at.project, 'out.txt'), planted.text);
      const { tool, input } = pick(planted.isPlain ? [...WHOLE, ...REWRITTEN] : WHOLE)('out.txt');
      const budget = { max_tokens: 256 + upTo(1500), view: pick(['head', 'tail', 'head_tail']) };
      let { line, answer } = await call(tool, { ...input, ...budget });
      expectNone(line, every, `answer ${run} of ${tool} ${JSON.stringify(input)}`);
      for (let page = 0; answer.meta.pagination !== undefined && page < 50; page++) {
        ({ line, answer } = await call(tool, {
          continuation: answer.meta.pagination.cursor,
          max_tokens: budget.max_tokens,
        }));
        expectNone(line, every, `page ${page} of answer ${run}`);
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
        const { line } = await call(tool, input).catch((error: unknown) => ({ line: String(error) }));
        expectNone(line, every, `the refusal of ${tool.length > 12 ? 'a tool' : tool}`);
      }
    }
  });

  it('in the stores, the audit log and the daemon log', () => {
    for (const entry of readdirSync(at.home, { recursive: true, encoding: 'utf8' })) {
      const path = join(at.home, entry);
      if (!statSync(path, { throwIfNoEntry: false })?.isFile()) continue;
      // Hashes of answers are made of the same digits as many a secret: eight of them meet by chance.
      expectNone(readFileSync(path, 'utf8').replace(/"output_sha256":"[0-9a-f]{64}"/g, ''), every, entry);
    }
  });
});
