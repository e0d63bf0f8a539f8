import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';

export function bytes(constraints: fc.IntArrayConstraints = {}): fc.Arbitrary<Buffer> {
  return fc.uint8Array(constraints).map((array) => Buffer.from(array));
}

/** The same bytes in pieces of any size. */
export function chopped(whole: Buffer): fc.Arbitrary<Buffer[]> {
  return fc.array(fc.nat(whole.length), { maxLength: 12 }).map((cuts) => {
    const edges = [0, ...cuts.sort((a, b) => a - b), whole.length];
    return edges.slice(1).map((edge, i) => whole.subarray(edges[i], edge));
  });
}

/** A tool whose schema has these properties; without properties it has no schema.json. Remove `toolDir` afterwards. */
export function toolOf(properties?: object): { tool: string; toolDir: string } {
  const toolDir = mkdtempSync(join(tmpdir(), 'flags-'));
  if (properties !== undefined) writeFileSync(join(toolDir, 'schema.json'), JSON.stringify({ properties }));
  return { tool: 'safe_bash', toolDir };
}
