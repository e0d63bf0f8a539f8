import type { Span } from '../../src/sdk/file-bytes.ts';
import { explainHidden } from '../../src/sdk/hidden-path.ts';
import { invalid, readOptionalString, readString, readText } from '../../src/sdk/input.ts';
import { type Charset, readCharset, UTF8 } from '../../src/sdk/text-encoding.ts';
import { ContextdError, type JsonObject, type Tool, type ToolContext, type ToolOutput } from '../../src/sdk/tool.ts';
import { findTarget, quoteName, refuseProtected, resolvePath } from '../../src/sdk/workspace-path.ts';
import { applyPatch } from './apply-patch.ts';
import { applyEdits, readEdits } from './edits.ts';
import { EDITABLE_MAX_BYTES, readEditable } from './existing-file.ts';
import { lineRanges } from './lines.ts';
import { type Patch, parsePatch } from './parse-patch.ts';
import { replaceFile, WRITE_MODES, type WriteMode } from './replace-file.ts';
import { encode, encodingFact, styleContent } from './text-style.ts';

const WAYS = ['content', 'edits', 'patch'] as const;
type Way = (typeof WAYS)[number];

/** FR-4.3: writes a file of the workspace completely or not at all. */
export function createSafeWrite(): Tool {
  const locks = new PathLocks();
  return {
    name: 'safe_write',
    async execute(context, input) {
      const way = readWay(input);
      const path = resolvePath(context, readString(input, 'path'));
      try {
        const target = await findTarget(context.workspace, path);
        refuseProtected(context.workspace, target, context.protectedPaths);
        return await locks.hold(target, () => {
          context.signal.throwIfAborted();
          const file = { target, shown: path.shown };
          return way === 'content' ? writeContent(file, context, input) : changeFile(file, way, context, input);
        });
      } catch (thrown) {
        throw await explainHidden(thrown, context.workspace, path.absolute);
      }
    },
  };
}

/** Finds out which of the three was given. Throws ARGS_INVALID for none or two, and for `mode` without `content`. */
function readWay(input: JsonObject): Way {
  const [way, second] = WAYS.filter((name) => input[name] !== undefined);
  if (way === undefined) throw invalid('content', 'is missing', `Pass one of ${WAYS.join(', ')}.`);
  if (second !== undefined) throw invalid(second, `cannot go with ${way}`, `Pass one of ${WAYS.join(', ')}.`);
  if (way !== 'content' && input.mode !== undefined) throw invalid('mode', `cannot go with ${way}`, 'Leave it out.');
  return way;
}

async function writeContent(
  { target, shown }: { target: string; shown: string },
  { etagKey, signal }: ToolContext,
  input: JsonObject,
): Promise<ToolOutput> {
  const [content, mode, charset] = [readText(input, 'content'), readMode(input), readCharset(input, 'encoding')];
  const styled = await styleContent({ target, shown, content, mode, charset, signal });
  const { etag, bytes, created } = await replaceFile({
    target,
    shown,
    content: styled.bytes,
    mode,
    expectedEtag: readOptionalString(input, 'expected_etag') ?? null,
    etagKey,
    signal,
  });
  return { data: { path: shown, etag, bytes, ...(created ? { created } : {}), ...styled.facts } };
}

function readMode(input: JsonObject): WriteMode {
  const value = readOptionalString(input, 'mode') ?? 'overwrite';
  const mode = WRITE_MODES.find((known) => known === value);
  if (mode !== undefined) return mode;
  throw invalid('mode', `must be one of ${WRITE_MODES.join(', ')}`);
}

/** The most hunk offsets in an answer. */
const OFFSETS_MAX = 20;

interface TargetFile {
  /** Absolute, links followed. */
  target: string;
  /** The name of the file in messages. */
  shown: string;
}

interface Change {
  content: Buffer;
  changed: readonly Span[];
  facts: JsonObject;
}

type MakeChange = (before: Buffer | null) => Promise<Change | { misfit: ToolOutput }>;

/** Applies all edits or hunks to a file, or none, and only if nobody else wrote the file in the meantime. */
async function changeFile(
  file: TargetFile,
  way: 'edits' | 'patch',
  context: ToolContext,
  input: JsonObject,
): Promise<ToolOutput> {
  const expectedEtag = readOptionalString(input, 'expected_etag') ?? null;
  const change = way === 'edits' ? byEdits(file, context, input) : byPatch(file, context, input);
  const asked = { expectedEtag, charset: readCharset(input, 'encoding'), way };
  return rewrite(file, asked, context, change);
}

