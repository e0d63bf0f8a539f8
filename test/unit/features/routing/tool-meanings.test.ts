import { describe, expect, it } from 'vitest';
import { systemTimer } from '#src/core/clock.js';
import { ToolMeanings } from '#src/features/routing/tool-meanings.js';
import { textToEmbed } from '#src/gateway/router/meaning.js';
import { Router } from '#src/gateway/router/router.js';
import { type EmbeddingServer, openEmbeddingServer } from '../../../helpers/embedding-server.ts';
import { tool } from '../../gateway/catalogs.ts';
import { openDense } from '../memory/open-dense.ts';

const PROJECT = '/p';
const TOOLS = [
  tool('slice_pear', { description: 'Cut it for a salad' }),
  tool('run_linker', { description: 'Join objects, with swordfish' }),
  ...Array.from({ length: 40 }, (_, at) => tool(`other_${at}`, { description: `Thing number ${at}` })),
];

async function open(server: EmbeddingServer) {
  const { dense } = await openDense(server);
  const meanings = new ToolMeanings({ model: dense, timer: systemTimer });
  const router = new Router(TOOLS);
  const find = async (query: string): Promise<string[]> => {
    const meaning = await meanings.of(PROJECT, query, TOOLS);
    return router.route(query, { topK: 1, meaning }).map(({ item }) => item.id);
  };
  return { meanings, find };
}

describe('what a model says of tools', () => {
  it('issue 33.4 is used from the moment that every tool has a vector, and words alone until then', async () => {
    const { meanings, find } = await open(await openEmbeddingServer());
    expect(await find('apple')).toEqual([]);
    await meanings.settled;
    expect(await find('apple')).toEqual(['slice_pear']);
    expect(await find('compile')).toEqual(['run_linker']);
  });

  it('issue 33.4 is asked once for each tool, and sees masked texts only', async () => {
    const server = await openEmbeddingServer();
    const { meanings, find } = await open(server);
    for (let round = 0; round < 3; round++) {
      await find('apple');
      await meanings.settled;
    }
    const masked = TOOLS.map((one) => textToEmbed(one).replace('swordfish', '[SECRET:test]'));
    expect(server.texts.filter((text) => text !== 'query: apple').sort()).toEqual(masked.sort());
  });

  it('issue 33.4 leaves the answer to words while the model is away, and is asked again when it is back', async () => {
    const server = await openEmbeddingServer();
    server.fault = (texts) => (texts.length > 1 ? '500' : null);
    const { meanings, find } = await open(server);
    expect(await find('slice')).toEqual(['slice_pear']);
    await meanings.settled;
    await server.kill();
    expect(await find('slice')).toEqual(['slice_pear']);
    expect(await find('apple')).toEqual([]);
  });

  it('issue 33.4 is forgotten when another model answers: its vectors are not compared with those before', async () => {
    const server = await openEmbeddingServer();
    const { meanings, find } = await open(server);
    await find('apple');
    await meanings.settled;
    const before = server.vectorOf;
    // What meant the one topic means the other, with a number more.
    server.vectorOf = (text, model) => [...before(text, model).toReversed(), 0.2];
    expect(await find('apple')).toEqual([]);
    await meanings.settled;
    expect(await find('apple')).toEqual(['slice_pear']);
  });
});
