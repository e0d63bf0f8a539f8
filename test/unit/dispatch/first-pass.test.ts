import { describe, expect, it } from 'vitest';
import { systemClock } from '#src/core/clock.js';
import { ContextdError } from '#src/core/errors.js';
import { silentLogger } from '#src/core/log.js';
import { type Call, EMPTY_OUTCOME, failedOutcome, type RawOutcome } from '#src/dispatch/call.js';
import { packOutcome } from '#src/dispatch/carried-call.js';
import { scrub } from '#src/dispatch/scrub.js';
import { collectLeaves } from '#src/scrub/leaves.js';
import { createScrubber } from '#src/scrub/session-scrubber.js';
import { sessionNamed } from '../../helpers/sessions.ts';
import { engine, scanner } from '../../helpers/test-rules.ts';

const session = sessionNamed('first-pass');
const TEXT = 'a line, and zebra behind it\n';
const STREAMS = [{ field: 'stdout', text: TEXT }];

/** What leaves of a call whose process searches its output in its own time. */
function leaving(firstPass: RawOutcome['firstPass']) {
  let last = 0;
  const numbers = { next: () => (last += 1), last: () => last };
  const scrubber = createScrubber({ scanner, engine, numbers, logger: silentLogger, clock: systemClock });
  const deps = { scrubber, secondSearch: { missedIn: async () => [], stored: () => undefined } };
  const request = { tool: 'safe_bash', inputJson: Buffer.from('{}'), principal: { door: 'grpc' } };
  const call = { session, requestId: 'r', request } as unknown as Call;
  const failed = failedOutcome(new ContextdError('INTERNAL_ERROR', 'nothing'));
  return scrub(call, { ...failed, failure: null, data: { exit_code: 0 }, streams: STREAMS, firstPass }, deps);
}

describe('SEC-1.2 the search in the process of a tool, which goes on while the daemon searches', () => {
  it('masks what only it found', async () => {
    const start = TEXT.indexOf('zebra');
    const text = collectLeaves({ data: { exit_code: 0 }, streams: STREAMS }).indexOf(TEXT);
    const found = Array.from({ length: text + 1 }, (_, leaf) =>
      leaf === text ? [{ rule: 'r', start, end: start + 'zebra'.length }] : [],
    );
    const { streams } = await leaving(Promise.resolve(found));
    expect(streams[0]?.text).toBe('a line, and [SECRET_1] behind it\n');
  });

  it('lets nothing of the output leave before it has ended', async () => {
    let end: (found: []) => void = () => {};
    const left = leaving(new Promise((resolve) => (end = resolve)));
    // The scanner takes its texts in turn, so that the search for the first answer is over after this.
    await leaving([]);
    const early = await Promise.race([left, 'nothing']);
    end([]);
    expect(early).toBe('nothing');
    expect((await left).streams[0]?.text).toBe(TEXT);
  });

  it.each(['TOOL_CRASHED', 'TIMEOUT', 'SCRUB_FAILED'] as const)(
    'lets nothing of the output leave if it ends with %s',
    async (code) => {
      const failure = new ContextdError(code, 'the search did not end', { remedy: 'Ask for less.' });
      const left = await leaving(Promise.resolve(failure));
      expect(left.failure).toMatchObject({ code, message: failure.message, remedy: failure.remedy });
      expect(left).toMatchObject({ data: {}, streams: [] });
    },
  );

  it('NFR-2.3 ends before its output is carried to the next daemon, as plain data', async () => {
    const found = [[{ rule: 'r', start: 0, end: 1 }]];
    const outcome = { ...EMPTY_OUTCOME, data: { exit_code: 0 }, streams: STREAMS };
    const carried = await packOutcome({ ...outcome, firstPass: Promise.resolve(found) });
    expect(structuredClone(carried)).toEqual({ ...outcome, firstPass: found });
    const failure = new ContextdError('TOOL_CRASHED', 'it ended');
    const failed = await packOutcome({ ...outcome, firstPass: Promise.resolve(failure) });
    expect(failed).toMatchObject({ data: {}, streams: [], failure: { code: 'TOOL_CRASHED' }, firstPass: [] });
  });
});
