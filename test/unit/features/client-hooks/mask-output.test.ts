import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '#src/core/clock.js';
import { isJsonObject, type Json } from '#src/core/json.js';
import { silentLogger } from '#src/core/log.js';
import { maskOutput } from '#src/features/client-hooks/mask-output.js';
import { createEngine } from '#src/scrub/hardened/engine.js';
import { readRuleSources } from '#src/scrub/rule-sources.js';
import { createScanner } from '#src/scrub/scan/scanner.js';
import { createScrubber } from '#src/scrub/session-scrubber.js';
import { propertyRuns } from '../../../helpers/property-runs.ts';
import { generate, seededRandom } from '../../../helpers/secret-samples.ts';
import { sessionNamed } from '../../../helpers/sessions.ts';

const { pack, official } = readRuleSources();
const config = { deadline_base_ms: 60_000, deadline_per_kb_ms: 0 };
const scanner = createScanner({ config, logger: silentLogger, readRules: async () => ({ pack, official }) });
let last = 0;
const scrubber = createScrubber({
  scanner,
  engine: createEngine(pack, { official, compile: 'when used' }),
  numbers: { next: () => (last += 1), last: () => last },
  logger: silentLogger,
  clock: systemClock,
});
const session = sessionNamed('client-hooks');
const random = seededRandom(115);
const secret = generate('ghp_[0-9a-zA-Z]{36}', random);

beforeAll(() => scanner.start());
afterAll(() => scanner.stop());

async function masked(output: Json, does: 'read' | 'write' | 'say' = 'read'): Promise<Json> {
  const deps = { scrubber, secondSearch: { missedIn: async () => [] } };
  return (await maskOutput(session, { does, tool: 'Read', output, input: {} }, 'req_1', deps)).output;
}

/** The value with the secret replaced in every text. */
function expected(value: Json): Json {
  if (typeof value === 'string') return value.replaceAll(secret, '[SECRET_1]');
  if (Array.isArray(value)) return value.map((item: Json) => expected(item));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, expected(item)]));
}

describe('issue 19 part 8: the output of tools of a client', () => {
  it('SEC-1.1 has every text masked and everything else unchanged, whatever its shape', async () => {
    const words = fc.constantFrom('user = deploy', 'plain\ntext', '', 'ok', 'x'.repeat(300));
    const text = fc.tuple(words, fc.boolean(), words).map(([a, has, b]) => (has ? `${a}\n${secret}\n${b}` : a));
    const { value } = fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        text,
        fc.double({ noDefaultInfinity: true, noNaN: true }),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(fc.constantFrom('type', 'file', 'content', 'stdout', 'numLines', 'lines'), tie('value'), {
          maxKeys: 4,
        }),
      ),
    }));
    await masked(secret);
    await fc.assert(
      fc.asyncProperty(value, async (output) => {
        expect(await masked(output)).toEqual(expected(output));
      }),
      { numRuns: propertyRuns('slow') },
    );
  });

  it('masks the known shapes of outputs, and leaves images and PDFs as they are', async () => {
    const image = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.from(secret.repeat(3))]);
    const outputs: Json[] = [
      {
        type: 'text',
        file: { filePath: '/p/a', content: `t = ${secret}\n`, numLines: 2, startLine: 1, totalLines: 2 },
      },
      { mode: 'content', numFiles: 0, filenames: [], content: `a.conf:2:token = ${secret}`, numLines: 1 },
      { filenames: ['/p/a.conf'], durationMs: 3, numFiles: 1, truncated: false },
      { stdout: `${secret}\n`, stderr: '', interrupted: false, isImage: false },
      { filePath: '/p/a', structuredPatch: [{ oldStart: 1, lines: [` token = ${secret}`, '-a', '+b'] }] },
      [{ type: 'text', text: `the token is ${secret}` }],
      {
        type: 'notebook',
        file: { cells: [{ cellType: 'code', source: `t="${secret}"`, outputs: [{ text: secret }] }] },
      },
      { type: 'image', file: { base64: image.toString('base64'), type: 'image/png', originalSize: image.length } },
      [{ type: 'document', source: { type: 'base64', data: `JVBERi0xLjcK${'A'.repeat(80)}` } }],
    ];
    for (const output of outputs) expect(await masked(output)).toEqual(expected(output));
    // Bytes that only claim to be an image are searched like others.
    const claimed = { type: 'image', file: { base64: `${secret} is no image`, type: 'image/png' } };
    expect(await masked(claimed)).toEqual(expected(claimed));
  });

  it('keeps tokens of the session in what a shell prints, and neutralises them in what a file holds', async () => {
    await masked(secret);
    const said = 'token = [SECRET_1], [SECRET_77], [SECRET\\_2]';
    expect(await masked({ stdout: said }, 'say')).toEqual({
      stdout: 'token = [SECRET_1], [SECRET\\_77], [SECRET\\_2]',
    });
    expect(await masked({ content: said })).toEqual({
      content: 'token = [SECRET\\_1], [SECRET\\_77], [SECRET\\\\_2]',
    });
  });

  it('finds no new secret in an answer of contextd that a shell prints', async () => {
    const printed = [
      'password = "[SECRET_1]"',
      'export API_KEY=[SECRET_1]',
      '{"success":true,"data":{"stdout":"token: [SECRET_1]\\n"},"refs":["art_9wxq3m2k7c1d"]}',
      '[contextd 2 files: undo_7k2m9qxp]',
      'etag 9f86d081884c7d659a2feaa0c55ad015',
    ].join('\n');
    expect(await masked({ stdout: printed }, 'say')).toEqual({ stdout: printed });
  });
});
