import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DaemonCaller, openCaller } from '../helpers/daemon-caller.ts';
import { type Installation, install } from '../helpers/installation.ts';
import { generate, seededRandom } from '../helpers/secret-samples.ts';

const random = seededRandom(20_261_124);
/** Calls that contextd refuses or that fail, and what each has to say. */
const FAILING: readonly [tool: string, input: object][] = [
  ['safe_read', { path: '/etc/passwd' }],
  ['safe_read', { path: 'no-such-file.txt' }],
  ['safe_read', { path: 'notes.txt', lines: 'ten' }],
  ['safe_read', {}],
  ['safe_bash', { command: 'true', cwd: '/root' }],
  ['safe_bash', { command: 'true', timeout_ms: -1 }],
  ['safe_bash', { command: 'cat /etc/shadow' }],
  ['safe_bash', { continuation: 'cursor' }],
  ['safe_write', { path: '.git/config', content: 'text' }],
  ['safe_write', { path: '/etc/passwd', content: 'text' }],
  ['tool_view', { ref: 'art_unknown' }],
  ['no_such_tool', {}],
];
const VALUES = [
  'passwd',
  'root',
  'workspace',
  'permission',
  'outside',
  '/etc/passwd',
  'safe_read',
  'registered',
  'command',
];

describe('SEC-1.1 the messages of a daemon whose project has words for passwords', () => {
  let at: Installation;
  const callers: DaemonCaller[] = [];

  beforeAll(async () => {
    at = await install({ warm: true });
  });
  afterAll(async () => {
    for (const caller of callers) caller.close();
    await at.remove();
  });

  async function messagesIn(session: string, prepare: (caller: DaemonCaller) => Promise<void>): Promise<string[]> {
    const caller = await openCaller(at, session);
    callers.push(caller);
    await prepare(caller);
    const messages: string[] = [];
    for (const [tool, input] of FAILING) {
      const { envelope } = await caller.call(tool, input);
      messages.push(
        JSON.stringify([
          tool,
          envelope.error,
          envelope.data.error_code,
          envelope.data.remediation,
          envelope.data.details,
        ]),
      );
    }
    return messages;
  }

  it('are the same as without them', { timeout: 120_000 }, async () => {
    writeFileSync(join(at.project, 'notes.txt'), 'one\ntwo\n');
    const plain = await messagesIn('plain', async () => {});
    const secret = generate('ghp_[A-Za-z0-9]{36}', random);
    const lines = [...VALUES, secret].map((value, index) => `DB_${index}_PASSWORD=${value}\n`).join('');
    writeFileSync(join(at.project, '.env'), lines);
    const knowing = await messagesIn('knowing', async (caller) => {
      const { line } = await caller.call('safe_bash', { command: 'cat .env' });
      expect(line).toContain('[SECRET_2]');
      expect(line).not.toContain(secret);
    });
    const codes = new Set(plain.flatMap((message) => message.match(/"[A-Z]+_[A-Z_]+"/) ?? []));
    expect(codes.size).toBeGreaterThanOrEqual(5);
    expect(knowing).toEqual(plain);
  });
});
