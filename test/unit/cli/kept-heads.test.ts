import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readKeptHeads } from '#src/cli/audit/kept-heads.js';
import { makeTempDir } from '../stores/open-stores.js';

describe('heads that were kept elsewhere', () => {
  it('SEC-5.4 prove nothing if they are of an empty log', async () => {
    const file = join(await makeTempDir(), 'heads.jsonl');
    const empty = '{"segment":0,"seq":0,"mac":"","time":"2026-01-31T12:00:00.000Z"}\n';
    await writeFile(file, empty);
    await expect(readKeptHeads(file)).rejects.toMatchObject({ code: 'ARGS_INVALID' });
    await writeFile(file, `${empty}{"segment":1,"seq":2,"mac":"abc"}\n`);
    expect((await readKeptHeads(file)).heads).toEqual([{ seq: 2, mac: 'abc', from: file }]);
  });
});
