import { afterEach, expect, it } from 'vitest';
import type { CallRequest } from '#src/call/request.js';
import { ContextdError } from '#src/core/errors.js';
import { createRunningManagement } from '#src/features/jobs/running-management.js';
import { CallFigures } from '#src/features/shared/call-figures.js';
import { type CallGate, createCallGate } from '#src/features/shared/call-gate.js';

interface Given extends Pick<CallRequest, 'tool'> {
  json?: object;
  words?: string;
}

const gates: CallGate[] = [];
afterEach(() => {
  for (const gate of gates.splice(0)) gate.cancel('req_1', new ContextdError('CANCELLED', 'the test is over'));
});

/** What `ctxd ps` shows of a call that waits. */
async function shown({ tool, json, words }: Given): Promise<string | undefined> {
  const answer = { line: '', exitCode: 0, errorLine: '' };
  const gate = createCallGate(
    ({ signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve(answer))),
    { refuse: () => answer, retire: async () => {}, callFigures: new CallFigures() },
  );
  gates.push(gate);
  void gate.dispatch({
    requestId: 'req_1',
    principal: { door: 'grpc', client: 'proxy' },
    tool,
    projectRoot: '/p',
    sessionHint: '',
    branchHint: '',
    inputJson: Buffer.from(json === undefined ? '' : JSON.stringify(json)),
    inputText: words === undefined ? null : Buffer.from(words),
    form: 'text',
    cwd: '/p',
    signal: new AbortController().signal,
  });
  const { listRunning } = createRunningManagement({
    gate,
    jobs: { running: () => [], end: async () => {} },
    scrubber: { maskText: (text: string) => text },
    liveSessions: { idFor: () => 'a' },
    sessionEnd: { end: async () => false, endAllOf: async () => {}, endIdle: async () => {} },
  });
  const { items } = await listRunning({ project_root: '' }, { requestId: 'req_2', note: () => {} });
  return items[0]?.command;
}

it.each<[Given, string]>([
  [{ tool: 'safe_bash', json: { command: 'npm test', timeout_ms: 9 } }, 'npm test'],
  [{ tool: 'safe_bash', words: 'npm test' }, 'npm test'],
  [{ tool: 'safe_bash', words: 'npm test', json: { timeout_ms: 9 } }, 'npm test {"timeout_ms":9}'],
  [{ tool: 'safe_read', words: 'a.ts', json: {} }, 'a.ts'],
  [{ tool: 'memory_store', json: { title: 'x' } }, '{"title":"x"}'],
  [
    { tool: 'tool_execute', json: { tool_id: 'github:create_issue#1a2b3c4d', args: { title: 'x' } } },
    'github:create_issue#1a2b3c4d {"title":"x"}',
  ],
  [{ tool: 'tool_execute', json: { tool_id: 'safe_bash', args: { command: 'npm test' } } }, 'safe_bash npm test'],
  [{ tool: 'tool_execute', words: 'github:whoami {}' }, 'github:whoami {}'],
])('FR-9.1 ctxd ps shows the call %j in words', async (given, command) => {
  expect(await shown(given)).toBe(command);
});
