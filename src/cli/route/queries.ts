import { isJsonObject } from '../../core/json.ts';
import { byteLines } from '../byte-lines.ts';

/** One query for each line, empty lines included, so that answers can be matched with lines. */
export async function* readQueries(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  for await (const bytes of byteLines(chunks)) yield queryOf(bytes.toString().replace(/\r$/, ''));
}

/** A line that is a JSON object with a text `query` asks for that text. Any other line is the query itself. */
function queryOf(line: string): string {
  if (!line.trimStart().startsWith('{')) return line;
  try {
    const value: unknown = JSON.parse(line);
    return isJsonObject(value) && typeof value.query === 'string' ? value.query : line;
  } catch {
    return line;
  }
}
