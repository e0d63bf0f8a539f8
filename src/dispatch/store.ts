import { createHash } from 'node:crypto';
import type { SessionRef } from '../call/session.ts';
import type { KnownSecret, Scrubber, SecretUse } from '../scrub/scrubber.ts';
import type { ArtifactStore, ArtifactStream } from '../stores/artifacts.ts';
import { readStreams } from '../stores/artifacts.ts';
import type { VerifiedCall } from './call.ts';
import type { ScrubbedOutcome, SecondSearch } from './scrub.ts';

export interface StoreDeps extends OpenArtifactDeps {
  secondSearch: SecondSearch;
}

/** The stored texts from which an answer is made. */
export interface StoredOutput {
  artifactId: string;
  /** How often the artifact's text was replaced. Cursors carry it. */
  revision: number;
  streams: readonly ArtifactStream[];
  /** Bytes that were never stored. */
  droppedBytes: number;
  /** The tool that produced it. */
  tool: string;
  /** The requested text, or null for all. */
  field: string | null;
  /** True if an earlier call stored it. */
  isEarlier: boolean;
  /** Resolves when the artifact is durable, and the answer must wait for it. Rejects with STORAGE_FULL. */
  committed: Promise<void>;
}

/**
 * Step 7: stores the complete scrubbed text, or opens the artifact that the call asks to see. The commit continues
 * while the answer is cut. Returns null if there is no text.
 */
export async function store(
  call: VerifiedCall,
  outcome: ScrubbedOutcome,
  deps: StoreDeps,
): Promise<StoredOutput | null> {
  if (outcome.facts.shows !== null && outcome.failure === null)
    return openArtifact(call.session, outcome.facts.shows, deps);
  const { streams } = outcome;
  const { droppedBytes } = outcome.facts;
  if (streams.every((stream) => stream.text === '')) return null;
  return keep(call, streams, droppedBytes, deps);
}

/** Stores texts as the call's output. */
export function keep(
  call: VerifiedCall,
  streams: readonly ArtifactStream[],
  droppedBytes: number,
  deps: Pick<StoreDeps, 'artifacts' | 'secondSearch'>,
): StoredOutput {
  const { session, requestId } = call;
  const tool = call.tool.manifest.name;
  // The same words in another directory are a different command.
  const command = JSON.stringify([call.request.cwd, sorted(call.input)]);
  const { id, committed } = deps.artifacts.put(session, requestId, tool, streams, droppedBytes, command);
  call.artifacts.set(id, hashOf(streams));
  committed.then(
    () => deps.secondSearch.stored({ session, requestId, tool, artifactId: id }),
    () => {},
  );
  return { artifactId: id, revision: 0, streams, droppedBytes, tool, field: null, isEarlier: false, committed };
}

/** Stores view texts that do not fit an answer, so that a cursor can point into them. */
export async function storeDerived(
  call: VerifiedCall,
  output: StoredOutput,
  streams: readonly ArtifactStream[],
  { artifacts }: { artifacts: ArtifactStore },
): Promise<StoredOutput> {
  const { id, committed } = artifacts.put(call.session, call.requestId, output.tool, streams, 0);
  call.artifacts.set(id, hashOf(streams));
  await committed;
  return { ...output, artifactId: id, revision: 0, streams };
}

/** SHA-256 of the artifact's bytes, hex. */
export function hashOf(streams: readonly ArtifactStream[]): string {
  const hash = createHash('sha256');
  for (const { text } of streams) hash.update(text);
  return hash.digest('hex');
}

/** Sorts the keys, so that a caller's key order does not matter. */
function sorted(input: VerifiedCall['input']): VerifiedCall['input'] {
  return Object.fromEntries(Object.entries(input).sort(([a], [b]) => (a < b ? -1 : 1)));
}

export interface OpenArtifactDeps {
  artifacts: ArtifactStore;
  scrubber: Scrubber;
}

/**
 * Opens a stored output by its ref, `art_…` or `art_…/<field>`. Secrets found since it was stored are masked first, in
 * the artifact too. Throws NOT_FOUND, EXPIRED or SCRUB_FAILED.
 */
async function openArtifact(session: SessionRef, ref: string, deps: OpenArtifactDeps): Promise<StoredOutput> {
  const [id = '', field = null] = ref.split('/');
  await maskAgain(session, id, deps);
  const [info, streams] = await Promise.all([
    deps.artifacts.info(session, id),
    readStreams(deps.artifacts, session, id),
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

/** Masks secrets found since the artifact was stored. Returns true if there were any. */
export function maskAgain(
  session: SessionRef,
  artifactId: string,
  { artifacts, scrubber }: OpenArtifactDeps,
): Promise<boolean> {
  return artifacts.exclusively(artifactId, async () => {
    const streams = await readStreams(artifacts, session, artifactId);
    const { masked, secrets } = await maskStreams(session, streams, [], scrubber);
    if (secrets.length === 0) return false;
    await artifacts.replace(session, artifactId, masked);
    return true;
  });
}

/** Masks secrets that are still in stored texts. The line that marks a gap stays. */
export async function maskStreams(
  session: SessionRef,
  streams: readonly ArtifactStream[],
  missed: readonly KnownSecret[],
  scrubber: Scrubber,
): Promise<{ masked: ArtifactStream[]; secrets: readonly SecretUse[] }> {
  const texts = streams.map(({ text }) => text);
  const gaps = new Map(streams.flatMap(({ gap }, position) => (gap === undefined ? [] : [[position, gap] as const])));
  const { value, secrets, ownLines } = await scrubber.scrubAgain(session, texts, missed, { ownLines: gaps });
  const masked = streams.map(({ gap, ...stream }, position) => ({
    ...stream,
    text: value[position] ?? '',
    ...(gap === undefined ? {} : { gap: { ...gap, ...ownLines.get(position) } }),
  }));
  return { masked, secrets };
}
