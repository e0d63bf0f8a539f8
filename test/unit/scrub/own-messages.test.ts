import { describe, expect, it } from 'vitest';
import { systemClock } from '#src/core/clock.js';
import { ContextdError, ERROR_TABLE } from '#src/core/errors.js';
import { silentLogger } from '#src/core/log.js';
import { type Call, failedOutcome } from '#src/dispatch/call.js';
import { scrub } from '#src/dispatch/scrub.js';
import type { Scrubber } from '#src/scrub/scrubber.js';
import { createScrubber } from '#src/scrub/session-scrubber.js';
import { errorsThatNameTokens, ownMessages } from '../../helpers/own-messages.ts';
import { generate, seededRandom } from '../../helpers/secret-samples.ts';
import { sessionNamed } from '../../helpers/sessions.ts';
import { engine, scanner } from '../../helpers/test-rules.ts';

const random = seededRandom(20_261_123);
const session = sessionNamed('own-messages');
const messages = ownMessages();
const sentences = messages.filter((message) => /^[A-Za-z`"].*\.$/.test(message));

/** A word, a name of several words, or a path of them. */
const NAME = /(?<![\w/.-])\/?[a-z]{3,20}(?:[A-Z][a-z]{2,20}|[A-Z]{2,3}|[_/.-][a-z]{2,20}){0,4}(?![\w/])/g;

/** Words, names and paths of the messages themselves: whatever a project calls its password. */
function namesInMessages(): string[] {
  return [...new Set(sentences.flatMap((message) => message.match(NAME) ?? []))];
}

function scrubberOfSession(): Scrubber {
  let last = 0;
  const numbers = { next: () => (last += 1), last: () => last };
  return createScrubber({ scanner, engine, numbers, logger: silentLogger, clock: systemClock });
}

/** The lines that are not as they were. */
function harmedLines(before: readonly string[], after: readonly string[]): string[] {
  return after.flatMap((message, at) => {
    const lines = (before[at] ?? '').split('\n');
    return message.split('\n').filter((line, row) => line !== lines[row]);
  });
}

function thrownBy(action: () => void): ContextdError {
  try {
    action();
  } catch (thrown) {
    if (thrown instanceof ContextdError) return thrown;
    throw thrown;
  }
  throw new Error('nothing was thrown');
}

describe('SEC-1.1 a message of contextd is never scrubbed into nonsense', () => {
  it('in a session that knows random secrets, and values that are words of the messages', async () => {
    const scrubber = scrubberOfSession();
    const secrets = [generate('ghp_[A-Za-z0-9]{36}', random), generate('[A-Za-z0-9]{24}', random)];
    const values = [...secrets, 'passwd', 'root', '/etc/passwd', 'contextd', ...namesInMessages()];
    const environment = values.map((value, at) => `DB_${at}_PASSWORD=${value}\n`).join('');
    const { value: shown } = await scrubber.scrub(session, { stdout: environment });
    // The values are masked beside their keys, so the session has seen them as secrets.
    expect(shown.stdout.match(/=\[SECRET/g)?.length ?? 0).toBeGreaterThan(values.length / 4);
    const leaving = { failures: messages.map((message) => ({ message })) };
    const { value } = await scrubber.scrub(session, leaving);
    expect(
      harmedLines(
        messages,
        value.failures.map(({ message }) => message),
      ),
    ).toEqual([]);
    const again = await scrubber.scrub(session, secrets);
    expect(again.value.every((one) => /^\[SECRET_\d+\]$/.test(one))).toBe(true);
  });

  it('issue 16.2 and an error that names a token of the session shows it as it is', async () => {
    const named = errorsThatNameTokens();
    expect(named.length).toBeGreaterThanOrEqual(2);
    expect(named.filter(({ declaresToken }) => !declaresToken)).toEqual([]);
    const scrubber = scrubberOfSession();
    const { value: token } = await scrubber.scrub(session, generate('ghp_[A-Za-z0-9]{36}', random));
    const deps = { scrubber, secondSearch: { missedIn: async () => [], stored: () => undefined } };
    const call = { session, requestId: 'r', request: { tool: 'safe_write', inputJson: Buffer.from('{}') } } as Call;
    const shown = async (failure: ContextdError) => (await scrub(call, failedOutcome(failure), deps)).failure;
    const failures = [
      thrownBy(() => scrubber.openSecrets(session, 'A=[SECRET_7]')),
      thrownBy(() => {
        for (let times = 0; times < 3; times++) scrubber.bookOpenings(session, [token], 2);
      }),
    ];
    for (const failure of failures) {
      const answer = await shown(failure);
      expect(answer?.message).toBe(failure.message);
      expect(answer?.remedy).toBe(failure.remedy);
      expect(answer?.details).toEqual(failure.details);
    }
    // What a tool says is a look-alike, whatever it is.
    const ofTool = new ContextdError('SECRET_UNKNOWN', failures[0]?.message ?? '', { details: { token } });
    expect((await shown(ofTool))?.message).toBe('[SECRET\\_7] is not a secret of this session');
    expect((await shown(ofTool))?.details).toEqual({ token: token.replace('_', '\\_') });
  });

  it('and the messages are those of the program', () => {
    expect(messages.length).toBeGreaterThan(1000);
    for (const part of ['is outside', 'the output was withheld', 'Call again'])
      expect(messages.join('\n')).toContain(part);
    expect(Object.keys(ERROR_TABLE).length).toBeGreaterThan(30);
  });
});
