import type { QuarantinedItem, QuarantineResponse } from '../../call/management.ts';
import { ContextdError } from '../../core/errors.ts';
import { type DaemonClient, withClient } from '../client.ts';
import { defineCommand, type ParsedArgs } from '../command.ts';
import type { CliContext } from '../context.ts';
import { confirm } from '../input.ts';
import { projectAt } from '../project-root.ts';

/** Digits of a hash that are shown. `--json` prints all of them. */
const SHOWN_DIGITS = 12;

/** Files that contextd set aside because a program on the host would run them, and contents that a person accepted. */
export const quarantineList = defineCommand({
  name: ['quarantine', 'list'],
  summary: 'List the files that contextd set aside because a program on the host would run them.',
  parameters: [{ syntax: '[path]', help: 'the project directory (default: the current project)' }],
  async run(context, args) {
    const root = await projectAt(context, args.word(0));
    return withClient(context.paths, (client) => client.listQuarantine({ root, which: '' }));
  },
  view: ({ items, accepted }) => ({
    kind: 'stack',
    views: [
      {
        kind: 'table',
        columns: ['ID', 'PATH', 'KIND', 'BYTES', 'SHA256', 'SET ASIDE', 'REASON'],
        rows: items.map(rowOf),
        empty: 'nothing is set aside',
      },
      ...(accepted.length === 0
        ? []
        : [
            {
              kind: 'table' as const,
              columns: ['ACCEPTED AT', 'SHA256', 'TIME'],
              rows: accepted.map(({ path, sha256, accepted_ms }) => [path, sha256, timeOf(accepted_ms)]),
              empty: '',
            },
          ]),
    ],
  }),
});

function rowOf({
  id,
  path,
  kind,
  size_bytes,
  sha256,
  no_hash_because,
  set_aside_ms,
  reason,
}: QuarantinedItem): string[] {
  const hash = sha256 === '' ? `none: ${no_hash_because}` : sha256.slice(0, SHOWN_DIGITS);
  return [id, path, kind, size_bytes === undefined ? '' : String(size_bytes), hash, timeOf(set_aside_ms), reason];
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}

const PROJECT_OPTION = { syntax: '--project <dir>', help: 'the project directory (default: the current project)' };
const ALL_OPTION = { syntax: '--all', help: 'everything that is set aside in the project' };

/** Restores files once: if a command creates or changes one again, it is set aside again. */
export const quarantineRestore = defineCommand({
  name: ['quarantine', 'restore'],
  summary: 'Put files back that were set aside. They stay until a command changes them.',
  parameters: [{ syntax: '[ids...]', help: 'their ids, from `ctxd quarantine list` or the answer of the call' }],
  options: [ALL_OPTION, PROJECT_OPTION],
  async run(context, args) {
    const root = await projectAt(context, args.text('project'));
    return withClient(context.paths, async (client) => {
      const restored: QuarantinedItem[] = [];
      for (const which of await chosen(client, root, args)) {
        const { items } = await client.restoreQuarantined({ root, which });
        restored.push(...items);
      }
      return { items: restored };
    });
  },
  view: ({ items }) => ({
    kind: 'lines',
    lines:
      items.length === 0
        ? [NOTHING]
        : items.map(({ path }) => `Restored: ${path}. If a command replaces it, it is set aside again.`),
  }),
});

const NOTHING = 'nothing is set aside';

