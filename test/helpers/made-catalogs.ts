import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { seededRandom } from './sample-patterns.ts';

const VERBS = ['list', 'get', 'create', 'update', 'delete', 'search', 'merge', 'export', 'close', 'assign'];
const NOUNS = ['issue', 'branch', 'pipeline', 'dashboard', 'cluster', 'invoice', 'contact', 'page', 'metric', 'secret'];
const SENTENCES = [
  'Returns the entries that match, newest first, with their ids.',
  'Use this only after the project was selected, because ids are unique in one project.',
  'The result has at most one hundred entries; pass the cursor of the last one to go on.',
  'Fields that are left out keep the value that they have.',
  'Needs the permission to write in the workspace of the organization.',
  'Times are in UTC and written as in RFC 3339, such as 2026-01-31T08:30:00Z.',
];

/**
 * Writes a recorded `tools/list` for each of `servers`, with as many tools as it says, into a directory. Names, descriptions and schemas
 * are as long as those of real servers: about 300 tokens a tool.
 */
export function writeCatalogs(dir: string, servers: readonly number[]): void {
  const random = seededRandom(22);
  const pick = (from: readonly string[]): string => from[Math.floor(random() * from.length)] ?? '';
  const sentences = (most: number): string =>
    Array.from({ length: 1 + Math.floor(random() * most) }, () => pick(SENTENCES)).join(' ');
  const property = () => ({ type: pick(['string', 'integer', 'boolean']), description: sentences(2) });
  const tool = (number: number) => ({
    name: `${pick(VERBS)}_${pick(NOUNS)}_${number}`,
    description: sentences(4),
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(
        Array.from({ length: Math.floor(random() * 14) }, (_, at) => [`${pick(NOUNS)}_${at}`, property()]),
      ),
      additionalProperties: false,
    },
  });
  for (const [at, tools] of servers.entries()) {
    const list = { tools: Array.from({ length: tools }, (_, number) => tool(number)) };
    writeFileSync(join(dir, `server-${at}.json`), JSON.stringify({ tools_list: list }));
  }
}
