import type { SessionRef } from '../../call/session.ts';
import type { Scrubber } from '../../scrub/scrubber.ts';
import type { ArtifactStore } from '../../stores/artifacts.ts';
import type { Blob } from './server-output.ts';

/** Stores an image, a sound or a file of a result as base64, scrubbed like every text, and returns the id of the artifact. */
export async function keepBlob(
  { session, requestId, tool }: { session: SessionRef; requestId: string; tool: string },
  { base64 }: Blob,
  { scrubber, artifacts }: { scrubber: Pick<Scrubber, 'scrub'>; artifacts: Pick<ArtifactStore, 'put'> },
): Promise<string> {
  const { value } = await scrubber.scrub(session, [base64], {});
  const { id, committed } = artifacts.put(session, requestId, tool, [{ field: 'base64', text: value[0] ?? '' }], 0);
  await committed;
  return id;
}
