import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Conversation, runClaude, runOpenCode } from '#src/cli/doctor/clients/run-client.js';
import { configureServer, TOOL_PREFIX } from '../../bench/lib/clients/as-server.ts';
import { findClients } from '../../bench/lib/clients/programs.ts';
import { CTXD, type Installation, install } from '../helpers/installation.ts';
import { AT_NIGHT } from '../helpers/property-runs.ts';

const clients = findClients();
let at: Installation;

beforeAll(async () => {
  at = await install();
  configureServer(at.project, { command: CTXD, args: ['mcp', 'serve'], env: { CONTEXTD_HOME: at.home } });
});

afterAll(() => at.remove());

/** Runs commands as tools of the server; a step of the client's own shell kills the daemon. */
const PLAYS: Readonly<Record<string, { prefix: string; shell: string; run: typeof runClaude }>> = {
  claude: { prefix: TOOL_PREFIX.claude, shell: 'Bash', run: runClaude },
  opencode: { prefix: TOOL_PREFIX.opencode, shell: 'bash', run: runOpenCode },
};

// OpenCode goes on after a killed daemon in mcp-surfaces.nightly.test.ts.
const CLIENTS = AT_NIGHT ? (['claude', 'opencode'] as const) : (['claude'] as const);

describe.skipIf(clients === undefined).each(CLIENTS)('%s', (name) => {
  it('issue 34: lists and calls the tools, reads on, and goes on after the daemon was killed', async () => {
    const { prefix, shell, run } = PLAYS[name] ?? PLAYS.claude ?? never();
    const bash = (input: object) => ({ tool: `${prefix}safe_bash`, input: { ...input } });
    const { pid } = await at.status();
    const { results }: Conversation = await run(
      clients?.[name] ?? '',
      [
        bash({ command: 'echo by mcp; exit 3' }),
        bash({ command: 'seq 1 9000' }),
        bash({ command: 'seq 1 9000', continuation: '1' }),
        { tool: shell, input: { command: `kill -9 ${pid}`, description: 'a step' } },
        bash({ command: 'echo after' }),
        { tool: `${prefix}safe_read`, input: { path: 'missing.txt' } },
      ],
      { cwd: at.project, env: { CONTEXTD_HOME: at.home, CONTEXTD_SESSION_ID: `of-${name}` } },
    );
    const texts = results.map(({ text }) => text.trim());
    expect(texts[0]).toBe('by mcp\n[contextd exit 3]');
    expect(texts[1]).toMatch(/safe_bash \{"continuation":"1"\}\]$/);
    expect(texts[2]).toMatch(/^\d+\n\d+\n/);
    expect(texts[4]).toBe('after');
    expect(texts[5]).toContain('missing.txt');
    expect((await at.status()).pid).not.toBe(pid);
  });
});

function never(): never {
  throw new Error('every client has its play');
}
