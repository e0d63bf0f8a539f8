import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { type BenchInstallation, installForBench } from '../lib/machine.ts';
import { startMcporter } from '../lib/mcporter.ts';
import { type Contender, race, runProcess } from '../lib/measure.ts';
import { findPeer } from '../lib/peers.ts';
import { missingRow, type Outcome, rowsOf, type Section, type SectionOptions } from '../lib/section.ts';
import { countTokens } from './gateway-tokens.ts';

const SERVER = fileURLToPath(new URL('../lib/echo-server-main.js', import.meta.url));
const DIRECT = 'a client of the SDK, directly';
const BARE = 'a bare server of the SDK';
const LINK = 'tool_execute';
const MCPORTER = 'mcporter call, its daemon running';
const MESSAGE = 'hello';

/** A call of a tool of an MCP server: through the gateway, and directly. Every answer is checked. */
export const gatewaySection: Section = {
  async run(options, report) {
    const at = await installForBench({});
    try {
      await at.ctxd('network', 'on', '--yes');
      const command = [process.execPath, SERVER];
      await at.ctxd('upstream', 'add', 'bench', '--yes', '--path', at.root, '--', ...command);
      report(await compare(at, options));
      await at.ctxd('upstream', 'remove', 'bench');
      return await countTokens(at, options.catalogs);
    } finally {
      await at.remove();
    }
  },
};

async function compare(at: BenchInstallation, { rounds }: SectionOptions): Promise<Outcome> {
  const found = await at.withDaemon((daemon) => daemon.call('tool_browse', { query: 'echo', top_k: 1 }));
  const id: string = JSON.parse(found).data.cards[0].id;
  const [direct, gateway] = [await connect(process.execPath, [SERVER], at), await connectGateway(at)];
  const warm = await at.withDaemon((daemon) =>
    race(
      [
        { name: DIRECT, once: () => echoed(direct, 'echo', { message: MESSAGE }) },
        {
          name: 'tool_execute through ctxd mcp serve',
          once: () => echoed(gateway, 'tool_execute', { tool_id: id, args: { message: MESSAGE } }),
        },
        {
          name: 'tool_execute over an open channel',
          once: async () => check(await daemon.call('tool_execute', { tool_id: id, args: { message: MESSAGE } })),
        },
      ],
      rounds,
    ),
  );
  await Promise.all([direct.close(), gateway.close()]);
  const mcporter = await peer();
  const whole = await race([linkContender(at, id), ...mcporter.contenders], rounds);
  await mcporter.stop();
  const cold = await race(
    [
      { name: BARE, once: async () => listed(await connect(process.execPath, [SERVER], at), 'echo') },
      { name: 'ctxd mcp serve --surface gateway', once: async () => listed(await connectGateway(at), 'tool_execute') },
    ],
    Math.min(rounds, 15),
  );
  const table = (title: string, base: string, measured: Awaited<ReturnType<typeof race>>) => ({
    title,
    base,
    rows: rowsOf(measured),
    aims: [],
  });
  const processes = table('a call as a process, ms', LINK, whole);
  return {
    tables: [
      table('a call of an open session, ms', DIRECT, warm),
      { ...processes, rows: [...processes.rows, ...mcporter.missing] },
      table('from the start of the server to its first list of tools, ms', BARE, cold),
    ],
    facts: [],
  };
}

async function connect(command: string, args: string[], { project, env }: BenchInstallation): Promise<Client> {
  const client = new Client({ name: 'bench', version: '1' });
  await client.connect(new StdioClientTransport({ command, args, cwd: project, env }));
  return client;
}

function connectGateway(at: BenchInstallation): Promise<Client> {
  return connect(join(at.root, 'bin/ctxd'), ['mcp', 'serve', '--surface', 'gateway'], at);
}

async function echoed(client: Client, name: string, args: Record<string, unknown>): Promise<undefined> {
  check(JSON.stringify((await client.callTool({ name, arguments: args })).content));
}

async function listed(client: Client, name: string): Promise<undefined> {
  const { tools } = await client.listTools();
  if (!tools.some((tool) => tool.name === name)) throw new Error(`there is no ${name}`);
  await client.close();
}

function check(answer: string): undefined {
  if (!answer.includes(MESSAGE)) throw new Error(`the answer is ${answer}`);
}

function linkContender({ project, env }: BenchInstallation, id: string): Contender {
  const words = [id, JSON.stringify({ message: MESSAGE })];
  const link = '.claude/tools/tool_execute/tool_execute';
  return { name: LINK, once: async () => check(await runProcess(link, words, { cwd: project, env })) };
}

/** mcporter with its keep-alive daemon, on the same server. */
async function peer() {
  const { path, missing } = findPeer('mcporter');
  if (path === null) return { contenders: [], missing: [missingRow(MCPORTER, missing)], stop: async () => {} };
  const mcporter = await startMcporter(path, SERVER);
  const once = async () => void (await mcporter.call('echo', `message=${MESSAGE}`, MESSAGE));
  return { contenders: [{ name: MCPORTER, once }], missing: [], stop: mcporter.stop };
}
