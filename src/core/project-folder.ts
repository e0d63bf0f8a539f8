import { createHash } from 'node:crypto';

/** The name of a folder or file for a project. The same on every machine where the project has this path. */
export function projectFolder(project: string): string {
  return createHash('sha256').update(project).digest('hex').slice(0, 24);
}
