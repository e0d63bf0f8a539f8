import { isJsonObject, type JsonObject } from '../../core/json.ts';
import type { CliContext } from '../context.ts';
import { decodeText, readChunks } from '../input.ts';
import { draftJsonOf, type Entry, type ImportSource, linkIn } from './import.ts';

/** The memories of a file of JSON lines; `-` for standard input. */
export function readLines(file: string, source: string, totalBytes: number, context: CliContext): ImportSource {
  let readBytes = 0;
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const chunk of readChunks(file, context)) {
      readBytes += chunk.length;
      yield chunk;
    }
  }
  async function* entries(): AsyncGenerator<Entry> {
    let number = 0;
    const text = decodeText(counted(), () => {
      context.stderr.write('ctxd: bytes of the input that are not UTF-8 became U+FFFD\n');
    });
    for await (const line of linesOf(text)) {
      number += 1;
      if (line?.trim() === '') continue;
      const value = line === null ? null : objectIn(line);
      const draftJson = value === null ? null : draftJsonOf(value);
      const link = value === null ? undefined : linkIn(value);
      const what = line === null ? `it has more than ${LINE_MAX_CHARS} characters` : 'it is not a JSON object';
      const entry = { place: `line ${number}`, source, draftJson, fault: draftJson === null ? what : '' };
      yield link === undefined ? entry : { ...entry, link };
    }
  }
  return { entries: entries(), readBytes: () => readBytes, totalBytes };
}

/** Characters of a line: a memory with everything in it, escaped, has fewer. */
const LINE_MAX_CHARS = 1024 * 1024;

/** The lines of a text; null for one that is too long, whose rest is skipped. */
async function* linesOf(text: AsyncIterable<string>): AsyncGenerator<string | null> {
  let rest: string | null = '';
  for await (const part of text) {
    const [first = '', ...others] = part.split('\n');
    rest = rest === null || rest.length + first.length > LINE_MAX_CHARS ? null : rest + first;
    for (const line of others) {
      yield rest;
      rest = line.length > LINE_MAX_CHARS ? null : line;
    }
  }
  if (rest !== '') yield rest;
}

function objectIn(line: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(line);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}
