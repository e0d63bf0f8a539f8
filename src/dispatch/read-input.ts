import type { CallRequest } from '../call/request.ts';
import { ContextdError } from '../core/errors.ts';
import { isJsonObject, type JsonObject, startsLikeJson } from '../core/json.ts';

/** How a tool takes plain words. */
export interface WordsOf {
  name: string;
  /** The property whose value is the plain words; null if the tool takes none. */
  primary: string | null;
}

/** The input as one object: its JSON, with plain words as the primary property. Throws ARGS_INVALID. */
export function readInput({ inputJson, inputText }: CallRequest, tool: WordsOf): JsonObject {
  if (inputText === null) return parseInput(inputJson, tool);
  const given = inputJson.length === 0 ? {} : parseInput(inputJson, tool);
  const { name, primary } = tool;
  if (primary === null) {
    throw new ContextdError('ARGS_INVALID', `${name} takes no plain words`, {
      remedy: `Give flags or a JSON object: \`${name} --schema\` describes the input.`,
    });
  }
  if (Object.hasOwn(given, primary)) {
    throw new ContextdError('ARGS_INVALID', `/${primary} is given twice: as plain words and by its name`, {
      remedy: `Leave out --${primary}.`,
      details: { faults: [{ pointer: `/${primary}`, fault: 'is given twice' }] },
    });
  }
  const text = decodeUtf8(inputText);
  if (startsLikeJson(text)) throw notJson('it begins like a JSON object', tool);
  return { ...given, [primary]: text };
}

function parseInput(bytes: Buffer, tool: WordsOf): JsonObject {
  const value = parseJson(decodeUtf8(bytes), tool);
  if (isJsonObject(value)) return value;
  const kind = value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`;
  throw new ContextdError('ARGS_INVALID', `the input is ${kind}, not a JSON object`, {
    remedy: howToCall(tool),
    details: { faults: [{ pointer: '', fault: 'must be an object' }] },
  });
}

function decodeUtf8(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new ContextdError('ARGS_INVALID', 'the input is not valid UTF-8', { remedy: 'Encode it as UTF-8.', cause });
  }
}

function parseJson(text: string, tool: WordsOf): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    // V8's message quotes the input, which may hold a secret that no pattern matches. The position is enough.
    const position = cause instanceof Error ? /position (\d+)/.exec(cause.message)?.[1] : undefined;
    const where =
      text.trim() === '' ? 'it is empty' : position === undefined ? 'it ends too early' : `see character ${position}`;
    throw notJson(where, tool, cause);
  }
}

function notJson(where: string, tool: WordsOf, cause?: unknown): ContextdError {
  return new ContextdError('ARGS_INVALID', `the input is not JSON: ${where}`, { remedy: howToCall(tool), cause });
}

/** A way to call the tool without nested quotes. */
function howToCall({ name, primary }: WordsOf): string {
  const flag = primary ?? 'name';
  return `Pass one JSON object, or use flags, which need no JSON: ${name} --${flag} "…".`;
}
