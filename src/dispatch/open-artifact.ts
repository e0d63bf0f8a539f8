import type { Scrubber } from '../scrub/scrubber.ts';
import { type ArtifactStore, readStreams } from '../stores/artifacts.ts';
import type { StoredOutput } from './store.ts';

export interface OpenArtifactDeps {
  artifacts: ArtifactStore;
  scrubber: Scrubber;
}

/**
 * The whole of a stored output, `art_…` or `art_…/<text>`, for another look at it. Secrets that became known since it
 * was stored are masked first, in the artifact too. Errors: NOT_FOUND, EXPIRED, SCRUB_FAILED.
 */
export async function openArtifact(sessionKey: string, ref: string, deps: OpenArtifactDeps): Promise<StoredOutput> {
  const [id = '', field = null] = ref.split('/');
  await maskAgain(sessionKey, id, deps);
  const [info, streams] = await Promise.all([
    deps.artifacts.info(sessionKey, id),
    readStreams(deps.artifacts, sessionKey, id),
  ]);
  const { tool, droppedBytes, revision } = info;
  return {
    artifactId: id,
    revision,
    streams,
    droppedBytes,
    tool,
    field,
    isEarlier: true,
    committed: Promise.resolve(),
  };
}

/** True when more of it had to be masked. */
export async function maskAgain(
  sessionKey: string,
  artifactId: string,
  { artifacts, scrubber }: OpenArtifactDeps,
): Promise<boolean> {
  const streams = await readStreams(artifacts, sessionKey, artifactId);
  const texts = streams.map(({ text }) => text);
  const { value, secrets } = await scrubber.scrubAgain(sessionKey, texts, []);
  if (secrets.length === 0) return false;
  const masked = streams.map(({ field }, position) => ({ field, text: value[position] ?? '' }));
  await artifacts.replace(sessionKey, artifactId, masked);
  return true;
}
