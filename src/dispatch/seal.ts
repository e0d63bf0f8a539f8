import type { Cursors } from '../stores/cursors.ts';
import type { ByteRange } from '../tokens/line.ts';
import type { VerifiedCall } from './call.ts';
import type { StoredOutput } from './store.ts';

/** The cursor to `ranges` of an artifact. `isJson`: ranges of `data` are shown as JSON. */
export function sealed(
  call: VerifiedCall,
  { artifactId, revision }: Pick<StoredOutput, 'artifactId' | 'revision'>,
  ranges: readonly ByteRange[],
  { cursors }: { cursors: Cursors },
  isJson = false,
): string {
  return cursors.seal(call.session, { artifactId, revision, ranges, ...(isJson ? { isJson } : {}) });
}
