import { existsSync, watch } from 'node:fs';
import { join } from 'node:path';

/** Resolves when the file is in the directory. */
export function appears(directory: string, name: string): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (!existsSync(join(directory, name))) return;
      watcher.close();
      resolve();
    };
    const watcher = watch(directory, look);
    look();
  });
}
