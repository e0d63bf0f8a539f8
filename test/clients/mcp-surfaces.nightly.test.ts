import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { runClaude, runOpenCode } from '#src/cli/doctor/clients/run-client.js';
import type { Step } from '#src/cli/doctor/clients/scripted-model.js';
import type { Call, Seen } from '#src/cli/doctor/clients/wires.js';
import { configureServer, TOOL_PREFIX } from '../../bench/lib/clients/as-server.ts';
import { findClients } from '../../bench/lib/clients/programs.ts';
import { nameOf, serverDefinitions } from '../../bench/lib/clients/session-start.ts';
import { buildDemoServer } from '../helpers/demo-server.ts';
import { CTXD, type Installation, install, processesNamed } from '../helpers/installation.ts';
import { AT_NIGHT } from '../helpers/property-runs.ts';

const clients = findClients();
let at: Installation;
let outside: string;
let demo: string;

beforeAll(async () => {
  if (clients === undefined) return;
  outside = realpathSync(mkdtempSync(join(tmpdir(), 'client-surfaces-')));
  demo = await buildDemoServer(outside);
  at = await install();
  const added = await at.run(CTXD, ['upstream', 'add', 'demo', '--path', outside, '--yes', '--', 'node', demo]);
  expect(added).toMatchObject({ code: 0, stderr: '' });
});

afterAll(async () => {
  await at?.remove();
  if (outside !== undefined) rmSync(outside, { recursive: true, force: true });
});

/** How a model finds, executes and views on a surface. */
interface Surface {
  /** Some of the tools that its list has. */
  lists: readonly string[];
  finds: readonly Call[];
  /** The word for a tool of the server in the answers to `finds` and in the list as the model has it. */
  idIn(found: string, name: string, listed: readonly string[]): string;
  execute(id: string, args: object): Call;
  view(number: string, view: object): Call;
}

const browsing: Surface = {
  lists: ['tool_browse', 'tool_execute', 'tool_view'],
  finds: [
    { tool: 'tool_browse', input: { query: 'list the issues of the tracker' } },
    { tool: 'tool_browse', input: { path: '/demo' } },
  ],
  idIn: (found, name) => new RegExp(`^demo:${name}#[0-9a-f]{8}`, 'm').exec(found)?.[0] ?? '',
  execute: (id, args) => ({ tool: 'tool_execute', input: { tool_id: id, args } }),
  view: (handle, selector) => ({ tool: 'tool_view', input: { handle, selector } }),
};

const SURFACES: Readonly<Record<string, Surface>> = {
  gateway: browsing,
  compact: {
    lists: ['batch', 'call', 'schema', 'search'],
    finds: [
      { tool: 'search', input: { query: 'list the issues of the tracker' } },
      { tool: 'search', input: { namespace: 'demo' } },
    ],
    idIn: browsing.idIn,
    execute: (operation, input) => ({ tool: 'call', input: { operation, input } }),
    view: (ref, view) => ({ tool: 'call', input: { operation: 'tool_view', input: { ref, view } } }),
  },
  proxy: {
    lists: ['tool_execute', 'tool_hydrate'],
    finds: [{ tool: 'tool_hydrate', input: { tool_id: 'demo:list_issues' } }],
    idIn: (_found, name, listed) => listed.find((one) => one.includes(`demo_${name}_`)) ?? '',
    execute: browsing.execute,
    view: (ref, view) => browsing.execute('tool_view', { ref, view }),
  },
  tools: {
    ...browsing,
    lists: ['safe_bash', 'tool_browse', 'tool_execute', 'tool_view'],
    view: (ref, view) => ({ tool: 'tool_view', input: { ref, view } }),
  },
};

const PLAYS = {
  claude: { shell: 'Bash', run: runClaude, saysErrors: true },
  opencode: { shell: 'bash', run: runOpenCode, saysErrors: false },
} as const;

/** The call for the rest, in the words of the last line of an answer. */
function restOf(seen: Seen | undefined): Call {
  const [, tool = '', input = '{}'] = /rest: (\w+) (\{.*\})\]$/.exec(seen?.text.trimEnd() ?? '') ?? [];
  return { tool, input: JSON.parse(input) };
}

/** The programs of the server, outside which its sandbox is. */
async function serverPids(): Promise<string[]> {
  const lines = await processesNamed(demo);
  return lines.flatMap((line) => /^\s*(\d+) node /.exec(line)?.[1] ?? []);
}

async function serverState(): Promise<string> {
  const { stdout } = await at.run(CTXD, ['upstream', 'list', '--json']);
  const [server]: { state: string }[] = JSON.parse(stdout);
  return server?.state ?? '';
}

