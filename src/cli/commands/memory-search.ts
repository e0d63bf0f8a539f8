import { createInterface } from 'node:readline';
import { ContextdError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import type {
  MemoryItem__Output as MemoryItem,
  MemoryList__Output as MemoryList,
  MemoryQuery__Output as MemoryQuery,
} from '../../protocol/generated/management.ts';
import { type DaemonClient, withClient } from '../client.ts';
import { defineCommand, type ParsedArgs } from '../command.ts';
import type { CliContext } from '../context.ts';
import { ensureRunning } from '../daemon/launch.ts';
import { projectAt } from '../project-root.ts';
import { printable, write } from '../render.ts';
import { PROJECT, tableOf, tagsOption } from './memory.ts';

const LIMIT_DEFAULT = 10;
const LIMIT_MAX = 100;

interface Found {
  /** Null: they were printed line by line. */
  memories: readonly MemoryItem[] | null;
  faults: number;
}

/** Finds memories by their words. */
export const memorySearch = defineCommand<Found>({
  name: ['memory', 'search'],
  summary: 'Find memories by their words: any text is a query. Without a query, show the newest.',
  parameters: [{ syntax: '[query...]', help: 'the words to look for' }],
  options: [
    { syntax: '-n, --limit <count>', help: `number of memories (default ${LIMIT_DEFAULT}, at most ${LIMIT_MAX})` },
    { syntax: '--tags <tags>', help: 'only memories that have all of these tags, with commas between them' },
    { syntax: '--outcome <outcome>', help: 'only success, failure or mixed' },
    { syntax: '--scope <scope>', help: 'only project or global' },
    { syntax: '--days <count>', help: 'only memories that changed in the last days' },
    { syntax: '--stdin', help: 'read a {"query":"…"} from each line of standard input, and print an array for each' },
    PROJECT,
  ],
  async run(context, args) {
    const query: MemoryQuery = {
      root: await projectAt(context, args.text('project')),
      query: args.words().join(' '),
      limit: args.count('limit', LIMIT_DEFAULT, LIMIT_MAX),
      tags: tagsOption(args),
      outcome: args.text('outcome') ?? '',
      scope: args.text('scope') ?? '',
      max_age_days: args.text('days') === undefined ? 0 : args.count('days', 1, 36_500),
    };
    checkStdin(args, query);
    await ensureRunning(context);
    return withClient(context.paths, async (client) => {
      if (args.flag('stdin')) return { memories: null, faults: await searchLines(context, client, query) };
      const { memories, degraded } = await client.searchMemories(query);
      await warnIf(context, degraded);
      return { memories, faults: 0 };
    });
  },
  bare: ({ memories }) => (memories === null ? '' : JSON.stringify(memories)),
  view: ({ memories }) => (memories === null ? { kind: 'raw', text: '' } : tableOf(memories, 'nothing found')),
  exitCode: ({ faults }) => (faults === 0 ? 0 : 1),
});

function checkStdin(args: ParsedArgs, { query }: MemoryQuery): void {
  if (!args.flag('stdin') || (query === '' && args.flag('json'))) return;
  throw new ContextdError('ARGS_INVALID', '--stdin takes its queries from standard input and prints JSON', {
    remedy: 'Run `ctxd memory search --stdin --json`, without a query.',
  });
}

/** Answers each line at once. A line that is no query gets an empty array, so that lines and answers stay in step. */
async function searchLines(context: CliContext, client: DaemonClient, query: MemoryQuery): Promise<number> {
  let number = 0;
  let faults = 0;
  for await (const line of createInterface({ input: context.stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
    number += 1;
    const asked = queryIn(line);
    if (asked === null) {
      faults += 1;
      await write(context.stderr, `ctxd: line ${number} is not {"query":"…"}\n`);
    }
    const found = asked === null ? NOTHING : await client.searchMemories({ ...query, query: asked });
    await warnIf(context, found.degraded);
    await write(context.stdout, `${JSON.stringify(found.memories)}\n`);
  }
  return faults;
}

const NOTHING: MemoryList = { memories: [], degraded: '' };

async function warnIf(context: CliContext, degraded: string): Promise<void> {
  if (degraded !== '') await write(context.stderr, `ctxd: degraded: ${printable(degraded)}\n`);
}

function queryIn(line: string): string | null {
  try {
    const value: unknown = JSON.parse(line);
    return isJsonObject(value) && typeof value.query === 'string' ? value.query : null;
  } catch {
    return null;
  }
}
