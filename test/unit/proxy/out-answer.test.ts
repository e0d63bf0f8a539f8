import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { failureEnvelope, successEnvelope } from '#src/core/envelope.js';
import { ContextdError } from '#src/core/errors.js';
import { saveAnswer } from '#src/proxy/out-answer.js';
import { RANK_FILE } from '#src/tokens/counter.js';
import { propertyRuns } from '../../helpers/property-runs.ts';
import { cl100k } from '../../helpers/tiktoken.ts';

const meta = { version: 'response-v2', request_id: 'req_1' } as const;

describe('an answer written to a file', () => {
  let root: string;
  beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'keep-')));
  });
  afterEach(() => rmSync(root, { recursive: true }));

  /** As the daemon answers, into `out` of the project; `meanwhile` happens while the call runs. */
  function keep(envelope: object, exitCode = 0, stderr = '', out = 'a.json', meanwhile = () => {}) {
    const keeping = {
      out: join(root, out),
      link: { tool: 'safe_bash', projectRoot: root, toolDir: join(root, '.claude/tools/safe_bash') },
      requestId: 'req_2',
      rankFile: RANK_FILE,
    };
    return saveAnswer(keeping, async () => {
      meanwhile();
      return {
        form: 'json',
        stdout: Buffer.from(`${JSON.stringify(envelope)}\n`),
        stderr: Buffer.from(stderr),
        exitCode,
      };
    });
  }

  it('FR-3.2 leaves a short line that names the file, with the true count of its own tokens', async () => {
    const data = { stdout: 'x'.repeat(5_000), stderr: '', exit_code: 3 };
    const envelope = successEnvelope({ data, refs: ['art_1'], hasMore: true, truncated: true, meta });
    const { stdout, stderr, exitCode } = await keep(envelope);
    const kept = readFileSync(join(root, 'a.json'));
    expect(kept.toString()).toBe(`${JSON.stringify(envelope)}\n`);
    const line = stdout.toString().trimEnd();
    expect(JSON.parse(line)).toEqual({
      success: true,
      data: { out: join(root, 'a.json'), bytes: kept.length, exit_code: 3 },
      error: null,
      refs: ['art_1'],
      tokens_used: cl100k.encode(line, [], []).length,
      has_more: true,
      truncated: true,
      meta,
    });
    expect({ stderr: stderr.toString(), exitCode }).toEqual({ stderr: '', exitCode: 0 });
  });

  it('reports a failure as the daemon did, with its code, remedy and exit code', async () => {
    const error = new ContextdError('RATE_LIMITED', 'too many calls. Really', {
      remedy: 'Wait a little.',
      details: { limit: 3 },
      retryAfterMs: 20,
    });
    const envelope = failureEnvelope({ error, data: { stdout: 'much', exit_code: null }, refs: ['art_2'], meta });
    const { stdout, stderr, exitCode } = await keep(envelope, 75, 'RATE_LIMITED: too many calls');
    const short = JSON.parse(stdout.toString());
    expect(short.tokens_used).toBeGreaterThan(0);
    const { stdout: _, ...rest } = envelope.data;
    const bytes = readFileSync(join(root, 'a.json')).length;
    expect(short).toEqual({
      ...envelope,
      data: { out: join(root, 'a.json'), bytes, ...rest },
      tokens_used: short.tokens_used,
    });
    expect({ stderr: stderr.toString(), exitCode }).toEqual({ stderr: 'RATE_LIMITED: too many calls', exitCode: 75 });
  });

  // Each case writes a file and reads the token table.
  it('becomes one line, whatever the daemon sent', { timeout: 60_000 + 30 * propertyRuns() }, async () => {
    const part = fc.oneof(fc.jsonValue({ maxDepth: 1 }), fc.boolean());
    const answer = fc.oneof(
      part,
      fc.record({
        success: part,
        data: fc.oneof(part, fc.record({ error_code: part, details: part, exit_code: part })),
        error: part,
        refs: part,
        meta: part,
      }),
    );
    await fc.assert(
      fc.asyncProperty(answer, async (envelope) => {
        const { stdout } = await keep(envelope as object);
        rmSync(join(root, 'a.json'));
        const line = stdout.toString().slice(0, -1);
        expect(line).not.toContain('\n');
        const { tokens_used, data } = JSON.parse(line);
        expect(data.bytes).toBe(Buffer.byteLength(JSON.stringify(envelope)) + 1);
        expect(tokens_used).toBe(cl100k.encode(line, [], []).length);
      }),
      { numRuns: propertyRuns('slow') },
    );
  });

  it('is not requested if it could not be written', async () => {
    let ran = false;
    const run = () => {
      ran = true;
    };
    await expect(keep({}, 0, '', '.env', run)).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
    await expect(keep({}, 0, '', 'none/a', run)).rejects.toMatchObject({ code: 'PATH_NOT_FOUND' });
    expect(ran).toBe(false);
  });

  it('goes to stdout whole if the directory is exchanged while the call runs', async () => {
    mkdirSync(join(root, 'sub'));
    mkdirSync(join(root, 'other'));
    const exchange = () => {
      rmSync(join(root, 'sub'), { recursive: true });
      symlinkSync('other', join(root, 'sub'));
    };
    const envelope = successEnvelope({ data: { stdout: 'x' }, meta });
    const kept = await keep(envelope, 0, '', 'sub/a.json', exchange);
    expect(kept.stdout.toString()).toBe(`${JSON.stringify(envelope)}\n`);
    expect(kept.stderr.toString()).toMatch(
      /^\[contextd exit 74 · PATH_INVALID: .*sub\/a\.json: a part of its path is a link.*its whole answer is printed/,
    );
    expect(kept.exitCode).toBe(74);
    expect(readdirSync(join(root, 'other'))).toEqual([]);
  });

  it('keeps exit code and text of a failure that could not be written either', async () => {
    const write = () => writeFileSync(join(root, 'a.json'), 'by the command');
    const kept = await keep({ success: false }, 124, '[contextd exit 124 · TIMEOUT]\n', 'a.json', write);
    expect(kept.stdout.toString()).toBe('{"success":false}\n');
    expect(kept.stderr.toString()).toMatch(
      /^\[contextd exit 124 · TIMEOUT\]\n\[contextd exit 124 · PERMISSION_DENIED: .*not an earlier answer/,
    );
    expect(kept.exitCode).toBe(124);
    expect(readFileSync(join(root, 'a.json'), 'utf8')).toBe('by the command');
  });
});
