import type { SessionRef } from '../../call/session.ts';
import type { Catalog } from '../../catalog/catalog.ts';
import type { Config } from '../../config/schema.ts';
import { type EnvelopeMeta, FIDELITY_VERSION, type WarningDetail, warningDetail } from '../../core/envelope.ts';
import { ContextdError } from '../../core/errors.ts';
import { type ArtifactStore, type ArtifactStream, readStreams } from '../../stores/artifacts.ts';
import { DENSIFY_STEPS, type DensifyStep } from '../../tokens/densify/densify.ts';
import type { CutStream } from '../../tokens/shown-stream.ts';
import { DEFAULT_VIEW } from '../../tokens/views/read-view.ts';
import type { ViewedOutput, ViewRequest } from '../../tokens/views/render-view.ts';
import type { View } from '../../tokens/views/view.ts';
import type { VerifiedCall } from '../call.ts';
import type { ScrubbedOutcome, ScrubDeps } from '../scrub.ts';
import type { StoredOutput } from '../store.ts';
import { maskAgain } from '../store.ts';
import type { ViewMaker } from './run-view.ts';

export interface ViewDeps {
  views: ViewMaker;
  artifacts: ArtifactStore;
  scrubber: ScrubDeps['scrubber'];
  catalog: Catalog;
  config: Pick<Config, 'densify'>;
}

/** An output in the requested view, before cutting. */
export interface ShownOutput {
  streams: readonly CutStream[];
  /** The shown texts if the view computed them; null if they are parts of the stored output. */
  derived: readonly ArtifactStream[] | null;
  meta: Partial<EnvelopeMeta>;
}

/** Maximum milliseconds for a view; the call's own timeout may be shorter. */
const VIEW_MAX_MS = 20_000;
/** Characters per token of JSON inside JSON, measured. */
const DIGEST_CHARS_PER_TOKEN = 2.6;
const DIGEST_ENVELOPE_TOKENS = 220;
const DIGEST_MIN_CHARS = 400;

/**
 * Applies the view to the stored output. If the view of a command that just ran fails, falls back to the default view
 * with a warning, so that the result is not lost. For an earlier output it throws VIEW_FAILED. `digestScale` is the
 * fraction of the budget for a digest, 0 to 1.
 */
export async function viewOutput(
  call: VerifiedCall,
  outcome: ScrubbedOutcome,
  output: StoredOutput,
  deps: ViewDeps,
  digestScale = 1,
): Promise<ShownOutput> {
  try {
    const view = { ...call.options.view, digestScale };
    return await applyView(view, call, outcome, output, deps);
  } catch (thrown) {
    const fault = ContextdError.from(thrown);
    if (output.isEarlier || fault.code !== 'VIEW_FAILED') throw thrown;
    const shown = await applyView({ ...DEFAULT_VIEW, digestScale }, call, outcome, output, deps);
    return { ...shown, meta: { ...shown.meta, warning_details: [fallbackWarning(thrown)] } };
  }
}

/** The warning that the default view replaces one that cannot be made. Rethrows any other error. */
export function fallbackWarning(thrown: unknown): WarningDetail {
  const fault = ContextdError.from(thrown);
  if (fault.code !== 'VIEW_FAILED') throw thrown;
  return warningDetail('FALLBACK_USED', `${fault.message}; the default view is shown`);
}

async function applyView(
  { digestScale, ...asked }: View & { digestScale: number },
  call: VerifiedCall,
  outcome: ScrubbedOutcome,
  output: StoredOutput,
  deps: ViewDeps,
): Promise<ShownOutput> {
  if (outcome.facts.isViewApplied && !output.isEarlier) return showApplied(asked, output);
  const view = { ...asked, stream: asked.stream ?? output.field };
  const failed = isFailed(outcome);
  const request: ViewRequest = {
    view,
    streams: output.streams,
    failed,
    earlier: view.name === 'diff' ? await earlierOutput(view.against, call.session, output, deps) : null,
    digestChars: digestChars(call.options.maxTokens, digestScale),
  };
  const limits = { timeoutMs: Math.min(VIEW_MAX_MS, call.options.timeoutMs), signal: call.request.signal };
  const viewed = await deps.views.make(request, limits);
  const steps = view.densify ? stepsFor(output.tool, deps) : [];
  const keepErrors = failed && view.name === 'head_tail';
  return {
    ...placeStreams(viewed, output, { steps, keepErrors }),
    meta: metaOf(view, viewed, output),
  };
}

