import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Makes files of about 0.5 KB, `perDirectory` in each of `package-0`, `package-1` and so on. */
export function makeFiles(project: string, files: number, perDirectory: number): void {
  for (let dir = 0; dir < files / perDirectory; dir++) {
    const path = join(project, `package-${dir}`);
    mkdirSync(path);
    for (let i = 0; i < perDirectory; i++)
      writeFileSync(join(path, `file-${i}.ts`), `export const n = ${dir * i};\n`.repeat(20));
  }
}
