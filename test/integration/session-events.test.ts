import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '#src/core/log.js';
import { eventDatabase } from '#src/session/events/event-database.js';
import { StoredEventLog } from '#src/session/events/event-log.js';
import { CTXD, type Installation, install } from '../helpers/installation.ts';
import { generate, seededRandom } from '../helpers/secret-samples.ts';

let at: Installation;
beforeEach(async () => {
  at = await install();
});
afterEach(() => at.remove());

/** The events of one session, as the stopped daemon left them. */
async function eventsOf(session: string) {
  await at.run(CTXD, ['server', 'stop']);
  const database = eventDatabase({ file: join(at.home, 'data/sessions.db'), logger: silentLogger });
  const clock = { now: () => 0, monotonic: () => 0 };
  const limits = { maxAgeMs: 1, maxEvents: 1 };
  const eventLog = new StoredEventLog({ database, countTokens: () => 0, limits, clock, logger: silentLogger });
  await eventLog.start();
  const events = await eventLog.read({ project: at.project, session, branch: null }, {});
  await eventLog.stop();
  return events;
}

describe('issue 19.1 a call through the daemon', () => {
  it('is one event of its session with the facts that contextd measured', async () => {
    const env = { CONTEXTD_SESSION_ID: 'one' };
    const asked = (tool: string, input: object) => at.ask(tool, input, { env });
    const long = await asked('safe_bash', { command: 'seq 5000 &&\nexit 3', max_tokens: 300 });
    const written = await asked('safe_write', { path: 'src/a.ts', content: 'export {};\n' });
    const shown = await asked('tool_view', { ref: long.refs[0] });
    await asked('safe_read', { path: 'missing.ts' });
    await asked('safe_bash', { command: 'true', dry_run: true });
    await asked('memory_search', { query: 'flaky test' });
    await at.ask('safe_bash', { command: 'echo other' }, { env: { CONTEXTD_SESSION_ID: 'two' } });
    const events = await eventsOf('one');
    expect(events.map(({ seq, kind, parent, text }) => [seq, kind, parent, text])).toEqual([
      [1, 'call', null, 'safe_bash seq 5000 &&…: exit 3'],
      [2, 'call', null, 'safe_write src/a.ts: ok'],
      [3, 'call', 1, `tool_view ${long.refs[0]}: ok`],
      [4, 'call', null, 'safe_read missing.ts: PATH_NOT_FOUND'],
      [5, 'call', null, 'safe_bash true: not run'],
      [6, 'memory', null, 'memory_search flaky test: ok'],
    ]);
    const [first, second, third] = events;
    expect(first).toMatchObject({ artifact: long.refs[0], sensitivity: 'internal' });
    expect(first?.facts).toMatchObject({ requestId: long.meta.request_id, exitCode: 3, errorCode: null });
    expect(first?.facts).toMatchObject({ tokensSpent: long.tokens_used, hasRun: true });
    expect(second?.facts).toMatchObject({ filesWritten: ['src/a.ts'], requestId: written.meta.request_id });
    expect(third?.facts).toMatchObject({ requestId: shown.meta.request_id, filesWritten: [] });
  });

  it('leaves no secret in its event', async () => {
    const token = generate('ghp_[A-Za-z0-9]{36}', seededRandom(19));
    const env = { CONTEXTD_SESSION_ID: 'one' };
    await at.ask('safe_bash', { command: `echo ${token}` }, { env });
    const events = await eventsOf('one');
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({ sensitivity: 'confidential' });
    expect(JSON.stringify(events)).not.toContain(token);
  });
});
