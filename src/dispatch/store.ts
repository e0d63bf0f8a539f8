import type { ArtifactStore } from '../stores/artifacts.ts';
import type { VerifiedCall } from './call.ts';
import type { ScrubbedOutcome } from './scrub.ts';
import type { SecondSearch } from './second-search.ts';

export interface StoreDeps {
  artifacts: ArtifactStore;
  secondSearch: SecondSearch;
}

/** Step 7: the complete scrubbed text, kept before anything is cut. Null when there is no text to keep. */
export async function store(
  call: VerifiedCall,
  outcome: ScrubbedOutcome,
  { artifacts, secondSearch }: StoreDeps,
): Promise<string | null> {
  if (outcome.streams.every((stream) => stream.text === '')) return null;
  const { sessionKey, requestId } = call;
  const tool = call.tool.manifest.name;
  const artifactId = await artifacts.put(sessionKey, requestId, tool, outcome.streams, outcome.droppedBytes);
  secondSearch.stored({ sessionKey, requestId, tool, artifactId });
  return artifactId;
}