function byEdits({ shown }: TargetFile, { signal }: ToolContext, input: JsonObject): MakeChange {
  const edits = readEdits(input);
  return async (before) => {
    if (before === null) throw notThere(shown);
    const { content, replacements, changed, toCrlf } = await applyEdits(before, edits, { shown, signal });
    return { content, changed, facts: { replacements, ...newlineFact(toCrlf) } };
  };
}

function byPatch({ shown }: TargetFile, { signal }: ToolContext, input: JsonObject): MakeChange {
  const patch = parsePatch(readText(input, 'patch'));
  return async (before) => {
    if (before === null && !isForNoFile(patch)) throw notThere(shown);
    if (before !== null && patch.creates) throw isThere(shown);
    const patched = await applyPatch(before ?? Buffer.alloc(0), patch, { shown, signal });
    if ('misfit' in patched) return patched;
    const { content, changed, offsets, toCrlf } = patched;
    if (content.length > EDITABLE_MAX_BYTES)
      throw invalid(
        'patch',
        `would make ${quoteName(shown)} ${content.length} bytes long, the limit is ${EDITABLE_MAX_BYTES}`,
      );
    const moved = offsets.length === 0 ? {} : { offsets: offsets.slice(0, OFFSETS_MAX).map((each) => ({ ...each })) };
    return { content, changed, facts: { hunks: patch.hunks.length, ...moved, ...newlineFact(toCrlf) } };
  };
}

async function rewrite(
  { target, shown }: TargetFile,
  { expectedEtag, charset: given, way }: { expectedEtag: string | null; charset: Charset | null; way: Way },
  { etagKey, signal }: ToolContext,
  makeChange: MakeChange,
): Promise<ToolOutput> {
  const editable = await readEditable({ target, shown, expectedEtag, etagKey, charset: given, signal });
  const charset = editable?.charset ?? given ?? UTF8;
  const change = await makeChange(editable?.bytes ?? null);
  if ('misfit' in change) return change.misfit;
  const { content, changed, facts } = change;
  const { etag, bytes, created } = await replaceFile({
    target,
    shown,
    content: charset.name === 'utf-8' ? content : encode(content.toString(), { charset, shown, name: way }),
    mode: editable === null ? 'create' : 'overwrite',
    madeFrom: editable?.existing ?? null,
    // Already compared with the bytes read; `madeFrom` makes sure that these are still there.
    expectedEtag: null,
    etagKey,
    signal,
  });
  const ranges = lineRanges(content, changed);
  return {
    data: {
      path: shown,
      etag,
      bytes,
      ...(created ? { created } : {}),
      ...encodingFact(charset),
      ...facts,
      changed: ranges,
    },
  };
}

/** True for a patch that only adds lines at the start. */
function isForNoFile({ hunks }: Patch): boolean {
  const [first, second] = hunks;
  return second === undefined && first?.old.start === 0 && first.old.lines.length === 0;
}

function newlineFact(toCrlf: boolean): JsonObject {
  return toCrlf ? { newline: 'crlf' } : {};
}

function notThere(shown: string): ContextdError {
  return new ContextdError('PATH_NOT_FOUND', `there is no ${quoteName(shown)} to change`, {
    remedy: 'A relative path starts where the call is made. Create a new file with "content".',
    details: { path: shown },
  });
}

function isThere(shown: string): ContextdError {
  return new ContextdError('CONFLICT', `the patch creates ${quoteName(shown)}, which exists already`, {
    remedy: 'Read the file and make a patch for its content.',
    details: { path: shown },
  });
}

/** Admits one writer at a time for each path, in order, so that nobody writes between reading the etag and renaming. */
class PathLocks {
  readonly #last = new Map<string, Promise<unknown>>();

  async hold<T>(path: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(path) ?? Promise.resolve();
    const mine = before.then(work, work);
    this.#last.set(path, mine);
    try {
      return await mine;
    } finally {
      if (this.#last.get(path) === mine) this.#last.delete(path);
    }
  }
}
