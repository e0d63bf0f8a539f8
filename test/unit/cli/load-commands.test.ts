import { describe, expect, it } from 'vitest';
import { loadCommands } from '#src/cli/commands.js';

const ALL = (await loadCommands()).map(({ name }) => name);
const FIRST_WORDS = [...new Set(ALL.map(([first = '']) => first))];

/** ps.ts has the commands of both words. */
const IN_ONE_FILE: Readonly<Record<string, string>> = { ps: 'kill', kill: 'ps' };

describe('the commands of ctxd', () => {
  it.each(FIRST_WORDS)('NFR-1.4: that begin with %s are loaded without the others', async (word) => {
    const loaded = (await loadCommands(word)).map(({ name }) => name);
    expect(loaded).toEqual(ALL.filter(([first]) => first === word || first === IN_ONE_FILE[word]));
  });

  it('are all loaded for a word that begins none of them, so that the answer can name them', async () => {
    expect(await loadCommands('unknown')).toHaveLength(ALL.length);
  });
});
