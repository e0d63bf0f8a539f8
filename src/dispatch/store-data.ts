import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
import type { ArtifactStream } from '../stores/artifacts.ts';
import { dataText } from '../tokens/data/data-text.ts';
import { essentialsOf, type StoredData } from '../tokens/data/fit-data.ts';
import type { ByteRange } from '../tokens/line.ts';
import type { VerifiedCall } from './call.ts';
import type { ScrubbedOutcome } from './scrub.ts';
import { hashOf, keep, type StoreDeps, type StoredOutput } from './store.ts';

export type DataStoreDeps = Pick<StoreDeps, 'artifacts' | 'secondSearch'>;

/** An artifact whose last part is the `data` of an answer. */
export interface KeptData extends StoredOutput {
  data: ArtifactStream;
}

/**
 * Stores the whole `data` of an answer that does not fit: in the artifact of the call's texts, or in its own without
 * texts. Resolves when it is durable. Throws STORAGE_FULL.
 */
export async function storeData(
  call: VerifiedCall,
  data: JsonObject,
  texts: StoredOutput | null,
  deps: DataStoreDeps,
): Promise<KeptData> {
  const taken = new Set(texts?.streams.map(({ field }) => field));
  const field = FIELDS_OF_DATA.find((name) => !taken.has(name)) ?? 'data';
  const stream = { field, text: dataText({ ...essentialsOf(data), ...data }), isData: true } as const;
  if (texts === null) {
    const kept = keep(call, [stream], 0, deps);
    await kept.committed;
    return { ...kept, data: stream };
  }
  const { artifactId, tool } = texts;
  const streams = [...texts.streams, stream];
  await texts.committed;
  await deps.artifacts.grow(call.session, artifactId, streams, texts.droppedBytes);
  call.artifacts.set(artifactId, hashOf(streams));
  deps.secondSearch.stored({ session: call.session, requestId: call.requestId, tool, artifactId });
  return { ...texts, streams, data: stream };
}

/** Possible names of `data` among the texts of an artifact. A call has at most 16 texts. */
const FIELDS_OF_DATA = ['data', ...Array.from({ length: 16 }, (_, index) => `data_${index + 1}`)];

/** True if a view was asked for and the answer has no text besides its `data`. */
export function isDataViewed({ options }: VerifiedCall, { facts, failure, streams }: ScrubbedOutcome): boolean {
  const isAsked = options.isViewAsked && options.view.name !== 'head_tail' && !options.dryRun;
  return isAsked && failure === null && streams.length === 0 && !facts.isViewApplied;
}

/** The `data` that a stored output must show: it is named, or the only part. Null if not, or if masking broke it. */
export function storedData({ streams, field }: StoredOutput): { stream: ArtifactStream; value: JsonObject } | null {
  const stream = streams.at(-1);
  if (stream?.isData !== true || !(field === stream.field || (field === null && streams.length === 1))) return null;
  const value = parseData(stream.text);
  return value === null ? null : { stream, value };
}

/** Null if a later mask broke the JSON. */
function parseData(text: string): JsonObject | null {
  try {
    const value: Json = JSON.parse(text);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** The output without its `data`, unless `data` is asked for. */
export function withoutData(output: StoredOutput, { options: { view } }: VerifiedCall): StoredOutput {
  const { streams, field } = output;
  const data = streams.at(-1);
  const isAsked = streams.length === 1 || field === data?.field || view.stream === data?.field;
  return data?.isData !== true || isAsked ? output : { ...output, streams: streams.slice(0, -1) };
}

/** `data` with its offset in the artifact. */
export function placed({ data, streams }: KeptData): StoredData {
  const before = streams.slice(0, -1).reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  return { field: data.field, text: data.text, offset: before };
}

/** The byte range of `data` in the artifact. */
export function rangeOf({ offset, text }: StoredData): ByteRange {
  return { start: offset, end: offset + Buffer.byteLength(text) };
}
