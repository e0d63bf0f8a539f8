import { ContextdError } from '../../core/errors.ts';
import type {
  QuarantinedItem__Output as QuarantinedItem,
  QuarantineResponse__Output as QuarantineResponse,
} from '../../protocol/generated/management.ts';
import { type DaemonClient, withClient } from '../client.ts';
import { defineCommand, type ParsedArgs } from '../command.ts';
import type { CliContext } from '../context.ts';
import { confirm } from '../input.ts';
import { projectAt } from '../project-root.ts';
import { isReported } from '../set-aside.ts';

/** Digits of a hash that are shown. `--json` prints all of them. */
const SHOWN_DIGITS = 12;

const NOTHING = 'nothing is set aside or reported';

/** Files that contextd set aside because a program on the host would run them, and contents that a person accepted. */
const quarantineList = defineCommand({
  name: ['quarantine', 'list'],
  summary:
    'List the files that contextd set aside, and those that it only reported: programs on the host may run them.',
  parameters: [{ syntax: '[path]', help: 'the project directory (default: the current project)' }],
  async run(context, args) {
    const root = await projectAt(context, args.word(0));
    return withClient(context.paths, (client) => client.listQuarantine({ root, which: '', unseen: false }));
  },
  view: ({ items, accepted }) => ({
    kind: 'stack',
    views: [
      {
        kind: 'table',
        columns: ['ID', 'STATE', 'PATH', 'KIND', 'BYTES', 'SHA256', 'SINCE', 'REASON'],
        rows: items.map(rowOf),
        empty: NOTHING,
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

function rowOf(item: QuarantinedItem): string[] {
  const { id, path, kind, size_bytes, sha256, no_hash_because, set_aside_ms, reason } = item;
  const state = isReported(item) ? 'reported' : 'set aside';
  const hash = sha256 === '' ? `none: ${no_hash_because}` : sha256.slice(0, SHOWN_DIGITS);
  const size = size_bytes === undefined ? '' : String(size_bytes);
  return [id, state, path, kind, size, hash, timeOf(set_aside_ms), reason];
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}

const PROJECT_OPTION = { syntax: '--project <dir>', help: 'the project directory (default: the current project)' };
const ALL_OPTION = { syntax: '--all', help: 'all of them in the project' };

/** Restores files once: if a command creates or changes one again, it is set aside again. */
const quarantineRestore = defineCommand({
  name: ['quarantine', 'restore'],
  summary: 'Put files back that were set aside, as they were listed. They stay until a command changes them.',
  parameters: [{ syntax: '[ids...]', help: 'their ids, from `ctxd quarantine list` or the answer of the call' }],
  options: [ALL_OPTION, PROJECT_OPTION],
  async run(context, args) {
    const root = await projectAt(context, args.text('project'));
    return withClient(context.paths, async (client) => {
      const restored: QuarantinedItem[] = [];
      for (const which of await chosen(client, root, args, isNewestAside)) {
        const { items } = await client.restoreQuarantined({ root, which, unseen: false });
        restored.push(...items);
      }
      return { items: restored };
    });
  },
  view: ({ items }) => ({
    kind: 'lines',
    lines:
      items.length === 0
        ? ['nothing is set aside']
        : items.map(({ path }) => `Restored: ${path}. If a command replaces it, it is set aside again.`),
  }),
});

/** Deletes files that were set aside. What was only reported is the person's to remove. */
const quarantineRemove = defineCommand({
  name: ['quarantine', 'remove'],
  summary: 'Show files that were set aside, and delete them.',
  parameters: [{ syntax: '[ids...]', help: 'their ids, from `ctxd quarantine list` or the answer of the call' }],
  options: [{ syntax: '--yes', help: 'do not ask' }, ALL_OPTION, PROJECT_OPTION],
  async run(context, args) {
    const root = await projectAt(context, args.text('project'));
    return withClient(context.paths, async (client) => {
      const items: QuarantinedItem[] = [];
      for (const which of await chosen(client, root, args, (item) => !isReported(item))) {
        const { items: found } = await client.listQuarantine({ root, which, unseen: true });
        items.push(checkRemovable(found[0], which));
      }
      if (items.length > 0 && !args.flag('yes')) {
        await ask(context, items, 'removed', items.length === 1 ? 'Delete it?' : `Delete all ${items.length}?`);
      }
      for (const { id } of items) await client.removeQuarantined({ root, which: id, unseen: false });
      return { items };
    });
  },
  view: ({ items }) => ({
    kind: 'lines',
    lines: items.length === 0 ? ['nothing is set aside'] : items.map(({ path, id }) => `Removed: ${path} (${id}).`),
  }),
});

/** Accepts contents for good: a file with such a path and hash is not set aside again. */
const quarantineAccept = defineCommand({
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
        for (const which of allIds(args)) answers.push(await client.revokeAccepted({ root, which, unseen: false }));
        return joined(answers);
      }
      const items: QuarantinedItem[] = [];
      for (const which of await chosen(client, root, args)) {
        const { items: found } = await client.listQuarantine({ root, which, unseen: false });
        items.push(checkUsable(found[0], which));
      }
      if (items.length > 0 && !args.flag('yes')) await ask(context, items, 'accepted', acceptQuestion(items));
      for (const { id, sha256 } of items) answers.push(await client.acceptQuarantined({ root, which: id, sha256 }));
      return joined(answers);
    });
  },
  view: ({ items, accepted }) => ({ kind: 'lines', lines: verdicts(items, accepted) }),
});

export const quarantineCommands = [quarantineList, quarantineRestore, quarantineRemove, quarantineAccept];

function joined(answers: readonly QuarantineResponse[]): QuarantineResponse {
  return { items: answers.flatMap(({ items }) => items), accepted: answers.flatMap(({ accepted }) => accepted) };
}

/** The ids of the command line, or with --all those of everything that is set aside. */
async function chosen(
  client: DaemonClient,
  root: string,
  args: ParsedArgs,
  isMeant: (item: QuarantinedItem, all: readonly QuarantinedItem[]) => boolean = () => true,
): Promise<string[]> {
  if (!args.flag('all')) return allIds(args);
  const { items } = await client.listQuarantine({ root, which: '', unseen: true });
  return items.filter((item) => isMeant(item, items)).map(({ id }) => id);
}

/** Of several files that had one path, only the last can be put back. */
function isNewestAside(item: QuarantinedItem, all: readonly QuarantinedItem[]): boolean {
  return !isReported(item) && all.findLast(({ path }) => path === item.path) === item;
}

function allIds(args: ParsedArgs): string[] {
  const ids = args.words();
  if (ids.length > 0) return ids;
  throw new ContextdError('ARGS_INVALID', 'no id is given', {
    remedy: 'Pass ids from `ctxd quarantine list`, or --all.',
  });
}

function checkFound(item: QuarantinedItem | undefined, which: string): QuarantinedItem {
  if (item !== undefined) return item;
  throw new ContextdError('PATH_NOT_FOUND', `nothing was set aside under the name ${which}`);
}

function checkUsable(found: QuarantinedItem | undefined, which: string): QuarantinedItem {
  const item = checkFound(found, which);
  if (item.sha256 !== '') return item;
  throw new ContextdError('CONFLICT', `${item.path} cannot be accepted by a hash: ${item.no_hash_because}`, {
    remedy: `Look at ${item.moved}, then restore it: \`ctxd quarantine restore ${item.id}\`.`,
  });
}

function checkRemovable(found: QuarantinedItem | undefined, which: string): QuarantinedItem {
  const item = checkFound(found, which);
  if (!isReported(item)) return item;
  throw new ContextdError('CONFLICT', `${item.path} was only reported and is in its place`, {
    remedy: `Remove the file itself, or accept what it holds: \`ctxd quarantine accept ${item.id}\`.`,
  });
}

/** One question for all of them, after all were shown. */
async function ask(
  context: CliContext,
  items: readonly QuarantinedItem[],
  done: 'accepted' | 'removed',
  question: string,
): Promise<void> {
  const [first] = items;
  const what = items.length === 1 ? (first?.path ?? '') : `${items.length} files`;
  const refusal = new ContextdError('CANCELLED', `${what}: not ${done}`, {
    remedy: 'Answer yes, or pass --yes if nobody can be asked.',
  });
  await confirm(context, items.flatMap(describe), question, refusal);
}

function acceptQuestion(items: readonly QuarantinedItem[]): string {
  const what = items.length === 1 ? 'it' : `all ${items.length}`;
  const act = items.every(isReported) ? `Keep ${what}` : `Put ${what} back`;
  return `${act}, and let commands create ${items.length === 1 ? 'this content' : 'these contents'} there?`;
}

function describe(item: QuarantinedItem): string[] {
  const { path, moved, reason, kind, size_bytes, sha256, preview } = item;
  const size = size_bytes === undefined ? '' : `, ${size_bytes} bytes`;
  return [
    ...(isReported(item)
      ? [`${path} was reported: ${reason}.`]
      : [`${path} was set aside: ${reason}.`, `  now: ${moved}`]),
    sha256 === '' ? `  ${kind}${size}` : `  ${kind}${size}, sha256 ${sha256}`,
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
