import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '#src/core/log.js';
import { type BuildStats, type CompileRequest, compile } from '#src/features/compile/compile.js';
import { Contexts } from '#src/features/compile/contexts.js';
import { lineOf } from '#src/features/compile/render.js';
import { type NewEvent, SENSITIVITIES, type SessionEvent } from '#src/features/events/event.js';
import { EVENT_KINDS, type EventKind, PHASES, SECTIONS } from '#src/features/events/event-kinds.js';
import { quote } from '#src/features/events/quote.js';
import { loadCounter } from '#src/tokens/counter.js';
import { SESSION_A } from '../../stores/open-stores.ts';
import { callOf, factsOf, hostile, logs, messageEvent, texts } from '../events/made-events.ts';
import { messageOf, openTestEvents } from '../events/open-events.ts';

const counter = loadCounter();
const countTokens = (text: string): number => counter.count(text);
const ALL = { floor: 'restricted', action: 'drop' } as const;

const SECTION_HEADS: ReadonlySet<string> = new Set(SECTIONS.map((name) => `## ${name}`));

const requests = fc.record({
  phase: fc.constantFrom(...PHASES),
  query: texts,
  budgetTokens: fc.integer({ min: 60, max: 3_000 }),
  sensitivity: fc.record({ floor: fc.constantFrom(...SENSITIVITIES), action: fc.constantFrom('drop', 'redact') }),
}) as fc.Arbitrary<CompileRequest & { budgetTokens: number }>;

