import { readOptionalString, readStringList } from '../../src/sdk/input.ts';
import { isJsonObject, type Json, type JsonObject, type Tool, type ToolStream } from '../../src/sdk/tool.ts';

/** FR-5.2: returns memories by their ids. Contents are texts, so that a budget cuts them and a cursor continues them. */
export const memoryGet: Tool = {
  name: 'memory_get',
  async execute({ host }, input) {
    const { memories, text } = await host.ask('MemoryGet', { ids: idsOf(input) });
    const found = Array.isArray(memories) ? memories.filter((one: Json) => isJsonObject(one)) : [];
    const streams: ToolStream[] = found.map(({ content }, index) => ({
      field: found.length === 1 ? 'content' : `content_${index + 1}`,
      text: typeof content === 'string' ? content : '',
    }));
    // A call in words gets lines in which everything is quoted.
    return { data: text === undefined ? { memories: found.map(withoutContent) } : { text }, streams };
  },
};

/** Words are ids with blanks or commas between them. */
function idsOf(input: JsonObject): string[] {
  const words = (readOptionalString(input, 'id') ?? '').split(/[\s,]+/).filter((word) => word !== '');
  return [...words, ...(input.ids === undefined ? [] : readStringList(input, 'ids'))];
}

function withoutContent(memory: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(memory).filter(([name]) => name !== 'content'));
}
