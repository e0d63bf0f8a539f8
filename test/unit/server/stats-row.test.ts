import { join } from 'node:path';
import protobuf from 'protobufjs';
import { expect, it } from 'vitest';
import { toStatsRow } from '#src/server/wire-secrets.js';

const PROTO = join(import.meta.dirname, '../../../proto/contextd/v1/management.proto');

it('sends every figure of a row under its own name', () => {
  const { fields } = protobuf.loadSync(PROTO).lookupType('contextd.v1.StatsRow');
  const wireNames = Object.keys(fields).map((name) => name.replaceAll(/[A-Z]/g, (c) => `_${c.toLowerCase()}`));
  const row = {
    ...{ day: '2025-01-15', project: '/p', session: 's', tool: 't', calls: 1, failed: 2, secrets: 3 },
    ...{ missedByFirstPass: 4, missedByEngine: 5, durationMs: 6.5, scrubMs: 7.5, followUps: 8, countedCalls: 9 },
    ...{ estimatedCalls: 10, tokensRun: 11, tokensReturned: 12, tokensSaved: -13, artifacts: 14, truncated: 15 },
    ...{ timedCalls: 16, addedMs: 17.5 },
  };
  const wire = toStatsRow(row);
  expect(Object.keys(wire).sort()).toEqual(wireNames.sort());
  const asWire = Object.entries(row).map(([name, value]) => [
    name.replaceAll(/[A-Z]/g, (c) => `_${c.toLowerCase()}`),
    value,
  ]);
  expect(wire).toEqual(Object.fromEntries(asWire));
});