describe('issue 19.2 the context compiler', () => {
  it('accounts for every candidate, keeps to its budget and gives the same bytes each time', () => {
    fc.assert(
      fc.property(logs, requests, (events, request) => {
        const { text, stats } = compile(events, request, countTokens);
        expect(stats.included + stats.dropped.length).toBe(stats.candidates);
        expect(Object.values(stats.reasons).reduce((sum, count) => sum + count, 0)).toBe(stats.dropped.length);
        expect(new Set(stats.dropped.map(({ seq }) => seq)).size).toBe(stats.dropped.length);
        expect(stats.tokens).toBe(countTokens(text));
        expect(stats.tokens).toBeLessThanOrEqual(request.budgetTokens);
        expect(compile(structuredClone(events), structuredClone(request), countTokens)).toEqual({ text, stats });
      }),
    );
  });

  it('shows recorded text as quoted data in one line, whatever it says', () => {
    fc.assert(
      fc.property(logs, requests, (events, request) => {
        const { text } = compile(events, request, countTokens);
        const lines = text.split('\n').slice(0, -1);
        const outside = lines.slice(1).filter((one) => !SECTION_HEADS.has(one));
        for (const one of outside) {
          const unquoted = one.replaceAll(/"(?:[^"\\]|\\.)*"/gu, '""');
          expect(unquoted).toMatch(/^[\w .:,×…""-]*$/u);
          expect(one).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}<]|`{3}|\[(SECRET|contextd)/iu);
        }
        expect(outside).toHaveLength(compile(events, request, countTokens).stats.included);
      }),
    );
  });

  it('quotes what JSON.parse reads back, without what nobody sees', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const quoted = quote(text, 20_000);
        expect(quoted).toMatch(/^"[^\n\r\p{Cc}<]*"$/u);
        expect(quote(JSON.parse(quoted), 20_000)).toBe(quoted);
      }),
    );
  });

  it('brings along what an included event depends on, in front of it', () => {
    const events = [
      callOf(1, 'make the build', { artifact: 'art_1' }),
      ...Array.from({ length: 50 }, (_, i) => callOf(i + 2, `other${i}`)),
      callOf(52, 'view its end', { parent: 1 }),
    ];
    const request: CompileRequest = { phase: 'answer', query: 'view its end', budgetTokens: 100, sensitivity: ALL };
    const { text, stats } = compile(events, request, countTokens);
    expect(text).toMatch(/\n1 safe_bash "make the build": ok art_1\n(.*\n)*52 safe_bash "view its end": ok\n/);
    expect(stats.closures).toBe(0);
    const route = compile(
      [
        {
          ...messageEvent(1, 'asked'),
          kind: 'checkpoint' as const,
          facts: { action: 'saved', id: 'cp_1', requestId: '' },
        },
        callOf(2, 'x', { parent: 1 }),
      ],
      { ...request, phase: 'interpret' },
      countTokens,
    );
    expect(route.stats).toMatchObject({ closures: 1, included: 2, candidates: 2 });
  });

  it('says why each event is missing', () => {
    const events = [
      callOf(1, 'npm test'),
      callOf(2, 'npm test'),
      callOf(3, 'npm test', { facts: factsOf('safe_bash', 'npm test', { exitCode: 1 }) }),
      callOf(4, 'cat key', { sensitivity: 'restricted' }),
      callOf(5, 'listen on 8080'),
      callOf(6, 'listen on 8081'),
    ];
    const { text, stats } = compile(events, { phase: 'call', query: '', sensitivity: ALL }, countTokens);
    expect(stats.dropped).toEqual([
      { seq: 1, reason: 'duplicate' },
      { seq: 4, reason: 'sensitivity' },
    ] satisfies BuildStats['dropped']);
    expect(text).toContain('2 safe_bash "npm test": ok ×2\n3 safe_bash "npm test": exit 1\n');
    const redacted = compile(
      events,
      { phase: 'call', query: '', sensitivity: { ...ALL, action: 'redact' } },
      countTokens,
    );
    expect(redacted.text).toContain('4 safe_bash "REDACTED: restricted": ok\n');
    expect(redacted.text).not.toContain('cat key');
  });

  it.each(Object.keys(EVENT_KINDS) as EventKind[])(
    'reads a stored %s event back, and shows it in its section',
    async (kind) => {
      const { eventLog } = await openTestEvents();
      const facts = { ...factsOf('safe_bash', 'make'), action: 'opened', id: 'br_1', role: 'user' };
      eventLog.append({ ...messageOf(SESSION_A, 'one text'), kind, facts } as NewEvent);
      const [event] = await eventLog.read(SESSION_A, { newest: 10 });
      expect(event).toMatchObject({ kind, text: 'one text', seq: 1 });
      const stated = Object.keys(event?.facts ?? {});
      expect(stated.length).toBeGreaterThan(0);
      expect(event?.facts).toEqual(Object.fromEntries(Object.entries(facts).filter(([name]) => stated.includes(name))));
      const { text } = compile([event as SessionEvent], { phase: 'answer', query: '', sensitivity: ALL }, countTokens);
      expect(text).toContain(`\n## ${EVENT_KINDS[kind].section}\n1 `);
    },
  );

  it('issue 19.2 proves that an earlier context can be made again, and says when its events are gone', async () => {
    const { eventLog, database, clock } = await openTestEvents(undefined, { maxAgeMs: 1_000, maxEvents: 1_000_000 });
    const contexts = new Contexts({ database, eventLog, countTokens, clock, logger: silentLogger });
    const at = clock.now();
    for (let i = 1; i <= 30; i++) eventLog.append(messageOf(SESSION_A, `message number ${i}`, { at: at + i }));
    const first = await contexts.build(SESSION_A, { phase: 'answer', query: 'number 7', sensitivity: ALL });
    for (let i = 31; i <= 60; i++) eventLog.append(messageOf(SESSION_A, `message number ${i}`, { at: at + i }));
    await contexts.build(SESSION_A, { phase: 'route', query: '', sensitivity: ALL }, 50);
    expect(first.position).toBe(30);
    const results = async () => (await contexts.replay(SESSION_A)).map(({ position, result }) => [position, result]);
    expect(await results()).toEqual([
      [30, 'same'],
      [50, 'same'],
    ]);
    await database.write([{ sql: `UPDATE events SET text = 'changed' WHERE seq = 40`, params: [] }]);
    expect(await results()).toEqual([
      [30, 'same'],
      [50, 'differs'],
    ]);
    clock.nowMs = at + 1_010;
    await eventLog.prune();
    expect(await results()).toEqual([
      [30, 'gone'],
      [50, 'gone'],
    ]);
  });
});

it('issue 19.2 shows a call by its facts', () => {
  const facts = factsOf('safe_write', 'src/a.ts', { filesWritten: ['src/a.ts'], undo: 'undo_1' });
  const event = callOf(3, 'src/a.ts', { facts, artifact: 'art_2' });
  expect(lineOf({ event, shown: '', isDependency: false, times: 1, score: 0 })).toBe(
    '3 safe_write "src/a.ts": ok, undo_1 art_2',
  );
});
