import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ContextdError, ERROR_TABLE, type ErrorCode } from '#src/core/errors.js';
import { newRequestId } from '#src/core/ids.js';
import { renderFailure } from '#src/proxy/output.js';
import { RANK_FILE } from '#src/tokens/counter.js';
import { cl100k } from '../../helpers/tiktoken.ts';

const codes = Object.keys(ERROR_TABLE) as ErrorCode[];

function lineOf(stdout: Buffer): string {
  return stdout.toString('utf8').slice(0, -1);
}

describe('a failure of the proxy itself', () => {
  it('FR-3.2 has the true count of its tokens, whatever its text', async () => {
    const failure = fc.record({
      code: fc.constantFrom(...codes),
      message: fc.oneof(fc.string({ unit: 'grapheme', size: 'large' }), fc.constant('<|endoftext|>')),
      remedy: fc.string({ unit: 'grapheme' }),
      requestId: fc.nat(2 ** 47).map(newRequestId),
    });
    await fc.assert(
      fc.asyncProperty(failure, async ({ code, message, remedy, requestId }) => {
        const error = new ContextdError(code, message, { remedy });
        const line = lineOf((await renderFailure(error, 'json', requestId, RANK_FILE)).stdout);
        const { tokens_used } = JSON.parse(line);
        expect(tokens_used).toBe(cl100k.encode(line, [], []).length);
      }),
    );
  });

  it('is one line with the code, the sentence and the exit code of the table', async () => {
    for (const code of codes) {
      const error = new ContextdError(code, 'it failed', { remedy: 'Fix it.' });
      const { stdout, stderr, exitCode } = await renderFailure(error, 'json', newRequestId(0), RANK_FILE);
      expect(lineOf(stdout)).not.toContain('\n');
      expect(JSON.parse(lineOf(stdout))).toMatchObject({
        success: false,
        data: { error_code: code, remediation: 'Fix it.' },
        error: 'it failed',
      });
      const { exitCode: own } = ERROR_TABLE[code];
      expect({ stderr: stderr.toString(), exitCode }).toEqual({
        stderr: `[contextd exit ${own} · ${code}]\n`,
        exitCode: own,
      });
      const text = await renderFailure(error, 'text', newRequestId(0), RANK_FILE);
      expect({ ...text, stdout: text.stdout.length, stderr: text.stderr.toString() }).toEqual({
        form: 'text',
        stdout: 0,
        stderr: `[contextd exit ${own} · ${code}]\n[contextd it failed. Fix it.]\n`,
        exitCode: own,
      });
    }
  });

  it('is reported even if the installation lost its token table, with a count that is never too low', async () => {
    const { stdout } = await renderFailure(
      new ContextdError('INTEGRITY_FAILED', 'x'),
      'json',
      newRequestId(0),
      '/nonexistent',
    );
    const line = lineOf(stdout);
    expect(JSON.parse(line).tokens_used).toBeGreaterThanOrEqual(cl100k.encode(line, [], []).length);
  });
});
