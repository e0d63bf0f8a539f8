import { loadCounter } from '../../tokens/counter.ts';
import { defineCommand } from '../command.ts';
import { type CatalogueReport, inspectCatalogue } from '../mcp/inspect-catalogue.ts';
import type { View } from '../render.ts';
import { readTools, TOOLS_OPTIONS } from '../route/tools.ts';

export const mcpInspect = defineCommand<CatalogueReport>({
  name: ['mcp', 'inspect'],
  summary: 'Report on the tools of a project or a file: tokens, schemas, duplicates. Starts no server.',
  options: TOOLS_OPTIONS,
  async run(context, args) {
    const { items } = await readTools(context, args);
    return inspectCatalogue(items, loadCounter());
  },
  bare: (report) => JSON.stringify(report),
  view: inspectView,
});

/** The last row; no server can be called that. */
const ALL = '(all)';
/** A table of servers, then what is wrong, ambiguous or not verified. */
export function inspectView(report: CatalogueReport): View {
  const { servers, duplicates, inspected } = report;
  return {
    kind: 'stack',
    views: [
      {
        kind: 'table',
        columns: ['SERVER', 'TOOLS', 'DEFINITIONS', 'CARDS', 'SAVED', 'FAULTS'],
        numbers: [1, 2, 3, 4, 5],
        rows: [...servers, ...(servers.length > 1 ? [{ ...report, name: ALL }] : [])].map((server) => [
          server.name,
          String(server.tools),
          String(server.definition_tokens),
          String(server.card_tokens),
          String(server.definition_tokens - server.card_tokens),
          String(server.schema_faults),
        ]),
        empty: 'No tool. A person adds MCP servers: ctxd upstream add NAME -- COMMAND',
      },
      {
        kind: 'lines',
        lines: [
          ...inspected.flatMap(({ id, fault }) => (fault === '' ? [] : [`Fault of ${id}: ${fault}`])),
          ...duplicates.map(({ name, ids }) => `Same name ${name}: ${ids.join(', ')}`),
          ...inspected.flatMap(({ id, unverified }) =>
            unverified === '' ? [] : [`Not verified: ${id} says that it is ${unverified}`],
          ),
        ],
      },
    ],
  };
}
