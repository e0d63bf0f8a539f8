import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { buildGoPrograms } from './build-go-programs.ts';

export interface GoAnswer {
  accepted: boolean;
  /** For each text its matches: offsets of the match and of each group, -1 for one that took no part. */
  matches: number[][][];
}

export interface GoRegexp {
  /** Why Go cannot be asked; null when it can. It has been said aloud then. */
  missing: string | null;
  ask(questions: readonly { pattern: string; texts: readonly string[] }[]): GoAnswer[];
  remove(): void;
}

/** Go's own regexp package, in a program built for the purpose. */
export function buildGoRegexp(): GoRegexp {
  const { dir, missing, remove } = buildGoPrograms('go-regexp');
  return {
    missing,
    remove,
    ask(questions) {
      const input = questions.map((question) => JSON.stringify(question)).join('\n');
      const output = execFileSync(join(dir, 'go-regexp'), { input, maxBuffer: 1 << 28 }).toString();
      return output
        .split('\n')
        .filter((line) => line !== '')
        .map((line): GoAnswer => JSON.parse(line));
    },
  };
}
