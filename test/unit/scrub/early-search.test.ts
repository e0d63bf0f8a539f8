import { describe, expect, it } from 'vitest';
import { systemClock } from '#src/core/clock.js';
import { ContextdError } from '#src/core/errors.js';
import { silentLogger } from '#src/core/log.js';
import { createScrubber } from '#src/scrub/session-scrubber.js';
import type { WorkspaceRules } from '#src/scrub/workspace-rules.js';
import { generate, seededRandom } from '../../helpers/secret-samples.ts';
import { sessionNamed } from '../../helpers/sessions.ts';
import { engine, scanner } from '../../helpers/test-rules.ts';

const session = sessionNamed('early');
const token = generate('ghp_[A-Za-z0-9]{36}', seededRandom(20_261_129));
const TEXT = `a line\n${token}\n`;
const output = (text: string) => ({ data: { exit_code: 0 }, streams: [{ field: 'stdout', text }] });

/** A scrubber, and the texts that it has searched since the early search. */
function scrubberWith(change: { scanEarly?: 'no room' | 'fails'; rules?: () => WorkspaceRules | null } = {}) {
  let last = 0;
  const later: string[] = [];
  const scrubber = createScrubber({
    scanner: {
      ...scanner,
      scan: (texts, workspace) => {
        later.push(...texts.map(({ text }) => text));
        return scanner.scan(texts, workspace);
      },
      scanEarly: (texts, workspace) => {
        if (change.scanEarly === 'no room') return null;
        if (change.scanEarly === 'fails') return Promise.reject(new ContextdError('SCRUB_FAILED', 'no scan'));
        return scanner.scan(texts, workspace);
      },
    },
    engine,
    numbers: { next: () => ++last, last: () => last },
    workspaceRules: async () => change.rules?.() ?? null,
    logger: silentLogger,
    clock: systemClock,
  });
  return { scrubber, later };
}

describe('issue 37: a search that began before all of an answer was known', () => {
  it('counts for the strings that are as they were, and the others are searched', async () => {
    const { scrubber, later } = scrubberWith();
    const early = scrubber.searchEarly(session, output(TEXT));
    const { value } = await scrubber.scrub(session, { ...output(TEXT), warnings: [`key ${token}`] }, { early });
    expect(value.streams[0]?.text).toBe('a line\n[SECRET_1]\n');
    expect(value.warnings).toEqual(['key [SECRET_1]']);
    expect(later).not.toContain(TEXT);
    expect(later).toContain(`key ${token}`);
  });

  it('does not count for a string that has changed since', async () => {
    const { scrubber, later } = scrubberWith();
    const early = scrubber.searchEarly(session, output('something else'));
    const { value } = await scrubber.scrub(session, output(TEXT), { early });
    expect(value.streams[0]?.text).toBe('a line\n[SECRET_1]\n');
    expect(later).toContain(TEXT);
  });

  it('does not count if the rules of the project have changed since', async () => {
    let key = 'a';
    const { scrubber, later } = scrubberWith({ rules: () => ({ key, files: [], allowances: null }) });
    const early = scrubber.searchEarly(session, output(TEXT));
    await early.found;
    key = 'b';
    expect((await scrubber.scrub(session, output(TEXT), { early })).value.streams[0]?.text).toContain('[SECRET_1]');
    expect(later).toContain(TEXT);
  });

  it('is done later if there was no room for it', async () => {
    const { scrubber, later } = scrubberWith({ scanEarly: 'no room' });
    const early = scrubber.searchEarly(session, output(TEXT));
    expect((await scrubber.scrub(session, output(TEXT), { early })).value.streams[0]?.text).toContain('[SECRET_1]');
    expect(later).toContain(TEXT);
  });

  it('withholds the answer if it fails', async () => {
    const { scrubber } = scrubberWith({ scanEarly: 'fails' });
    const early = scrubber.searchEarly(session, output(TEXT));
    await expect(scrubber.scrub(session, output(TEXT), { early })).rejects.toMatchObject({ code: 'SCRUB_FAILED' });
  });
});
