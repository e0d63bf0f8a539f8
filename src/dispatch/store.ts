import type { ArtifactStore } from '../stores/artifacts.ts';
import type { VerifiedCall } from './call.ts';
import type { ScrubbedOutcome } from './scrub.ts';

/** Step 7: the complete scrubbed text, kept before anything is cut. Null when there is no text to keep. */
export async function store(
  call: VerifiedCall,
  outcome: ScrubbedOutcome,
  artifacts: ArtifactStore,
): Promise<string | null> {
  if (outcome.streams.every((stream) => stream.text === '')) return null;
  return artifacts.put(call.sessionKey, call.requestId, call.tool.manifest.name, outcome.streams, outcome.droppedBytes);
}
