import { invalid, readOptionalString, readString } from '../../src/sdk/input.ts';
import { refuseProtected } from '../../src/sdk/protected-path.ts';
import type { JsonObject, Tool, ToolContext, ToolOutput } from '../../src/sdk/tool.ts';
import { findTarget, resolvePath } from '../../src/sdk/workspace-path.ts';
import { PathLocks } from './path-locks.ts';
import { replaceFile, WRITE_MODES, type WriteMode } from './replace-file.ts';

/** FR-4.3: writes a file of the workspace as a whole, or not at all. */
export function createSafeWrite(): Tool {
  const locks = new PathLocks();
  return {
    name: 'safe_write',
    async execute(context, input) {
      const path = resolvePath(context.workspace, readString(input, 'path'));
      const target = await findTarget(context.workspace, path);
      refuseProtected(context.workspace, target, context.protectedPaths);
      return locks.hold(target, () => write(target, path.shown, context, input));
    },
  };
}

async function write(
  target: string,
  shown: string,
  { etagKey, signal }: ToolContext,
  input: JsonObject,
): Promise<ToolOutput> {
  signal.throwIfAborted();
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
