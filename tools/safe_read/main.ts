import { invalid, readString } from '../../src/sdk/input.ts';
import type { JsonObject, Tool, ToolOutput } from '../../src/sdk/tool.ts';
import { type FileRead, readFile } from './read-file.ts';
import { readPaths, readSeveral } from './read-several.ts';
import { readSelection } from './selection.ts';

/** FR-4.2: files of the workspace, whole or in part. Never more of them in memory than is given back. */
export const safeRead: Tool = {
  name: 'safe_read',
  async execute(context, input) {
    const selection = readSelection(input);
    if (isForSeveral(input)) return readSeveral(readPaths(input, context.workspace), selection, context);
    return outputOf(await readFile(readString(input, 'path'), selection, context));
  },
};

function isForSeveral({ path, paths }: JsonObject): boolean {
  if (path !== undefined && paths !== undefined) throw invalid('paths', 'cannot go with path', 'Pass one of them.');
  if (path === undefined && paths === undefined) throw invalid('path', 'is missing', 'Pass "path" or "paths".');
  return paths !== undefined;
}

function outputOf({ facts, text, warnings }: FileRead): ToolOutput {
  return {
    data: facts,
    streams: [{ field: 'content', text: text.text, margin: text.margin }],
    ...(text.droppedBytes === 0 ? {} : { droppedBytes: text.droppedBytes }),
    ...(warnings.length === 0 ? {} : { warnings }),
  };
}
