import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dependencyFiles, MODULES } from '../helpers/dependency-files.ts';
import { type Installation, install } from '../helpers/installation.ts';
import { propertyRuns } from '../helpers/property-runs.ts';

/** `unit/scrub/vault/dependency-files.test.ts` masks and opens 300. */
const FILES = Math.min(propertyRuns('door'), 200);
const AT_ONCE = 8;

let at: Installation;
beforeAll(async () => {
  at = await install({ warm: true });
});
afterAll(() => at.remove());

describe('SEC-1.4 files of dependencies', () => {
  it('have each byte as it was after being read and written', { timeout: 600_000 }, async () => {
    const names = dependencyFiles(FILES);
    expect(names).toHaveLength(FILES);
    const changed: string[] = [];
    const readAndWrite = async (name: string, index: number): Promise<void> => {
      const path = `copies/${index}/${name.split('/').at(-1)}`;
      const file = join(at.project, path);
      mkdirSync(dirname(file), { recursive: true });
      const original = readFileSync(join(MODULES, name));
      writeFileSync(file, original);
      const read = await at.ask('safe_read', { path, max_tokens: 20_000 });
      // An empty line first shows that the file was written.
      const written = await at.ask('safe_write', { path, content: `\n${read.data.content}` });
      const now = readFileSync(file);
      if (!written.success || !now.equals(Buffer.concat([Buffer.from('\n'), original]))) changed.push(name);
    };
    for (let begin = 0; begin < names.length; begin += AT_ONCE)
      await Promise.all(names.slice(begin, begin + AT_ONCE).map((name, index) => readAndWrite(name, begin + index)));
    expect(changed).toEqual([]);
  });
});