/**
 * One surface for each client, and in `npm run nightly` all with both. `mcp-tokens.nightly.test.ts` makes a call on every surface, and what a
 * surface answers is the same for every client: `e2e/mcp-surfaces.nightly.test.ts`.
 */
const IN_GATE: Readonly<Record<string, string>> = { gateway: 'claude', proxy: 'opencode' };

const ROWS = Object.keys(SURFACES)
  .flatMap((surface) => (['claude', 'opencode'] as const).map((client) => ({ surface, client })))
  .filter(({ surface, client }) => AT_NIGHT || IN_GATE[surface] === client);

describe.skipIf(clients === undefined).each(ROWS)('$client on the surface $surface', ({ surface: name, client }) => {
  it('issue 34: finds, executes, reads on and views, and goes on after the daemon and the server were killed', async () => {
    const surface = SURFACES[name] ?? browsing;
    const { shell, run, saysErrors } = PLAYS[client];
    const args = ['mcp', 'serve', '--surface', name, '--session', `${client}-${name}`];
    configureServer(at.project, { command: CTXD, args, env: { CONTEXTD_HOME: at.home } });
    const before = (await at.status()).pid;
    const killed: string[] = [];
    const first = surface.finds.length;

    const onServer = ({ tool, input }: Call): Call => ({ tool: `${TOOL_PREFIX[client]}${tool}`, input });
    const execute =
      (tool: string, input: object): Step =>
      (seen, tools) => {
        const found = seen.slice(0, first).map(({ text }) => text);
        return onServer(surface.execute(surface.idIn(found.join('\n'), tool, tools.map(nameOf)), input));
      };
    const kill =
      (pids: () => Promise<readonly string[]>): Step =>
      async () => {
        const words = await pids();
        killed.push(...words);
        return { tool: shell, input: { command: `kill -9 ${words.join(' ')}`, description: 'a step' } };
      };

    const { results, tools } = await run(
      clients?.[client] ?? '',
      [
        ...surface.finds.map(onServer),
        execute('list_issues', {}),
        (seen) => onServer(restOf(seen[first])),
        (seen) => onServer(surface.view(String(restOf(seen[first]).input.continuation), { grep: '^issue 2000:' })),
        kill(async () => [String((await at.status()).pid)]),
        execute('open_issue', { text: 'after the daemon' }),
        (seen) => onServer(restOf(seen[first + 1])),
        kill(serverPids),
        async (seen, tools, request) => {
          // A call that reaches the server while it dies fails, and is not repeated: it may have had effects.
          await vi.waitFor(async () => expect(await serverState()).not.toBe('running'), 30_000);
          const next = execute('open_issue', { text: 'after the server' });
          return typeof next === 'function' ? next(seen, tools, request) : next;
        },
        execute('die', {}),
        execute('open_issue', { text: 'after a call that ended it' }),
      ],
      { cwd: at.project, env: { CONTEXTD_HOME: at.home } },
    );

    const listed = serverDefinitions(tools, TOOL_PREFIX[client]).map((tool) => tool.name);
    expect(listed).toEqual(expect.arrayContaining([...surface.lists]));
    const texts = results.slice(first).map(({ text }) => text.trim());
    const [whole = '', page = '', view, , afterDaemon, nextPage = '', , afterServer, died, atLast] = texts;
    expect(whole).toMatch(/^issue 1: /);
    expect(whole).toMatch(/issue 4000: [^\n]*\n\n?(\[contextd [^\n]*\n)*\[contextd [^\n]* · rest: [^\n]*\]$/);
    const [from = 0, to = 0] = endsOf(page);
    expect(whole).toContain(`issue ${from - 1}: `);
    expect(whole).not.toContain(`issue ${from}: `);
    expect(view).toBe('2000:issue 2000: the page 393 is slow');
    expect(afterDaemon).toBe('open_issue: after the daemon');
    // The continuation of before the kill.
    expect(endsOf(nextPage)[0]).toBe(to + 1);
    expect(afterServer).toBe('open_issue: after the server');
    expect(died).toMatch(/INTERRUPTED.*may or may not have run: the MCP server demo ended/s);
    if (saysErrors) expect(results.map(({ isError }) => isError).indexOf(true)).toBe(first + 8);
    expect(atLast).toBe('open_issue: after a call that ended it');
    expect(killed).toHaveLength(2);
    expect(killed[0]).toBe(String(before));
    // It outlives the client that started it.
    const { pid } = await at.status();
    expect(pid).toBeGreaterThan(0);
    expect(pid).not.toBe(before);
  });
});

/** The first and the last issue on a page. */
function endsOf(page: string): [first: number, last: number] {
  const numbers = [...page.matchAll(/^issue (\d+):/gm)].map(([, number]) => Number(number));
  return [numbers[0] ?? 0, numbers.at(-1) ?? 0];
}
