import { ContextdError } from '../core/errors.ts';
import type { Continuations } from '../stores/continuations.ts';
import { type Cursors, REVISIONS } from '../stores/cursors.ts';
import type { ByteRange } from '../tokens/line.ts';
import { type PageSegment, planPage } from '../tokens/page.ts';
import type { VerifiedCall } from './call.ts';
import { maskAgain, type OpenArtifactDeps } from './store.ts';

export interface PageDeps extends OpenArtifactDeps {
  cursors: Cursors;
  continuations: Continuations;
}

/** A number of a text answer; a cursor is longer. */
const NUMBER = /^[1-9]\d{0,8}$/;

/** The cursor that a continuation stands for. Throws CURSOR_INVALID for a number that this session has not. */
async function cursorOf(call: VerifiedCall, continuation: string, continuations: Continuations): Promise<string> {
  if (!NUMBER.test(continuation)) return continuation;
  const cursor = await continuations.find(call.session, Number(continuation));
  if (cursor !== null) return cursor;
  throw new ContextdError('CURSOR_INVALID', `this session has no continuation ${continuation}`, {
    remedy: 'Pass the number of an answer of this session, or run the command again.',
  });
}

/** The one tool that may continue the output of any other tool. */
const VIEW_TOOL = 'tool_view';
/** Bytes read around a page, so that a secret across its edge is seen whole. */
const MARGIN_BYTES = 8 * 1024;

/** The next part of an artifact, read and ready to be cut. */
export interface Page {
  artifactId: string;
  /** The revision of the artifact's text, for the next cursor. */
  revision: number;
  ranges: readonly ByteRange[];
  segments: readonly PageSegment[];
}

/**
 * Reads the next slice of an earlier call's output; nothing runs again. The text was scrubbed before it was stored, so
 * only secrets that became known since are searched for. If one is found, the artifact is masked again and the call
 * fails with EXPIRED.
 */
export async function openPage(call: VerifiedCall, continuation: string, deps: PageDeps): Promise<Page> {
  const { artifactId, ranges, revision, info } = await openCursor(call, continuation, deps);
  if (info.revision % REVISIONS !== revision) throw replaced(artifactId);
  const reads = planPage(info.parts, ranges, call.options.maxTokens);
  const segments = await Promise.all(
    reads.map(async (read) => ({
      ...read,
      bytes: await deps.artifacts.read(call.session, artifactId, read.start, read.end),
    })),
  );
  for (const { start, end } of reads) {
    const around = await deps.artifacts.read(
      call.session,
      artifactId,
      Math.max(0, start - MARGIN_BYTES),
      end + MARGIN_BYTES,
    );
    const { secrets } = await deps.scrubber.scrubAgain(call.session, [around.toString()], []);
    if (secrets.length > 0) await maskAgain(call.session, artifactId, deps);
    if (secrets.length > 0) throw replaced(artifactId);
  }
  return { artifactId, revision, ranges, segments };
}

/** Opens the artifact that a cursor points into. Throws CURSOR_INVALID or EXPIRED. */
export async function openCursor(call: VerifiedCall, continuation: string, deps: PageDeps) {
  const cursor = await cursorOf(call, continuation, deps.continuations);
  const { artifactId, ranges, revision = 0 } = deps.cursors.open(call.session, cursor);
  const info = await deps.artifacts.info(call.session, artifactId);
  if (info.tool === call.tool.manifest.name || call.tool.manifest.name === VIEW_TOOL)
    return { artifactId, ranges, revision, info };
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
