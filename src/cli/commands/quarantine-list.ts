import { type QuarantinedItem, withClient } from '../client.ts';
import { defineCommand } from '../command.ts';
import { projectAt } from '../project-option.ts';

/** Digits of a hash that name it; `--json` has them all. */
const SHOWN_DIGITS = 12;

/** What commands made and what was set aside because a program on the host would run it, and what a person accepted. */
export const quarantineList = defineCommand({
  name: ['quarantine', 'list'],
  summary: 'list the files that contextd set aside because a program on the host would run them',
  parameters: [{ syntax: '[path]', help: 'the project (default: the one around here)' }],
  async run(context, given) {
    const root = await projectAt(context, given.word(0));
    return withClient(context.paths, (client) => client.listQuarantine(root, ''));
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
