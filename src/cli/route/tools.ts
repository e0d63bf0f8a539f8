import { ContextdError } from '../../core/errors.ts';
import { nearestNames } from '../../core/nearest-names.ts';
import { ChoiceGraph } from '../../gateway/graph/choice-graph.ts';
import type { CatalogItem } from '../../gateway/item.ts';
import { Habits } from '../../gateway/router/habits.ts';
import { Router } from '../../gateway/router/router.ts';
import { validateSelection } from '../../gateway/selection.ts';
import { withClient } from '../client.ts';
import type { ParsedArgs } from '../command.ts';
import type { CliContext } from '../context.ts';
import { projectAt } from '../project-root.ts';
import { readCatalog, readItem } from './catalog-file.ts';

/** The tools that a command of `ctxd route` is about. */
export interface RoutedTools {
  readonly items: readonly CatalogItem[];
  readonly habits: Habits;
}

export const TOOLS_OPTIONS = [
  { syntax: '--project <dir>', help: 'the project whose tools are meant (default: the current project)' },
  { syntax: '--catalog <file>', help: 'the tools of a file, as for `ctxd route search`; needs no daemon' },
];

/** Those of the file of `--catalog`, or those that the daemon has for the project. */
export async function readTools(context: CliContext, args: ParsedArgs): Promise<RoutedTools> {
  const file = args.text('catalog');
  const project = args.text('project');
  if (file === undefined) return toolsOfProject(await projectAt(context, project), context);
  if (project !== undefined) {
    throw new ContextdError('ARGS_INVALID', '--catalog and --project name different tools', {
      remedy: 'Pass one of them.',
    });
  }
  return { items: await readCatalog(file, context), habits: new Habits() };
}

export function routerOf({ items, habits }: RoutedTools): Router {
  return new Router(items, { habits });
}

export function graphOf({ items }: RoutedTools): ChoiceGraph {
  return new ChoiceGraph(items);
}

/** The tool with a name or an id. A near miss is repaired only if it can mean one tool. Throws TOOL_NOT_FOUND. */
export function toolNamed(asked: string, { items }: RoutedTools): CatalogItem {
  const ids = items.map(({ id }) => id);
  const named = items.filter(({ name }) => name === asked);
  const selection = validateSelection(asked, ids);
  const found = selection.status === 'rejected' ? undefined : items.find(({ id }) => id === selection.id);
  const tool = found ?? (named.length === 1 ? named[0] : undefined);
  if (tool !== undefined) return tool;
  const near = nearestNames(asked, [...items.map(({ name }) => name), ...ids]);
  throw new ContextdError(
    'TOOL_NOT_FOUND',
    `no single tool has the id or name ${JSON.stringify(asked.slice(0, 100))}`,
    {
      remedy: near.length > 0 ? `Did you mean ${near.join(' or ')}?` : 'See `ctxd route print-tree`.',
    },
  );
}

async function toolsOfProject(root: string, context: CliContext): Promise<RoutedTools> {
  const { items_json, choices, learned_most } = await withClient(context.paths, (client) =>
    client.readCatalogue({ root }),
  );
  const items = items_json.map((line) => {
    const item = readItem(line);
    if (typeof item === 'string') throw new Error(`the daemon sent a tool that cannot be read: ${item}`);
    return item;
  });
  const habits = new Habits(undefined, { learnedMost: learned_most });
  for (const { tool_id, words } of choices) habits.recordWords(words, tool_id);
  return { items, habits };
}
