import type { Cursors } from '../stores/cursors.ts';
import type { ByteRange } from '../tokens/line.ts';
import type { VerifiedCall } from './call.ts';
import type { StoredOutput } from './store.ts';

/** The cursor that leads to `ranges` of an artifact. */
export function sealed(
  call: VerifiedCall,
  { artifactId, revision }: Pick<StoredOutput, 'artifactId' | 'revision'>,
  ranges: readonly ByteRange[],
  { cursors }: { cursors: Cursors },
): string {
  return cursors.seal(call.session, { artifactId, revision, ranges });
}
