import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import type { SessionRef } from '#src/call/session.js';
import { systemClock } from '#src/core/clock.js';
import type { Json, JsonObject } from '#src/core/json.js';
import { createHostServices, scrubbedServices } from '#src/features/host/host-services.js';
import type { ServiceCall } from '#src/runner/host-methods.js';
import { sessionNamed } from '../../../helpers/sessions.ts';

const notAsked = (): never => {
  throw new Error('not asked');
};
const NO_JOBS = {
  begin: notAsked,
  find: notAsked,
  interrupted: async () => [],
  of: () => [],
  renew: notAsked,
  refreshArtifact: async () => {},
  takeInterrupted: async () => [],
};
const CALL: ServiceCall = {
  requestId: 'req_1',
  tool: 'safe_bash',
  isCore: true,
  endsAt: 0,
  signal: new AbortController().signal,
  commandPolicy: notAsked,
  opened: [],
  outputKillBytes: 0,
};

/** A scrubber that knows one secret. */
function scrubberOf(secret: string) {
  return {
    async scrub<T extends Json>({ session }: SessionRef, value: T) {
      const text = JSON.stringify(value).replaceAll(secret, `[SECRET of ${session}]`);
      return { value: JSON.parse(text) as T, secrets: [], missedByFirstPass: 0, spans: [], ownLines: new Map() };
    },
    secrets: () => [],
    issuedIn: async () => [],
    maskText: (text: string) => text,
  };
}

it('SEC-1.1 what a tool sends is scrubbed before the service sees it, all but the declared identifiers', async () => {
  const secret = randomBytes(12).toString('hex');
  const seen: JsonObject[] = [];
  const services = scrubbedServices(
    {
      MemoryStore: {
        identifiers: ['id'],
        async answer(_session, request) {
          seen.push(request);
          return { answer: {} };
        },
      },
    },
    scrubberOf(secret),
  );
  const request = { id: secret, text: `key ${secret}`, notYetKnown: { [secret]: [secret, 7] } };
  await services.MemoryStore?.(sessionNamed('s'), request, CALL);
  const masked = '[SECRET of s]';
  expect(seen).toEqual([{ id: secret, text: `key ${masked}`, notYetKnown: { [masked]: [masked, 7] } }]);
});

it('SEC-1.1 no service sees a request that could not be scrubbed', async () => {
  let calls = 0;
  const answer = async () => {
    calls += 1;
    return { answer: {} };
  };
  const scrub = () => Promise.reject(new Error('no scrub'));
  const scrubber = { scrub, secrets: () => [], issuedIn: async () => [] };
  const services = scrubbedServices({ MemoryStore: { identifiers: [], answer } }, scrubber);
  await expect(services.MemoryStore?.(sessionNamed('s'), { text: 'x' }, CALL)).rejects.toThrow('no scrub');
  expect(calls).toBe(0);
});

it('ArtifactView gets its ref as it is, an id or the number of a continuation', async () => {
  const asked: string[] = [];
  const artifacts = {
    ofCall: notAsked,
    put: notAsked,
    async info(_session: SessionRef, id: string) {
      asked.push(id);
      return { tool: 'safe_bash', bytes: 3, droppedBytes: 0, revision: 0, parts: [{ field: 'stdout', bytes: 3 }] };
    },
  };
  const { ArtifactView } = createHostServices({
    artifacts,
    cursors: { open: (_session, text) => ({ artifactId: text.replace('cursor of ', ''), ranges: [] }) },
    continuations: { find: async (_session, number) => (number === 7 ? 'cursor of art_0000000000000007' : null) },
    scrubber: scrubberOf('art_'),
    clock: systemClock,
    jobs: NO_JOBS,
    findLine: async () => null,
    memories: { search: notAsked, use: notAsked, store: notAsked, giveFeedback: notAsked },
    retrievals: { divide: notAsked, noteReads: async () => {}, settle: notAsked },
    branches: { of: notAsked, open: notAsked, callsOf: notAsked, close: notAsked },
    learn: notAsked,
    checkpoints: { save: notAsked, list: notAsked, listReadable: notAsked, note: notAsked, restore: notAsked },
    eventLog: { read: notAsked, bounds: notAsked, before: notAsked, position: notAsked },
    contexts: { rememberStart: notAsked },
    countTokens: notAsked,
  });
  const ref = 'art_0123456789abcdef/stdout';
  expect(await ArtifactView?.(sessionNamed('s'), { ref }, CALL)).toEqual({
    answer: { tool: 'safe_bash', bytes: 3 },
    shows: ref,
  });
  await expect(ArtifactView?.(sessionNamed('s'), { ref: 'art_0123456789abcdef/stderr' }, CALL)).rejects.toMatchObject({
    code: 'NOT_FOUND',
    remedy: 'It has stdout.',
  });
  expect(asked).toEqual(['art_0123456789abcdef', 'art_0123456789abcdef']);
  // An answer in text has a number in place of an id.
  const viewed = await ArtifactView?.(sessionNamed('s'), { ref: '7' }, CALL);
  expect(viewed).toMatchObject({ shows: 'art_0000000000000007' });
  await expect(ArtifactView?.(sessionNamed('s'), { ref: '8' }, CALL)).rejects.toMatchObject({ code: 'CURSOR_INVALID' });
});