/** The texts of a tool that applied the view itself. */
function showApplied({ name }: View, output: StoredOutput): ShownOutput {
  const cut = name === 'tail' ? 'tail' : 'head';
  const streams = output.streams.map(({ field, text }) => ({ field, text, start: 0, cut, mayDensify: false }) as const);
  return { ...placeStreams({ streams, leftOut: [], facts: null }, output, NOT_DENSIFIED), meta: { view: { name } } };
}

const NOT_DENSIFIED = { steps: [], keepErrors: false };

/** True if the tool failed, or the command did not exit by itself with 0. */
function isFailed({ failure, data }: ScrubbedOutcome): boolean {
  return (
    failure !== null || data.ended_by !== undefined || (typeof data.exit_code === 'number' && data.exit_code !== 0)
  );
}

/** Gives each text its offset in the artifact, for cursors. */
function placeStreams(
  { streams }: ViewedOutput,
  output: StoredOutput,
  how: { steps: readonly DensifyStep[]; keepErrors: boolean },
): Omit<ShownOutput, 'meta'> {
  const isDerived = streams.some(({ start }) => start === null);
  const kept = isDerived ? streams : output.streams;
  const offsets = offsetsOf(kept);
  return {
    derived: isDerived ? streams.map(({ field, text }) => ({ field, text })) : null,
    streams: streams.map(({ field, text, start, cut, mayDensify }) => ({
      field,
      text,
      offset: (offsets.get(field) ?? 0) + (isDerived ? 0 : bytesBefore(output, field, start ?? 0)),
      cut,
      densify: mayDensify ? how.steps : [],
      keepErrors: how.keepErrors,
    })),
  };
}

function offsetsOf(streams: readonly ArtifactStream[]): Map<string, number> {
  let at = 0;
  return new Map(
    streams.map(({ field, text }) => {
      at += Buffer.byteLength(text);
      return [field, at - Buffer.byteLength(text)];
    }),
  );
}

function bytesBefore({ streams }: StoredOutput, field: string, start: number): number {
  if (start === 0) return 0;
  const text = streams.find((stream) => stream.field === field)?.text ?? '';
  return Buffer.byteLength(text.slice(0, start));
}

function metaOf(view: View, { leftOut, facts, streams }: ViewedOutput, output: StoredOutput): Partial<EnvelopeMeta> {
  const shownUnits = streams.reduce((sum, { text, start }) => sum + (start === null ? 0 : text.length), 0);
  const units = output.streams.reduce((sum, { text }) => sum + text.length, 0);
  const isPart = leftOut.length > 0 || shownUnits < units;
  return {
    ...(facts === null ? {} : { view: facts }),
    ...(isPart
      ? {
          content_fidelity: view.name === 'digest' ? ('summary' as const) : ('partial' as const),
          content_fidelity_schema_version: FIDELITY_VERSION,
        }
      : {}),
    ...(leftOut.length === 0 ? {} : { dropped_content_ids: leftOut.map((field) => `${output.artifactId}/${field}`) }),
  };
}

/** No steps for a tool whose output must stay exact. */
function stepsFor(tool: string, { catalog, config }: ViewDeps): DensifyStep[] {
  if (catalog.versions(tool).some(({ manifest }) => manifest.isExact)) return [];
  return DENSIFY_STEPS.filter((step) => config.densify[step]);
}

/** The text to compare with in a diff, after masking secrets found since it was stored. */
async function earlierOutput(
  against: string | null,
  session: SessionRef,
  output: StoredOutput,
  deps: ViewDeps,
): Promise<ArtifactStream[] | null> {
  if (against === null) await output.committed;
  const id = against ?? (await deps.artifacts.previous(session, output.artifactId));
  if (id === null) return null;
  await maskAgain(session, id, deps);
  return readStreams(deps.artifacts, session, id);
}

function digestChars(maxTokens: number, scale: number): number {
  const chars = (maxTokens - DIGEST_ENVELOPE_TOKENS) * DIGEST_CHARS_PER_TOKEN * scale;
  return Math.max(DIGEST_MIN_CHARS, Math.floor(chars));
}
