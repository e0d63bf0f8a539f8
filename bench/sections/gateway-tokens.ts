import { join } from 'node:path';
import { SURFACES, type Surface } from '../../src/core/surfaces.ts';
import { catalogServers } from '../lib/catalogs.ts';
import { type Clients, findClients } from '../lib/clients/programs.ts';
import { type Definition, type SessionStart, sessionStart, totalTokens } from '../lib/clients/session-start.ts';
import type { BenchInstallation } from '../lib/machine.ts';
import { type Figure, type Outcome, sayStep } from '../lib/section.ts';

const CLIENTS: Readonly<Record<keyof Clients, string>> = { claude: 'Claude Code', opencode: 'OpenCode' };

interface Bound {
  aim: string;
  holds(definitions: readonly Definition[]): boolean;
}

const AT_MOST_1000: Bound = { aim: '≤ 1,000 tokens', holds: (all) => totalTokens(all) <= 1_000 };

/** What a session may cost before its first call. `passthrough` is every definition as it is, to compare with. */
export const BOUNDS: Readonly<Record<Surface, Bound | null>> = {
  gateway: AT_MOST_1000,
  compact: AT_MOST_1000,
  tools: { aim: '< 1,500 tokens', holds: (all) => totalTokens(all) < 1_500 },
  // The two that take a schema beside the list are those of every project.
  proxy: { aim: '≤ 60 tokens a tool', holds: (all) => listedOnly(all).every(({ tokens }) => tokens <= 60) },
  passthrough: null,
};

/** What the tools of recorded servers cost a session of each real client on each surface, in the definitions that it sends. */
export async function countTokens(at: BenchInstallation, dir: string | null): Promise<Partial<Outcome>> {
  if (dir === null) return { facts: [{ name: 'tokens of a session', value: 'not counted: --catalogs DIR' }] };
  const clients = findClients();
  if (clients === undefined) return { facts: [{ name: 'tokens of a session', value: 'no client is installed' }] };
  for (const words of catalogServers(dir, at.root)) {
    sayStep(`adding ${words[2]}`);
    await at.ctxd(...words);
  }
  const figures: Figure[] = [];
  for (const surface of SURFACES)
    for (const client of ['claude', 'opencode'] as const) {
      sayStep(`${CLIENTS[client]} on ${surface}`);
      const started = await sessionStart({
        client,
        program: clients[client],
        ctxd: join(at.root, 'bin/ctxd'),
        project: at.project,
        env: at.env,
        surface,
      });
      figures.push(figureOf(`${surface}, ${CLIENTS[client]}`, started, BOUNDS[surface]));
    }
  const listed: { tools: number; tokens: number }[] = JSON.parse(await at.ctxd('upstream', 'list', '--json'));
  const sum = (key: 'tools' | 'tokens'): number => listed.reduce((all, server) => all + server[key], 0);
  const value = `${listed.length} servers, ${sum('tools')} tools, ${sum('tokens')} tokens as they list them`;
  return { figures, facts: [{ name: 'MCP servers of the project', value }] };
}

function figureOf(name: string, { definitions, deferredTokens }: SessionStart, bound: Bound | null): Figure {
  const most = Math.max(0, ...listedOnly(definitions).map(({ tokens }) => tokens));
  return {
    name,
    value: `${totalTokens(definitions)} (${definitions.length} tools, ≤ ${most})`,
    aim: bound?.aim ?? '',
    isMet: bound === null ? null : bound.holds(definitions),
    beside: deferredTokens === 0 ? '' : `names of deferred tools: ${deferredTokens}`,
  };
}

function listedOnly(definitions: readonly Definition[]): Definition[] {
  return definitions.filter(({ name }) => !/^tool_(hydrate|execute)$/.test(name));
}