/** Accepts contents for good: a file with such a path and hash is not set aside again. */
export const quarantineAccept = defineCommand({
  name: ['quarantine', 'accept'],
  summary: 'Show files that were set aside, put them back, and let commands create these contents there from now on.',
  parameters: [
    {
      syntax: '[ids...]',
      help: 'their ids, or eight or more digits of a SHA-256; for --revoke, a path or those digits',
    },
  ],
  options: [
    { syntax: '--yes', help: 'do not ask' },
    ALL_OPTION,
    { syntax: '--revoke', help: 'withdraw an acceptance; the file itself stays' },
    PROJECT_OPTION,
  ],
  async run(context, args) {
    const root = await projectAt(context, args.text('project'));
    return withClient(context.paths, async (client) => {
      const answers: QuarantineResponse[] = [];
      if (args.flag('revoke')) {
        for (const which of allIds(args)) answers.push(await client.revokeAccepted({ root, which }));
        return joined(answers);
      }
      const items: QuarantinedItem[] = [];
      for (const which of await chosen(client, root, args)) {
        const { items: found } = await client.listQuarantine({ root, which });
        items.push(checkUsable(found[0], which));
      }
      if (items.length > 0 && !args.flag('yes')) await ask(context, items);
      for (const { id, sha256 } of items) answers.push(await client.acceptQuarantined({ root, which: id, sha256 }));
      return joined(answers);
    });
  },
  view: ({ items, accepted }) => ({ kind: 'lines', lines: verdicts(items, accepted) }),
});

function joined(answers: readonly QuarantineResponse[]): QuarantineResponse {
  return { items: answers.flatMap(({ items }) => items), accepted: answers.flatMap(({ accepted }) => accepted) };
}

/** The ids of the command line, or with --all those of everything that is set aside. */
async function chosen(client: DaemonClient, root: string, args: ParsedArgs): Promise<string[]> {
  if (!args.flag('all')) return allIds(args);
  const { items } = await client.listQuarantine({ root, which: '' });
  return items.map(({ id }) => id);
}

function allIds(args: ParsedArgs): string[] {
  const ids = args.words();
  if (ids.length > 0) return ids;
  throw new ContextdError('ARGS_INVALID', 'no id is given', {
    remedy: 'Pass ids from `ctxd quarantine list`, or --all.',
  });
}

function checkUsable(item: QuarantinedItem | undefined, which: string): QuarantinedItem {
  if (item === undefined) throw new ContextdError('PATH_NOT_FOUND', `nothing was set aside under the name ${which}`);
  if (item.sha256 !== '') return item;
  throw new ContextdError('CONFLICT', `${item.path} cannot be accepted by a hash: ${item.no_hash_because}`, {
    remedy: `Look at ${item.moved}, then restore it: \`ctxd quarantine restore ${item.id}\`.`,
  });
}

/** One question for all of them, after all were shown. */
async function ask(context: CliContext, items: readonly QuarantinedItem[]): Promise<void> {
  const [first] = items;
  const what = items.length === 1 ? (first?.path ?? '') : `${items.length} files`;
  const refusal = new ContextdError('CANCELLED', `${what}: not accepted`, {
    remedy: 'Answer yes, or pass --yes if nobody can be asked.',
  });
  const question =
    items.length === 1
      ? 'Put it back, and let commands create this content there?'
      : `Put all ${items.length} back, and let commands create these contents there?`;
  await confirm(context, items.flatMap(describe), question, refusal);
}

function describe({ path, moved, reason, kind, size_bytes, sha256, preview }: QuarantinedItem): string[] {
  const size = size_bytes === undefined ? '' : `, ${size_bytes} bytes`;
  return [
    `${path} was set aside: ${reason}.`,
    `  now: ${moved}`,
    `  ${kind}${size}, sha256 ${sha256}`,
    ...(preview === '' ? [] : preview.split('\n').map((line) => `  | ${line}`)),
  ];
}

function verdicts(items: readonly QuarantinedItem[], accepted: QuarantineResponse['accepted']): string[] {
  if (items.length > 0) return items.flatMap(verdict);
  if (accepted.length === 0) return [NOTHING];
  return accepted.map(({ path, sha256 }) => `No longer accepted: ${path} with sha256 ${sha256}.`);
}

function verdict(item: QuarantinedItem): string[] {
  const copy = item.moved === item.path ? [] : [`The same content was there already; ${item.moved} can be removed.`];
  return [`Accepted: ${item.path} with sha256 ${item.sha256}.`, ...copy];
}
