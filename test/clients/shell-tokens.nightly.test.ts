import { getEncoding } from 'js-tiktoken';
import { expect, it } from 'vitest';
import { type Conversation, runClaude, runOpenCode } from '#src/cli/doctor/clients/run-client.js';
import { findClients } from '../../bench/lib/clients/programs.ts';
import { CTXD, type Installation, install } from '../helpers/installation.ts';

/** What contextd may add to the start of a conversation where it is the shell. */
const MOST_TOKENS = 60;
const clients = findClients();
const encoding = getEncoding('cl100k_base');

/** The first request with tools, as the client sends it. */
async function firstRequest(client: 'claude' | 'opencode', at: Installation): Promise<string> {
  const run = client === 'claude' ? runClaude : runOpenCode;
  const options = { cwd: at.project, env: { CONTEXTD_HOME: at.home }, allow: ['Bash'] };
  const { requests }: Conversation = await run(clients?.[client] ?? '', ['true'], options);
  const first = requests.find((body) => (JSON.parse(body).tools ?? []).length > 0);
  if (first === undefined) throw new Error(`${client} sent no request with tools`);
  return first;
}

/** Everything that a model reads, without what only identifies the request. */
function tokensOf(body: string): number {
  const { system, messages, tools } = JSON.parse(body);
  return encoding.encode(JSON.stringify({ system, messages, tools }), 'all').length;
}

it.skipIf(clients === undefined).each(['claude', 'opencode'] as const)(
  `CE-1.1: a conversation in %s begins with at most ${MOST_TOKENS} tokens more where contextd is the shell, and every rule`,
  async (client) => {
    const at = await install({ init: false });
    try {
      const before = await firstRequest(client, at);
      expect(await at.run(CTXD, ['init', '--shell'])).toMatchObject({ code: 0 });
      const after = await firstRequest(client, at);
      expect(before).not.toContain('[SECRET_1]');
      for (const said of ['Your shell is a sandbox', '[SECRET_1] stands for a secret', 'only allowed hosts answer'])
        expect(after).toContain(said);
      expect(after).toMatch(/memory, jobs and MCP tools/);
      expect(tokensOf(after) - tokensOf(before)).toBeLessThanOrEqual(MOST_TOKENS);
      expect(tokensOf(after)).toBeGreaterThan(tokensOf(before));
    } finally {
      await at.remove();
    }
  },
);
