/**
 * The line that states its own count: a number below 1000 is one token, a longer one is two, so the second count is
 * final. An installation without its rank file is broken; the line's bytes then stand in, which are never less. The
 * table is read only here, so a call whose answer goes out as it came does not pay for it.
 */
export async function stateTokens(lineWith: (tokens: number) => string, rankFile: string): Promise<string> {
  try {
    const { loadCounter } = await import('../tokens/counter.ts');
    const counter = loadCounter(rankFile);
    return lineWith(counter.count(lineWith(counter.count(lineWith(0)))));
  } catch {
    return lineWith(Buffer.byteLength(lineWith(0)));
  }
}
