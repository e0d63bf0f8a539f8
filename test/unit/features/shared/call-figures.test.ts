import { expect, it } from 'vitest';
import type { AuditRecord } from '#src/audit/log.js';
import { NO_END } from '#src/audit/record.js';
import { CallFigures } from '#src/features/shared/call-figures.js';

const RECORD: AuditRecord = {
  time: '2025-01-15T12:00:00.000Z',
  request_id: 'req_1',
  session: 's',
  project: '/p',
  door: 'grpc',
  tool: 'files_read',
  input: {},
  ...NO_END,
};

it('issue 36.6: answers kept from an equal call are counted', () => {
  const figures = new CallFigures();
  for (const provenance of [{ cache_hit: true }, { attempts: 2 }, undefined, { cache_hit: true }])
    figures.record(provenance === undefined ? RECORD : { ...RECORD, provenance });
  expect(figures.read()).toMatchObject({ fromCache: 2, tools: [{ results: { ok: 4 } }] });
});

it('issue 36.6: the wait for a sandbox is counted apart if none was ready', () => {
  const figures = new CallFigures();
  for (const ms of [0.2, 0.4]) figures.sandboxTaken({ ms, wasReady: true });
  figures.sandboxTaken({ ms: 12, wasReady: false });
  expect(figures.steps()).toMatchObject([
    { step: 'ready_sandbox', count: 2, sumUs: 600 },
    { step: 'new_sandbox', count: 1, sumUs: 12_000 },
  ]);
});
