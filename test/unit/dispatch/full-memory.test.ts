import { describe, expect, it } from 'vitest';
import type { Outcome } from '#src/call/outcome.js';
import { systemClock } from '#src/core/clock.js';
import { ContextdError } from '#src/core/errors.js';
import { silentLogger } from '#src/core/log.js';
import { type Call, failedOutcome } from '#src/dispatch/call.js';
import { scrub } from '#src/dispatch/scrub.js';
import type { Scrubber } from '#src/scrub/scrubber.js';
import { createScrubber } from '#src/scrub/session-scrubber.js';
import { generate, seededRandom } from '../../helpers/secret-samples.ts';
import { sessionNamed } from '../../helpers/sessions.ts';
import { engine, scanner } from '../../helpers/test-rules.ts';

const random = seededRandom(20_261_129);
const session = sessionNamed('full-memory');
/** As many values as a session remembers. */
const ROOM = 64_000;

/** A scrubber whose session has room for `free` more values. */
async function scrubberWithRoomFor(free: number): Promise<Scrubber> {
  let last = 0;
  const numbers = { next: () => (last += 1), last: () => last };
  const scrubber = createScrubber({ scanner, engine, numbers, logger: silentLogger, clock: systemClock });
  const known = Array.from({ length: ROOM - free }, (_, at) => `K${(at * 7_368_787).toString(36)}x9Qz${at}vT4wR8`);
  const guard = known.map((value) => [value, { rule: 'r', isLine: false, forms: 'as it is' }] as const);
  const vault = { guard, byValue: [], apart: [], inner: new Map(), isToldOf: true };
  scrubber.restore([{ session, vault }]);
  return scrubber;
}

/** What an answer with a text says beside it. */
async function answerTo(scrubber: Scrubber, text: string): Promise<{ shown: string; warnings: readonly string[] }> {
  const deps = { scrubber, secondSearch: { missedIn: async () => [], stored: () => undefined } };
  const call = {
    session,
    requestId: 'r',
    request: { tool: 'safe_bash', inputJson: Buffer.from('{}'), principal: { door: 'grpc' } },
  } as unknown as Call;
  const failed = failedOutcome(new ContextdError('INTERNAL_ERROR', 'nothing'));
  const { streams, facts } = await scrub(call, { ...failed, failure: null, streams: [stream(text)] }, deps);
  return { shown: streams[0]?.text ?? '', warnings: facts.warnings ?? [] };
}

function stream(text: string): Outcome['streams'][number] {
  return { field: 'stdout', text } as Outcome['streams'][number];
}

const token = (): string => generate('ghp_[A-Za-z0-9]{36}', random);

describe('issue 38 an answer with a secret for which its session has no room', () => {
  it('masks it, says so in this answer, and not in an answer without a further one', async () => {
    const scrubber = await scrubberWithRoomFor(1);
    const [first, second] = [token(), token()];
    expect(await answerTo(scrubber, `a ${first}\n`)).toEqual({ shown: 'a [SECRET_1]\n', warnings: [] });
    const full = await answerTo(scrubber, `b ${second}\n`);
    expect(full.shown).toBe('b [SECRET_2]\n');
    expect(full.warnings).toEqual([expect.stringContaining('has no room for more')]);
    expect((await answerTo(scrubber, `c ${first} and words\n`)).warnings).toEqual([]);
    expect((await answerTo(scrubber, `d ${token()}\n`)).warnings).toHaveLength(1);
  });
});
