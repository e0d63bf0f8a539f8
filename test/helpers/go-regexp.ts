import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { buildGoPrograms } from './build-go-programs.ts';

export interface GoAnswer {
  accepted: boolean;
  /** The matches in each text: offsets of the match and of each group, -1 for a group that did not take part. */
  matches: number[][][];
}

export interface GoRegexp {
  /** Why Go is not available; null if it is. The reason has been printed. */
  missing: string | null;
  ask(questions: readonly { pattern: string; texts: readonly string[] }[]): GoAnswer[];
  remove(): void;
}

/** Builds a program around Go's own regexp package. */
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
