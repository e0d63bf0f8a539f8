import { otherLogs } from '../../audit/other-log.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { withClient } from '../client.ts';
import { defineCommand } from '../command.ts';
import type { CliContext } from '../context.ts';
import { projectOption } from '../project-root.ts';
import { type View, write } from '../render.ts';

const RECORDS_DEFAULT = 20;
const RECORDS_MAX = 1000;

export const auditTail = defineCommand({
  name: ['audit', 'tail'],
  summary: 'Show the newest records of the audit log, oldest first.',
  options: [
    { syntax: '-n, --lines <count>', help: `number of records (default ${RECORDS_DEFAULT}, at most ${RECORDS_MAX})` },
    { syntax: '--project [dir]', help: 'only records of a project (default: the current project)' },
  ],
  async run(context, args) {
    const limit = args.count('lines', RECORDS_DEFAULT, RECORDS_MAX);
    const root = await projectOption(context, args);
    const request = { limit, project_root: root };
    const { records_json, unreadable } = await withClient(context.paths, (client) => client.tailAudit(request));
    await reportUnreadable(context, unreadable);
    if (records_json.length === 0) await reportOtherLogs(context);
    return records_json.map(parseRecord);
  },
  view: (records) => recordTable(records, 'no calls yet'),
});

/** Says on stderr how many lines of the log are no records. */
export async function reportUnreadable({ stderr }: CliContext, lines: number): Promise<void> {
  if (lines === 0) return;
  const what = lines === 1 ? '1 line of the audit log' : `${lines} lines of the audit log`;
  await write(stderr, `ctxd: ${what} could not be read: \`ctxd audit verify\` names the place\n`);
}

/** Says on stderr where to look further: the log of a machine whose backup was restored is not the one of this machine. */
export async function reportOtherLogs({ paths, stderr }: CliContext): Promise<void> {
  for (const log of await otherLogs(paths.otherAuditDir))
    await write(stderr, `ctxd: a backup brought along the log of another machine: \`ctxd audit search --of ${log}\`\n`);
}

/** `empty` is shown without records. */
export function recordTable(records: readonly JsonObject[], empty: string): View {
  const isAsked = records.some(({ approvals }) => approvals !== undefined);
  const approval = isAsked ? ['APPROVAL'] : [];
  return {
    kind: 'table',
    columns: ['TIME', 'TOOL', 'RESULT', ...approval, 'MS', 'SECRETS', 'SESSION', 'PROJECT', 'INPUT'],
    rows: records.map((record) => rowOf(record, isAsked)),
    empty,
  };
}

const INPUT_SHOWN = 60;
/** The result of a record whose call had not ended, by its kind. */
const OPEN: ReadonlyMap<string, string> = new Map([
  ['asked', 'asks'],
  ['started', 'running'],
]);

function rowOf(record: JsonObject, isAsked: boolean): string[] {
  const shown = (key: string) => inWords(record[key]);
  const exit = OPEN.get(shown('kind')) ?? (shown('exit_code') === '' ? 'done' : `exit ${shown('exit_code')}`);
  const result = shown('error_code') === '' ? exit : shown('error_code');
  const input = shown('input');
  return [
    shown('time'),
    shown('tool'),
    result,
    ...(isAsked ? [approvalsOf(record)] : []),
    shown('duration_ms'),
    shown('secrets_found'),
    shown('session'),
    shown('project'),
    input.length > INPUT_SHOWN ? `${input.slice(0, INPUT_SHOWN - 1)}…` : input,
  ];
}

/** Which rules asked a person, what was answered and by whom, and how long the call waited. */
function approvalsOf({ kind, approvals }: JsonObject): string {
  if (!Array.isArray(approvals)) return '';
  const asked = approvals.filter((one) => isJsonObject(one));
  return asked.map((one) => (kind === 'asked' ? inWords(one.rule) : approvalOf(one))).join(', ');
}

function approvalOf({ rule, answer, by, waited_ms: waitedMs }: JsonObject): string {
  const who = by === undefined ? '' : ` by ${inWords(by)}`;
  const word = answer === 'none' ? 'not answered' : inWords(answer);
  const waited = answer === 'kept' ? '' : ` after ${Math.round(Number(waitedMs) / 1000)} s`;
  return `${inWords(rule)} ${word}${who}${waited}`;
}

function inWords(value: Json | undefined): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function parseRecord(text: string): JsonObject {
  const value: unknown = JSON.parse(text);
  return isJsonObject(value) ? value : {};
}
