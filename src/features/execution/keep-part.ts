import type { SessionRef } from '../../call/session.ts';
import type { Scrubber } from '../../scrub/scrubber.ts';
import type { ArtifactStore } from '../../stores/artifacts.ts';

/** A part of a result that is stored by itself: the bytes of an image, a sound or a file as base64, or a text. */
export interface KeptPart {
  field: 'base64' | 'text';
  text: string;
}

/** The call whose result has the part. */
export interface KeepingCall {
  session: SessionRef;
  requestId: string;
  tool: string;
}

/** Stores a part, scrubbed like every text, and returns the id of the artifact. */
export async function keepPart(
  { session, requestId, tool }: KeepingCall,
  { field, text }: KeptPart,
  { scrubber, artifacts }: { scrubber: Pick<Scrubber, 'scrub'>; artifacts: Pick<ArtifactStore, 'put'> },
): Promise<string> {
  const { value } = await scrubber.scrub(session, [text], {});
  const { id, committed } = artifacts.put(session, requestId, tool, [{ field, text: value[0] ?? '' }], 0);
  await committed;
  return id;
}
