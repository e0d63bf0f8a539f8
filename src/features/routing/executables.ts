import { ContextdError } from '../../core/errors.ts';
import { toolOfShellName } from '../../core/shell-names.ts';
import type { Executable, Executables } from '../../dispatch/execute.ts';
import { repairArguments } from '../../gateway/arguments/repair.ts';
import { idsLike } from '../../gateway/ids/near-ids.ts';
import { withoutVersion } from '../../gateway/ids/upstream-name.ts';
import type { ToolCatalogue, ToolCatalogues } from './tool-catalogues.ts';
import { waitingFault } from './waiting-tools.ts';

export interface ExecutableDeps {
  catalogues: Pick<ToolCatalogues, 'of' | 'notStarted'>;
  config: { tolerant_args: boolean };
}

/** Ids that an error names. */
const NAMED_MAX = 5;

/** The tools that `tool_execute` executes: those that `tool_browse` finds. */
export function createExecutables({ catalogues, config }: ExecutableDeps): Executables {
  return {
    async find(project, idOrName) {
      const catalogue = await catalogues.of(project);
      const found = executable(idOrName.trim(), catalogue);
      if (found === undefined)
        throw catalogues.notStarted(project, idOrName.trim()) ?? notFound(idOrName.trim(), catalogue);
      return found;
    },
    repair: (args, schema) => (config.tolerant_args ? repairArguments(args, schema) : { args, repairs: [] }),
  };
}

/**
 * Only what can mean one tool: its id, its name, its name in a list of tools, or an id without version and hash. Anything else, such as
 * the id of a version that is gone, is never repaired: another tool would run.
 */
function executable(asked: string, { entries, clientNames }: ToolCatalogue): Executable | undefined {
  const id = clientNames.idOf(asked) ?? onlyOne(idsOf(asked, entries));
  const entry = id === undefined ? undefined : entries.get(id);
  return id === undefined || entry === undefined ? undefined : { id, tool: entry.tool, schema: entry.schema };
}

function idsOf(asked: string, entries: ToolCatalogue['entries']): string[] {
  const name = toolOfShellName(asked);
  return Array.from(entries).flatMap(([id, { tool }]) =>
    tool.manifest.name === name || withoutVersion(id) === asked ? [id] : [],
  );
}

function onlyOne(ids: readonly string[]): string | undefined {
  return ids.length === 1 ? ids[0] : undefined;
}

function notFound(asked: string, catalogue: ToolCatalogue): ContextdError {
  const waiting = waitingFault(asked, catalogue);
  if (waiting !== undefined) return waiting;
  const { entries } = catalogue;
  const several = idsOf(asked, entries);
  const named = several.length > 1 ? several : idsLike(asked, [...entries.keys()]);
  const shown = JSON.stringify(asked.slice(0, 100));
  const why = several.length > 1 ? `several tools here are called ${shown}` : `no tool here has the id ${shown}`;
  return new ContextdError('HYDRATE_FAILED', why, {
    remedy:
      named.length > 0
        ? `Did you mean ${named.slice(0, NAMED_MAX).join(' or ')}?`
        : 'Find it by what it does: `tool_browse`.',
  });
}
