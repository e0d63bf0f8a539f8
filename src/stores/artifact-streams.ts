import type { ArtifactStore, ArtifactStream } from './artifacts.ts';

/** The whole of an artifact, text by text. Errors: NOT_FOUND, EXPIRED. */
export async function readStreams(artifacts: ArtifactStore, sessionKey: string, id: string): Promise<ArtifactStream[]> {
  const { parts, bytes } = await artifacts.info(sessionKey, id);
  const body = await artifacts.read(sessionKey, id, 0, bytes);
  let at = 0;
  return parts.map((part) => {
    const text = body.toString('utf8', at, at + part.bytes);
    at += part.bytes;
    return { field: part.field, text };
  });
}
