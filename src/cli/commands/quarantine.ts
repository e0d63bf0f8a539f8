import type { QuarantinedItem, QuarantineResponse } from '../../call/management.ts';
import { ContextdError } from '../../core/errors.ts';
import { withClient } from '../client.ts';
import { defineCommand } from '../command.ts';
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

/** Restores a file once: if a command creates or changes it again, it is set aside again. */
export const quarantineRestore = defineCommand({
  name: ['quarantine', 'restore'],
  summary: 'Put a file back that was set aside. It stays until a command changes it.',
  parameters: [
    { syntax: '<id>', help: 'its id, from `ctxd quarantine list` or the answer of the call' },
    { syntax: '[path]', help: 'the project directory (default: the current project)' },
  ],
  async run(context, args) {
    const root = await projectAt(context, args.word(1));
    const request = { root, which: args.requiredWord(0) };
    return withClient(context.paths, (client) => client.restoreQuarantined(request));
  },
  view: ({ items }) => ({
    kind: 'lines',
    lines: items.map(({ path }) => `Restored: ${path}. If a command replaces it, it is set aside again.`),
  }),
});

/** Accepts content for good: a file with this path and hash is not set aside again. */
export const quarantineAccept = defineCommand({
  name: ['quarantine', 'accept'],
  summary: 'Show a file that was set aside, put it back, and let commands create this content there from now on.',
  parameters: [
    {
      syntax: '<id>',
      help: 'its id, or eight or more digits of its SHA-256; for --revoke, its path or those digits',
    },
    { syntax: '[path]', help: 'the project directory (default: the current project)' },
  ],
  options: [
    { syntax: '--yes', help: 'do not ask' },
    { syntax: '--revoke', help: 'withdraw an acceptance; the file itself stays' },
  ],
  async run(context, args) {
    const root = await projectAt(context, args.word(1));
    const which = args.requiredWord(0);
    return withClient(context.paths, async (client) => {
      if (args.flag('revoke')) return client.revokeAccepted({ root, which });
      const { items } = await client.listQuarantine({ root, which });
      const item = checkUsable(items[0], which);
      if (!args.flag('yes')) await ask(context, item);
      return client.acceptQuarantined({ root, which: item.id, sha256: item.sha256 });
    });
  },
  view: (answer) => ({ kind: 'lines', lines: verdicts(answer) }),
});

function checkUsable(item: QuarantinedItem | undefined, which: string): QuarantinedItem {
  if (item === undefined) throw new ContextdError('PATH_NOT_FOUND', `nothing was set aside under the name ${which}`);
  if (item.sha256 !== '') return item;
  throw new ContextdError('CONFLICT', `${item.path} cannot be accepted by a hash: ${item.no_hash_because}`, {
    remedy: `Look at ${item.moved}, then restore it: \`ctxd quarantine restore ${item.id}\`.`,
  });
}

async function ask(context: CliContext, item: QuarantinedItem): Promise<void> {
  const refusal = new ContextdError('CANCELLED', `${item.path} was not accepted`, {
    remedy: 'Answer yes, or pass --yes if nobody can be asked.',
  });
  await confirm(context, describe(item), 'Put it back, and let commands create this content there?', refusal);
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

function verdicts({ items: [item], accepted }: QuarantineResponse): string[] {
  if (item === undefined) {
    return accepted.map(({ path, sha256 }) => `No longer accepted: ${path} with sha256 ${sha256}.`);
  }
  const copy = item.moved === item.path ? [] : [`The same content was there already; ${item.moved} can be removed.`];
  return [`Accepted: ${item.path} with sha256 ${item.sha256}.`, ...copy];
}
