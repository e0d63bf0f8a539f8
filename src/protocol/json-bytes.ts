import { TextDecoder } from 'node:util';
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
import { WireFault } from './wire-fault.ts';

/** How deep a value from another process may be nested: whatever walks it later recurses. */
const MAX_DEPTH = 32;
const MAX_NODES = 100_000;

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** An object that another process sent as JSON text, of any shape and size. Throws WireFault naming `where`. */
export function readJsonObject(where: string, bytes: Uint8Array): JsonObject {
  const value = parse(where, bytes);
  if (isJsonObject(value)) return value;
  throw new WireFault(`${where} is not a JSON object`);
}

/** The same from a process that is not trusted: at most so many bytes, 32 deep and 100,000 values large. */
export function readBoundedObject(where: string, bytes: Uint8Array, maxBytes: number): JsonObject {
  if (bytes.length > maxBytes) throw new WireFault(`${where} has ${bytes.length} bytes, the limit is ${maxBytes}`);
  const object = readJsonObject(where, bytes);
  if (isBounded(object)) return object;
  throw new WireFault(`${where} is not a JSON object at most ${MAX_DEPTH} deep and ${MAX_NODES} values large`);
}

function parse(where: string, bytes: Uint8Array): unknown {
  try {
    return JSON.parse(UTF8.decode(bytes));
  } catch {
    // The parser's message quotes the text, which may hold a secret: it is not carried on.
    throw new WireFault(`${where}, ${bytes.length} bytes, is not JSON in UTF-8`);
  }
}

function isBounded(root: Json): boolean {
  let nodes = 0;
  const visit = (value: Json, depth: number): boolean => {
    nodes += 1;
    if (nodes > MAX_NODES || depth > MAX_DEPTH) return false;
    if (value === null || typeof value !== 'object') return true;
    return Object.values(value).every((child: Json) => visit(child, depth + 1));
  };
  return visit(root, 0);
}
