import { isJsonObject } from '../../core/json.ts';
import type { CliContext } from '../context.ts';
import { decodeText, readChunks } from '../input.ts';
import { draftJsonOf, type Entry, type ImportSource } from './import.ts';

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
      if (line.trim() === '') continue;
      const draftJson = draftIn(line);
      const fault = draftJson === null ? 'it is not a JSON object' : '';
      yield { place: `line ${number}`, source, draftJson, fault };
    }
  }
  return { entries: entries(), readBytes: () => readBytes, totalBytes };
}

async function* linesOf(text: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  for await (const part of text) {
    const lines = (rest + part).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}

function draftIn(line: string): string | null {
  try {
    const value: unknown = JSON.parse(line);
    return isJsonObject(value) ? draftJsonOf(value) : null;
  } catch {
    return null;
  }
}
