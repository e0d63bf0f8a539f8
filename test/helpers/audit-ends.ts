import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PERSON_DOOR } from '#src/audit/record.js';
import type { Installation } from './installation.ts';

/** The request ids of calls in the audit log with no record of their end, or with several. */
export function miscounted(at: Pick<Installation, 'home'>): { open: string[]; endedTwice: string[] } {
  const dir = join(at.home, 'state/audit');
  const lines = readdirSync(dir)
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) => readFileSync(join(dir, name), 'utf8').split('\n'))
    .filter((line) => line !== '');
  const ends = new Map<string, number>();
  for (const line of lines) {
    const { request_id: id, kind, door } = JSON.parse(line);
    if (typeof id !== 'string' || door === PERSON_DOOR) continue;
    if (kind === 'started' || kind === 'asked') ends.set(id, ends.get(id) ?? 0);
    else if (kind === undefined) ends.set(id, (ends.get(id) ?? 0) + 1);
  }
  const idsWith = (fits: (count: number) => boolean): string[] =>
    [...ends].filter(([, count]) => fits(count)).map(([id]) => id);
  return { open: idsWith((count) => count === 0), endedTwice: idsWith((count) => count > 1) };
}
