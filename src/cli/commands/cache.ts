import { resolve } from 'node:path';
import { ContextdError } from '../../core/errors.ts';
import type { CachesResponse__Output as CachesResponse } from '../../protocol/generated/management.ts';
import { withClient } from '../client.ts';
import { defineCommand, type ParsedArgs } from '../command.ts';
import type { CliContext } from '../context.ts';
import { currentProject, realOrGiven } from '../project-root.ts';
import type { View } from '../render.ts';

const MIB = 1024 * 1024;
const ALL = { syntax: '--all', help: 'the caches of all projects' };

/** Lists the caches that commands keep, by project. */
const cacheList = defineCommand<CachesResponse>({
  name: ['cache', 'list'],
  summary: 'List the caches that commands keep for each project (~/.cache, ~/.npm, ~/go and others).',
  parameters: [{ syntax: '[project]', help: 'the project directory (default: all projects)' }],
  options: [ALL],
  async run(context, args) {
    const project_root = args.word(0) === undefined ? '' : await projectOf(context, args);
    return withClient(context.paths, (client) => client.listCaches({ project_root }));
  },
  bare: ({ caches }) => JSON.stringify(caches),
  view: tableOf,
});

/** Empties the caches of a project. A running command fetches or builds again what it needs. */
const cacheClear = defineCommand<CachesResponse>({
  name: ['cache', 'clear'],
  summary: 'Empty the caches of a project.',
  parameters: [{ syntax: '[project]', help: 'the project directory (default: the current project)' }],
  options: [ALL],
  async run(context, args) {
    const project_root = await projectOf(context, args);
    return withClient(context.paths, (client) => client.clearCaches({ project_root }));
  },
  bare: ({ caches }) => JSON.stringify(caches),
  view: ({ caches }) => ({ kind: 'lines', lines: caches.map(({ project }) => `Emptied the caches of ${project}.`) }),
});

export const cacheCommands = [cacheList, cacheClear];

/** "" for all. A project whose directory is gone can still be named by its path. */
async function projectOf(context: CliContext, args: ParsedArgs): Promise<string> {
  const named = args.word(0);
  if (!args.flag('all'))
    return named === undefined ? currentProject(context) : realOrGiven(resolve(context.cwd, named));
  if (named === undefined) return '';
  throw new ContextdError('ARGS_INVALID', `cannot use both --all and the project ${named}`, {
    remedy: 'Give one of them.',
  });
}

function tableOf({ caches }: CachesResponse): View {
  return {
    kind: 'table',
    columns: ['PROJECT', 'MIB', 'LIMIT', 'LAST USED'],
    rows: caches.map(({ project, bytes, max_bytes, used_ms }) => [
      project,
      String(Math.round(bytes / MIB)),
      String(Math.round(max_bytes / MIB)),
      new Date(used_ms).toISOString(),
    ]),
    numbers: [1, 2],
    empty: 'no caches',
  };
}
