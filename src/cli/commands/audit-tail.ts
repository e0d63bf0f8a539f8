import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { withClient } from '../client.ts';
import { defineCommand } from '../command.ts';
import { projectOption } from '../project-root.ts';

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
    const { records_json } = await withClient(context.paths, (client) => client.tailAudit(request));
    return records_json.map(parseRecord);
  },
  view: (records) => ({
    kind: 'table',
    columns: ['TIME', 'TOOL', 'RESULT', 'MS', 'SECRETS', 'SESSION', 'PROJECT', 'INPUT'],
    rows: records.map(rowOf),
    empty: 'no calls yet',
  }),
});

const INPUT_SHOWN = 60;

function rowOf(record: JsonObject): string[] {
  const shown = (key: string) => inWords(record[key]);
  const exit = record.kind === 'started' ? 'running' : `exit ${shown('exit_code')}`;
  const result = shown('error_code') === '' ? exit : shown('error_code');
  const input = shown('input');
  return [
    shown('time'),
    shown('tool'),
    result,
    shown('duration_ms'),
    shown('secrets_found'),
    shown('session'),
    shown('project'),
    input.length > INPUT_SHOWN ? `${input.slice(0, INPUT_SHOWN - 1)}…` : input,
  ];
}

function inWords(value: Json | undefined): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function parseRecord(text: string): JsonObject {
  const value: unknown = JSON.parse(text);
  return isJsonObject(value) ? value : {};
}
