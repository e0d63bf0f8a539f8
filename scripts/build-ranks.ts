import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import cl100k from 'js-tiktoken/ranks/cl100k_base';
import { RANK_FILE } from '../src/tokens/counter.ts';
import { packRankTable } from '../src/tokens/rank-table.ts';

/**
 * Converts the ranks of js-tiktoken, lines of `! <first rank> <base64> <base64> …`, to tokens in rank order. A gap or an
 * overlap in the ranks fails the build.
 */
function readTokens(bpeRanks: string): Uint8Array[] {
  const tokens: Uint8Array[] = [];
  for (const line of bpeRanks.split('\n').filter(Boolean)) {
    const [, first, ...encoded] = line.split(' ');
    if (Number(first) !== tokens.length) throw new Error(`ranks are not contiguous: ${first} follows ${tokens.length}`);
    for (const text of encoded) tokens.push(Buffer.from(text, 'base64'));
  }
  return tokens;
}

mkdirSync(dirname(RANK_FILE), { recursive: true });
writeFileSync(RANK_FILE, packRankTable(readTokens(cl100k.bpe_ranks)));
