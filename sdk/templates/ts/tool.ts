import type { Tool } from '@contextd/sdk';
import schema from './schema.json' with { type: 'json' };

/** What schema.json describes. contextd has checked it. */
interface Input {
  text: string;
}

export const tool: Tool<Input> = {
  name: 'tool_name',
  schema,
  execute(_context, { text }) {
    const words = text.split(/\s+/).filter((word) => word !== '').length;
    return { data: { words, lines: text.split('\n').length } };
  },
};
