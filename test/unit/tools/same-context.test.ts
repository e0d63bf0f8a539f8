import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '#src/core/clock.js';
import { silentLogger } from '#src/core/log.js';
import { createEngine } from '#src/scrub/hardened/engine.js';
import { createScrubber } from '#src/scrub/session-scrubber.js';
import { runTool } from '#src/sdk/test-harness.js';
import type { JsonObject } from '#src/sdk/tool.js';
import { safeRead } from '#tools/safe_read/main.js';
import { shapeRuns } from '../../helpers/property-runs.ts';
import { generate, seededRandom } from '../../helpers/sample-patterns.ts';
import { sessionNamed } from '../../helpers/sessions.ts';
import { scanner } from '../../helpers/test-rules.ts';
import { useWorkspace } from './temp-workspace.ts';

const workspace = useWorkspace();
const random = seededRandom(166);
const make = (pattern: string): string => generate(pattern, random);
const pick = (count: number): number => Math.floor(random() * count);

/** Lines that are secret only because of what stands around them, or shown for what they are. */
const BLOCKS: readonly (() => string[])[] = [
  () => ['-----BEGIN RSA PRIVATE KEY-----', ...base64Lines(12 + pick(40)), '-----END RSA PRIVATE KEY-----'],
  () => ['-----BEGIN OPENSSH PRIVATE KEY-----', ...base64Lines(6), '-----END OPENSSH PRIVATE KEY-----'],
  () => [
    '---',
    'apiVersion: v1',
    'kind: Secret',
    'metadata:',
    '  name: app',
    'data:',
    ...Array.from({ length: 1 + pick(30) }, (_, i) => `  entry${i}: ${base64Of(make('[a-z]{6,10}[0-9]{2}'))}`),
    '---',
  ],
  () => [
    '---',
    'apiVersion: v1',
    'data:',
    ...Array.from({ length: 1 + pick(30) }, (_, i) => `  item${i}: ${base64Of(make('[a-z]{6,10}[0-9]{2}'))}`),
    'kind: Secret',
    'metadata:',
    '  name: db',
    '---',
  ],
  () => [`DB_PASSWORD=${make('[a-z]{4}[0-9]{3}')}`, `API_TOKEN=${make('ghp_[A-Za-z0-9]{36}')}`],
  () => [
    `machine ${make('[a-z]{5}')}.example.com`,
    `  login ${make('[a-z]{5}')}`,
    `  password ${make('[a-z]{6}[0-9]{3}')}`,
  ],
  () => [
    '[default]',
    `aws_access_key_id = ${make('AKIA[A-Z2-7]{16}')}`,
    `aws_secret_access_key = ${make('[A-Za-z0-9/+]{40}')}`,
  ],
];

function base64Of(text: string): string {
  return Buffer.from(text).toString('base64');
}

function base64Lines(count: number): string[] {
  return ['MIIEpAIBAAKCAQEA', '']
    .slice(0, 1)
    .map((head) => head + make('[A-Za-z0-9+/]{48}'))
    .concat(Array.from({ length: count }, () => make('[A-Za-z0-9+/]{64}')));
}

const filler = (): string => `step ${make('[a-z]{3,8}')} of ${make('[a-z]{3,8}')} is done`;
const fillers = (count: number): string[] => Array.from({ length: count }, filler);

/** A file of random blocks, and where each begins. */
function randomFile(fillLines: () => number): { lines: string[]; blocks: { start: number; end: number }[] } {
  const lines: string[] = fillers(fillLines());
  const blocks: { start: number; end: number }[] = [];
  for (let i = 0; i < 4; i++) {
    const block = BLOCKS[pick(BLOCKS.length)]?.() ?? [];
    blocks.push({ start: lines.length + 1, end: lines.length + block.length });
    lines.push(...block, ...fillers(fillLines()));
  }
  return { lines, blocks };
}

let sessions = 0;

/** What an agent of a new session sees, with the numbers of tokens left out. */
async function shown(input: JsonObject): Promise<string> {
  const { output } = await runTool(safeRead, { path: 'file', ...input }, { workspace: workspace.path });
  const [stream] = output.streams ?? [];
  let last = 0;
  const scrubber = createScrubber({
    scanner,
    engine: createEngine([]),
    numbers: { next: () => ++last, last: () => last },
    logger: silentLogger,
    clock: systemClock,
  });
  sessions += 1;
  const { value } = await scrubber.scrub(sessionNamed(`s${sessions}`), [stream?.text ?? ''], {
    ...(stream?.margin === undefined ? {} : { margins: new Map([[0, stream.margin]]) }),
    ...(stream?.parts === undefined ? {} : { parts: new Map([[0, stream.parts]]) }),
  });
  return (value[0] ?? '').replace(/\[SECRET_\d+\]/g, '[S]');
}

/** Parts that begin and end inside, before and behind the blocks. */
function partsOf(lines: readonly string[], { start, end }: { start: number; end: number }): JsonObject[] {
  const middle = start + pick(end - start + 1);
  const tail = lines.length - middle + 1;
  const bytesBefore = Buffer.byteLength(`${lines.slice(0, middle - 1).join('\n')}\n`);
  const word = (lines[middle - 1] ?? '').replace(/^.*[ =]/, '').slice(0, 12);
  return [
    { lines: `${middle}` },
    { lines: `${middle}-${end}` },
    { lines: `${start}-${middle}` },
    { head: middle },
    { tail },
    { bytes: `${bytesBefore}-${bytesBefore + 400}` },
    { grep: word.replace(/[^A-Za-z0-9]/g, '.') },
    { grep: word.replace(/[^A-Za-z0-9]/g, '.'), context: 2 },
    { grep: '[A-Za-z0-9+/]{8}$' },
  ];
}

/** The lines that an answer shows whole, without the numbers of grep. */
function linesShown(answer: string, part: JsonObject): string[] {
  const all = answer.split('\n').slice(0, -1);
  if (part.grep !== undefined) return all.filter((line) => line !== '--').map((line) => line.replace(/^\d+[:-]/, ''));
  return part.bytes === undefined ? all : all.slice(0, -1);
}

describe('SEC-1.1 issue 16.6 a part of a file is masked as it is in the whole', () => {
  it.each(Array.from({ length: shapeRuns(4) }, (_, i) => [i]))(
    'file %i: lines, head, tail, bytes and grep',
    async () => {
      const { lines, blocks } = randomFile(() => 1 + pick(60));
      writeFileSync(join(workspace.path, 'file'), `${lines.join('\n')}\n`);
      const whole = new Set((await shown({})).split('\n'));
      expect(whole.has('[S]') || [...whole].some((line) => line.includes('[S]'))).toBe(true);
      for (const block of blocks)
        for (const part of partsOf(lines, block))
          for (const line of linesShown(await shown(part), part))
            expect([line, part, whole.has(line)]).toEqual([line, part, true]);
    },
  );

  it('in a long file: the same, if a block is not too long', async () => {
    const { lines, blocks } = randomFile(() => 5000 + pick(2000));
    writeFileSync(join(workspace.path, 'file'), `${lines.join('\n')}\n`);
    expect(Buffer.byteLength(lines.join('\n'))).toBeGreaterThan(512 * 1024);
    const whole = new Set((await shown({})).split('\n'));
    // Each part of a long file is searched with what is around it: two blocks have all ways.
    for (const block of blocks.slice(0, 2))
      for (const part of partsOf(lines, block).filter(({ head, tail }) => head === undefined && tail === undefined))
        for (const line of linesShown(await shown(part), part))
          expect([line, part, whole.has(line)]).toEqual([line, part, true]);
  });
});
