import { invalid, readOptionalString, readString } from '../../src/sdk/input.ts';
import { refuseProtected } from '../../src/sdk/protected-path.ts';
import type { JsonObject, Tool, ToolContext, ToolOutput } from '../../src/sdk/tool.ts';
import { findTarget, resolvePath } from '../../src/sdk/workspace-path.ts';
import { changeFile } from './change-file.ts';
import { PathLocks } from './path-locks.ts';
import { replaceFile, WRITE_MODES, type WriteMode } from './replace-file.ts';

const WAYS = ['content', 'edits', 'patch'] as const;
type Way = (typeof WAYS)[number];

/** FR-4.3: writes a file of the workspace as a whole, or not at all. */
export function createSafeWrite(): Tool {
  const locks = new PathLocks();
  return {
    name: 'safe_write',
    async execute(context, input) {
      const way = readWay(input);
      const path = resolvePath(context.workspace, readString(input, 'path'));
      const target = await findTarget(context.workspace, path);
      refuseProtected(context.workspace, target, context.protectedPaths);
      return locks.hold(target, () => {
        context.signal.throwIfAborted();
        const file = { target, shown: path.shown };
        return way === 'content' ? writeContent(file, context, input) : changeFile(file, way, context, input);
      });
    },
  };
}

/** Which one of the three was given; ARGS_INVALID for none or two, and for `mode` without `content`. */
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
  const { etag, bytes, created } = await replaceFile({
    target,
    shown,
    content: Buffer.from(readString(input, 'content')),
    mode: readMode(input),
    expectedEtag: readOptionalString(input, 'expected_etag') ?? null,
    etagKey,
    signal,
  });
  return { data: { path: shown, etag, bytes, ...(created ? { created } : {}) } };
}

function readMode(input: JsonObject): WriteMode {
  const value = readOptionalString(input, 'mode') ?? 'overwrite';
  const mode = WRITE_MODES.find((known) => known === value);
  if (mode !== undefined) return mode;
  throw invalid('mode', `must be one of ${WRITE_MODES.join(', ')}`);
}
