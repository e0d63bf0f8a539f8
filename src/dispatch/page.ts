import type { SessionRef } from '../call/session.ts';
import { ContextdError } from '../core/errors.ts';
import type { ArtifactPart } from '../stores/artifacts.ts';
import { type Continuations, cursorOfNumber, isContinuationNumber } from '../stores/continuations.ts';
import { type Cursors, REVISIONS } from '../stores/cursors.ts';
import { placeIn, type StoredData } from '../tokens/data/fit-data.ts';
import type { ByteRange } from '../tokens/line.ts';
import { type PageSegment, planPage } from '../tokens/page.ts';
import type { VerifiedCall } from './call.ts';
import { maskAgain, type OpenArtifactDeps } from './store.ts';

export interface PageDeps extends OpenArtifactDeps {
  cursors: Cursors;
  continuations: Continuations;
}

/** Bytes read around a page, so that a secret across its edge is seen whole. */
const MARGIN_BYTES = 8 * 1024;
/** Maximum bytes shown of one range on a JSON page, per token of the budget. */
const SHOWN_BYTES_PER_TOKEN = 64;

/** The next part of an artifact, read and ready to be cut. */
export interface Page {
  artifactId: string;
  /** Revision of the artifact's text, for the next cursor. */
  revision: number;
  ranges: readonly ByteRange[];
  segments: readonly PageSegment[];
  /** The `data` in which the ranges begin, if its pages are JSON; null for a page of text. */
  data: StoredData | null;
  /** True if the next page's cursor leads to JSON. */
  isJson: boolean;
}

/**
 * Reads the next slice of an earlier call's output; nothing runs again. The text was scrubbed before it was stored, so
 * only newer secrets are searched for. If one is found, the artifact is masked again and the call fails with EXPIRED.
 */
export async function openPage(call: VerifiedCall, continuation: string, deps: PageDeps): Promise<Page> {
  const { artifactId, ranges, revision, info, isJson } = await openCursor(call, continuation, deps);
  if (info.revision % REVISIONS !== revision) throw replaced(artifactId);
  const data = isJson ? await openData(call.session, artifactId, info.parts, deps) : null;
  const isInData = data !== null && (ranges[0]?.start ?? 0) >= data.offset;
  // A page of text ends before `data` that is shown as JSON.
  const texts = data === null || isInData ? info.parts : info.parts.filter(({ isData }) => isData !== true);
  const reads = planPage(texts, ranges, call.options.maxTokens);
  const segments = await Promise.all(
    reads.map(async (read) => ({
      ...read,
      bytes: await deps.artifacts.read(call.session, artifactId, read.start, read.end),
    })),
  );
  const maxBytes = call.options.maxTokens * SHOWN_BYTES_PER_TOKEN;
  const shown = isInData ? ranges.map(({ start, end }) => ({ start, end: Math.min(end, start + maxBytes) })) : reads;
  const path = isInData ? (placeIn(data, ranges) ?? '') : '';
  for (const { start, end } of shown) {
    const around = await deps.artifacts.read(
      call.session,
      artifactId,
      Math.max(0, start - MARGIN_BYTES),
      end + MARGIN_BYTES,
    );
    const { secrets } = await deps.scrubber.scrubAgain(call.session, [around.toString(), path], []);
    if (secrets.length > 0) await maskAgain(call.session, artifactId, deps);
    if (secrets.length > 0) throw replaced(artifactId);
  }
  return { artifactId, revision, ranges, segments, data: isInData ? data : null, isJson };
}

/** An artifact's `data`, which is its last part; null if it has none. */
async function openData(
  session: SessionRef,
  artifactId: string,
  parts: readonly ArtifactPart[],
  { artifacts }: PageDeps,
): Promise<StoredData | null> {
  const end = parts.reduce((sum, { bytes }) => sum + bytes, 0);
  const part = parts.at(-1);
  if (part?.isData !== true) return null;
  const offset = end - part.bytes;
  return { field: part.field, text: (await artifacts.read(session, artifactId, offset, end)).toString(), offset };
}

/** Opens the artifact of a continuation. Throws CURSOR_INVALID or EXPIRED. */
export async function openCursor(call: VerifiedCall, continuation: string, deps: PageDeps) {
  const cursor = isContinuationNumber(continuation)
    ? await cursorOfNumber(call.session, continuation, deps.continuations)
    : continuation;
  const { artifactId, ranges, revision = 0, isJson = false } = deps.cursors.open(call.session, cursor);
  const info = await deps.artifacts.info(call.session, artifactId);
  const { name, effects } = call.tool.manifest;
  if (info.tool === name || effects.session === 'view' || effects.session === 'execute')
    return { artifactId, ranges, revision, info, isJson };
  throw new ContextdError('CURSOR_INVALID', `the cursor belongs to ${info.tool}, not to ${call.tool.manifest.name}`, {
    remedy: `Pass it to ${info.tool}.`,
  });
}

function replaced(artifactId: string): ContextdError {
  return new ContextdError(
    'EXPIRED',
    `a secret was found in ${artifactId} after the cursor was made, and more of the text is masked now`,
    {
      remedy: 'Run the command again to get a new cursor.',
      details: { artifact: artifactId },
    },
  );
}
