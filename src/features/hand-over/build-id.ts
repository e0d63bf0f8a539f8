import { statSync } from 'node:fs';
import { PACKAGE_VERSION } from '../../protocol/versions.ts';

/**
 * Of the program that runs. Call at the start, because an update replaces the file: two daemons understand each other only if both are
 * of one build.
 */
export function buildId(program: string = process.argv[1] ?? ''): string {
  const stats = statSync(program, { throwIfNoEntry: false });
  return `${PACKAGE_VERSION} ${stats?.size} ${stats?.mtimeMs}`;
}
