import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readEvent, readEvents } from '#src/sandbox/egress/read-event.js';

const FACT = {
  id: 1,
  scope: '["/p",null]',
  namespace: 'net:[1]',
  lane: null,
  atMs: 5,
  host: 'a.example.com',
  port: 443,
  via: 'connect',
  allowed: false,
  rule: null,
  why: 'no rule',
  isAllowable: true,
};
const EVENTS = [
  { ev: 'ready' },
  { ev: 'connection', fact: FACT },
  { ev: 'closed', traffic: { id: 1, up: 2, down: 3 }, why: '' },
  { ev: 'synced', id: 4, open: [{ id: 1, up: 2, down: 3 }] },
  { ev: 'sent', scope: 's', host: 'a.example.com', bytes: 9 },
  { ev: 'unreported', scope: 's', count: 7 },
  { ev: 'authority', scope: 's', certificate: null },
  { ev: 'log', level: 'warn', event: 'egress.x', fields: { port: 1 } },
];

test.each(EVENTS)('an event of the proxy process is read as it is: $ev', (event) => {
  expect(readEvent(event)).toEqual(event);
});

test('a message is a list of events, and what is no event in it is left out', () => {
  expect(readEvents([...EVENTS, null, { ev: 'x' }])).toEqual(EVENTS);
  for (const message of [null, EVENTS[0], 'ready', {}]) expect(readEvents(message)).toEqual([]);
});

test('a field that the message does not have is left out', () => {
  expect(readEvent({ ev: 'connection', fact: { ...FACT, more: 1 }, more: 2 })).toEqual({
    ev: 'connection',
    fact: FACT,
  });
});

test.each([
  [null],
  ['ready'],
  [{ ev: 'unknown' }],
  [{ ev: 'connection', fact: { ...FACT, host: 'a'.repeat(254) } }],
  [{ ev: 'connection', fact: { ...FACT, port: 65_536 } }],
  [{ ev: 'connection', fact: { ...FACT, id: -1 } }],
  [{ ev: 'connection', fact: { ...FACT, via: 'other' } }],
  [{ ev: 'connection', fact: { ...FACT, allowed: 'yes' } }],
  [{ ev: 'connection', fact: { ...FACT, why: 'w'.repeat(1_001) } }],
  [{ ev: 'closed', traffic: { id: 1, up: 0.5, down: 0 }, why: '' }],
  [{ ev: 'synced', id: 'x', open: [] }],
  [{ ev: 'log', level: 'error', event: 'x', fields: {} }],
  [{ ev: 'log', level: 'info', event: 'x', fields: { text: 'x'.repeat(2_000) } }],
])('what the proxy process cannot have meant is dropped: %j', (message) => {
  expect(readEvent(message)).toBeNull();
});

test('no message makes the reader throw', () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => void readEvent(value)));
  fc.assert(
    fc.property(fc.constantFrom(...EVENTS), fc.string(), fc.jsonValue(), (event, key, value) => {
      readEvent({ ...event, [key]: value, fact: value });
    }),
  );
});
