import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { invalid, readString, readStringList } from '../../src/sdk/input.ts';
import { readCharset } from '../../src/sdk/text-encoding.ts';
import {
  ContextdError,
  type JsonObject,
  shownText,
  type Tool,
  type ToolContext,
  type ToolOutput,
  type ToolStream,
} from '../../src/sdk/tool.ts';
import { shellWord } from '../../src/sdk/workspace-path.ts';
import { type FileRead, type ReadRequest, readFile } from './read-file.ts';
import type { ReadText } from './read-text.ts';
import { readSelection, selectionOfView } from './selection.ts';

/** FR-4.2: reads files of the workspace, whole or in part. Holds no more in memory than it returns. */
export const safeRead: Tool = {
  name: 'safe_read',
  async execute(context, input) {
    const asked = readSelection(input);
    const several = isForSeveral(input) ? readPaths(input, context.cwd) : null;
    const viewed = asked.kind === 'all' ? selectionOfView(context.view) : null;
    const isApplied = viewed !== null && (await isTooLong(several ?? [readString(input, 'path')], context));
    const request = { selection: isApplied ? viewed : asked, charset: readCharset(input, 'encoding') };
    const output =
      several === null
        ? outputOf(await readOne(readString(input, 'path'), request, context))
        : await readSeveral(several, request, context);
    return isApplied ? { ...output, isViewApplied: true } : output;
  },
};

/** Words are one path. If they are paths of several files, the error says how to read these. */
async function readOne(path: string, request: ReadRequest, context: ToolContext): Promise<FileRead> {
  try {
    return await readFile(path, request, context);
  } catch (thrown) {
    const paths = [...new Set(path.split(/\s+/).filter((word) => word !== ''))];
    const isMissing = thrown instanceof ContextdError && thrown.code === 'PATH_NOT_FOUND';
    if (!isMissing || !/\s/.test(path.trim()) || paths.length > FILES_MAX) throw thrown;
    const found = await Promise.allSettled(paths.map((one) => stat(resolve(context.cwd, one))));
    if (found.some(({ status }) => status === 'rejected')) throw thrown;
    throw new ContextdError(thrown.code, thrown.message, {
      remedy: `Several files are read with paths: safe_read ${shellWord(JSON.stringify({ paths }))}`,
      details: { path },
    });
  }
}

/** True if the files together are too long to be returned whole: then only this tool sees all of them. */
async function isTooLong(
  paths: readonly string[],
  { cwd, outputMaxBytes }: Pick<ToolContext, 'cwd' | 'outputMaxBytes'>,
): Promise<boolean> {
  // A file that cannot be read is reported when it is opened.
  const sizes = paths.map((path) =>
    stat(resolve(cwd, path)).then(
      ({ size }) => size,
      () => 0,
    ),
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0) > outputMaxBytes;
}

function isForSeveral({ path, paths }: JsonObject): boolean {
  if (path !== undefined && paths !== undefined) throw invalid('paths', 'cannot go with path', 'Pass one of them.');
  if (path === undefined && paths === undefined) throw invalid('path', 'is missing', 'Pass "path" or "paths".');
  return paths !== undefined;
}

function outputOf({ facts, text, warnings }: FileRead): ToolOutput {
  return {
    data: facts,
    streams: [streamOf('content', text)],
    ...(text.droppedBytes === 0 ? {} : { droppedBytes: text.droppedBytes }),
    ...(warnings.length === 0 ? {} : { warnings }),
  };
}

function streamOf(field: string, { text, margin, parts, gap }: ReadText): ToolStream {
  if (parts !== undefined) return { field, text, parts };
  return { field, text, margin, ...(gap === null ? {} : { gap }) };
}

/** The most files of one call. Each is a stream of the answer, which has at most 16. */
const FILES_MAX = 12;

/** Throws ARGS_INVALID for no path, for more than twelve, and for a path given twice. */
export function readPaths(input: JsonObject, cwd: string): readonly string[] {
  const paths = readStringList(input, 'paths');
  if (paths.length === 0 || paths.length > FILES_MAX)
    throw invalid('paths', `has ${paths.length} items`, `Name 1 to ${FILES_MAX} files.`);
  const seen = new Set<string>();
  for (const [index, path] of paths.entries()) {
    const absolute = resolve(cwd, path);
    if (seen.has(absolute)) throw invalid(`paths/${index}`, `is ${JSON.stringify(path)} a second time`);
    seen.add(absolute);
  }
  return paths;
}

/**
 * Reads the same part of several files, one stream each. A file that cannot be read has its error in `data.files`; if no
 * file can be read, the call fails with the error of the first. The bytes that are left are shared equally between a file
 * and those after it.
 */
export async function readSeveral(
  paths: readonly string[],
  request: ReadRequest,
  context: ToolContext,
): Promise<ToolOutput> {
  const answer = new SeveralFiles();
  let left = context.outputMaxBytes;
  for (const [index, path] of paths.entries()) {
    const outputMaxBytes = Math.floor(left / (paths.length - index));
    try {
      const read = await readFile(path, request, { ...context, outputMaxBytes });
      // The line that reports a gap is not part of the file.
      left -= Math.min(outputMaxBytes, answer.add(read));
    } catch (thrown) {
      answer.addFault(path, faultOfFile(thrown, context.signal));
    }
  }
  return answer.finish();
}

/** The error of one file. Any other error fails the call. */
function faultOfFile(thrown: unknown, signal: AbortSignal): ContextdError {
  signal.throwIfAborted();
  if (thrown instanceof ContextdError && thrown.code !== 'ARGS_INVALID') return thrown;
  throw thrown;
}

class SeveralFiles {
  readonly #files: JsonObject[] = [];
  readonly #streams: ToolStream[] = [];
  readonly #warnings: string[] = [];
  readonly #faults: ContextdError[] = [];
  #droppedBytes = 0;

  /** Returns the bytes that the file takes. */
  add({ facts, text, warnings }: FileRead): number {
    const stream = streamOf(`content_${this.#files.length + 1}`, text);
    const { path = null, ...others } = facts;
    const dropped = text.droppedBytes === 0 ? {} : { dropped_bytes: text.droppedBytes };
    this.#files.push({ path, field: stream.field, ...others, ...dropped });
    this.#streams.push(stream);
    this.#warnings.push(...warnings);
    this.#droppedBytes += text.droppedBytes;
    return Buffer.byteLength(shownText(stream));
  }

  addFault(path: string, fault: ContextdError): void {
    this.#files.push({ path, error: { code: fault.code, message: fault.message } });
    this.#faults.push(fault);
  }

  finish(): ToolOutput {
    const [fault] = this.#faults;
    const [failed, all] = [this.#faults.length, this.#files.length];
    if (fault !== undefined && failed === all) throw fault;
    const warnings = this.#warnings;
    return {
      data: { files: this.#files },
      streams: this.#streams,
      ...(this.#droppedBytes === 0 ? {} : { droppedBytes: this.#droppedBytes }),
      ...(warnings.length === 0 ? {} : { warnings }),
    };
  }
}
