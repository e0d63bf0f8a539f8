import type { QuarantinedItem, QuarantineResponse } from '../../call/management.ts';
import { ContextdError } from '../../core/errors.ts';
import { withClient } from '../client.ts';
import { defineCommand } from '../command.ts';
import type { CliContext } from '../context.ts';
import { confirm } from '../input.ts';
import { projectAt } from '../project-root.ts';

/** Digits of a hash that name it; `--json` has them all. */
const SHOWN_DIGITS = 12;

/** What commands made and what was set aside because a program on the host would run it, and what a person accepted. */
export const quarantineList = defineCommand({
  name: ['quarantine', 'list'],
  summary: 'list the files that contextd set aside because a program on the host would run them',
  parameters: [{ syntax: '[path]', help: 'the project (default: the one around here)' }],
  async run(context, given) {
    const root = await projectAt(context, given.word(0));
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

/** Once: if a command makes or changes it again, it is set aside again. */
export const quarantineRestore = defineCommand({
  name: ['quarantine', 'restore'],
  summary: 'put back a file that was set aside, until a command changes it',
  parameters: [
    { syntax: '<id>', help: 'as `ctxd quarantine list` and the answer of the call name it' },
    { syntax: '[path]', help: 'the project (default: the one around here)' },
  ],
  async run(context, given) {
    const root = await projectAt(context, given.word(1));
    const request = { root, which: given.requiredWord(0) };
    return withClient(context.paths, (client) => client.restoreQuarantined(request));
  },
  view: ({ items }) => ({
    kind: 'lines',
    lines: items.map(({ path }) => `Restored: ${path}. If a command changes it, it is set aside again.`),
  }),
});

/** Accepts content at a path for good: what a command makes there with the same hash stays. */
export const quarantineAccept = defineCommand({
  name: ['quarantine', 'accept'],
  summary: 'show a file that was set aside, put it back, and let commands make this content there from now on',
  parameters: [
    { syntax: '<which>', help: 'its id, or eight or more digits of its SHA-256; for --revoke, a path or such digits' },
    { syntax: '[path]', help: 'the project (default: the one around here)' },
  ],
  options: [
    { syntax: '--yes', help: 'do not ask' },
    { syntax: '--revoke', help: 'take an acceptance back; what is there now stays' },
  ],
  async run(context, given) {
    const root = await projectAt(context, given.word(1));
    const which = given.requiredWord(0);
    return withClient(context.paths, async (client) => {
      if (given.flag('revoke')) return client.revokeAccepted({ root, which });
      const { items } = await client.listQuarantine({ root, which });
      const item = checkUsable(items[0], which);
      if (!given.flag('yes')) await ask(context, item);
      return client.acceptQuarantined({ root, which: item.id, sha256: item.sha256 });
    });
  },
  view: (answer) => ({ kind: 'lines', lines: verdicts(answer) }),
});

function checkUsable(item: QuarantinedItem | undefined, which: string): QuarantinedItem {
  if (item === undefined) throw new ContextdError('PATH_NOT_FOUND', `nothing that was set aside is named ${which}`);
  if (item.sha256 !== '') return item;
  throw new ContextdError('CONFLICT', `${item.path} cannot be accepted by a hash: ${item.no_hash_because}`, {
    remedy: `Look at ${item.moved}, then restore it: \`ctxd quarantine restore ${item.id}\`.`,
  });
}

async function ask(context: CliContext, item: QuarantinedItem): Promise<void> {
  const refusal = new ContextdError('CANCELLED', `${item.path} was not accepted`, {
    remedy: 'Say yes, or pass --yes where nobody can be asked.',
  });
  await confirm(context, describe(item), 'Put it back, and let commands make this content there?', refusal);
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
