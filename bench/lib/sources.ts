import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const MIB = 1024 * 1024;

/** The first megabyte of the files below a directory, in the order of their names. */
export function filesBelow(dir: string, suffix: string): string {
  let text = '';
  const walk = (below: string): void => {
    const entries = readdirSync(below, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const entry of entries) {
      if (text.length >= MIB) return;
      const path = join(below, entry.name);
      if (entry.isDirectory()) walk(path);
      else if (entry.isFile() && path.endsWith(suffix)) text += `${readFileSync(path, 'utf8')}\n`;
    }
  };
  walk(dir);
  return text.slice(0, MIB);
}
