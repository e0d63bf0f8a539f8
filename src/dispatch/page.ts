import { ContextdError } from '../core/errors.ts';
import { type Cursors, REVISIONS } from '../stores/cursors.ts';
import type { ByteRange } from '../tokens/line.ts';
import { type PageSegment, planPage } from '../tokens/page.ts';
import type { VerifiedCall } from './call.ts';
import { maskAgain, type OpenArtifactDeps } from './store.ts';

export interface PageDeps extends OpenArtifactDeps {
  cursors: Cursors;
}

/** Reads on in what any tool has left. */
const VIEW_TOOL = 'tool_view';
/** A secret that the edge of a page cuts is looked for whole. */
const MARGIN_BYTES = 8 * 1024;

/** What a continuation leads to, read and ready to be cut. */
export interface Page {
  artifactId: string;
  /** Of the artifact's text, for the cursor of the page after it. */
  revision: number;
  ranges: readonly ByteRange[];
  segments: readonly PageSegment[];
}

/**
 * The next slice of what an earlier call left: scrubbed before it was stored, so nothing runs again. Only secrets that
 * became known since are looked for: where there is one, the artifact is masked again and the cursor is EXPIRED.
 */
export async function openPage(call: VerifiedCall, continuation: string, deps: PageDeps): Promise<Page> {
  const { artifactId, ranges, revision, info } = await openCursor(call, continuation, deps);
  if (info.revision % REVISIONS !== revision) throw replaced(artifactId);
  const reads = planPage(info.parts, ranges, call.options.maxTokens);
  const segments = await Promise.all(
    reads.map(async (read) => ({
      ...read,
      bytes: await deps.artifacts.read(call.sessionKey, artifactId, read.start, read.end),
    })),
  );
  for (const { start, end } of reads) {
    const around = await deps.artifacts.read(
      call.sessionKey,
      artifactId,
      Math.max(0, start - MARGIN_BYTES),
      end + MARGIN_BYTES,
    );
    const { secrets } = await deps.scrubber.scrubAgain(call.sessionKey, [around.toString()], []);
    if (secrets.length > 0) await maskAgain(call.sessionKey, artifactId, deps);
    if (secrets.length > 0) throw replaced(artifactId);
  }
  return { artifactId, revision, ranges, segments };
}

/** The artifact that a cursor leads into, whatever is still to be read of it. Errors: CURSOR_INVALID, EXPIRED. */
export async function openCursor(call: VerifiedCall, continuation: string, deps: PageDeps) {
  const { artifactId, ranges, revision = 0 } = deps.cursors.open(call.sessionKey, continuation);
  const info = await deps.artifacts.info(call.sessionKey, artifactId);
  if (info.tool === call.tool.manifest.name || call.tool.manifest.name === VIEW_TOOL)
    return { artifactId, ranges, revision, info };
  throw new ContextdError('CURSOR_INVALID', `the cursor belongs to ${info.tool}, not to ${call.tool.manifest.name}`, {
    remedy: `Pass it to ${info.tool}.`,
  });
}

function replaced(artifactId: string): ContextdError {
  return new ContextdError('EXPIRED', `a secret was found in ${artifactId} since: more of it is masked now`, {
    remedy: 'Run the command again for an answer with a cursor that fits.',
    details: { artifact: artifactId },
  });
}
