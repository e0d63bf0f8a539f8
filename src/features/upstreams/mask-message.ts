import type { SessionRef } from '../../call/session.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import type { SecondSearch } from '../../dispatch/scrub.ts';
import { collectLeaves } from '../../scrub/leaves.ts';
import type { Scrubber } from '../../scrub/scrubber.ts';

export interface MaskDeps {
  scrubber: Pick<Scrubber, 'scrub' | 'scrubAgain' | 'maskText'>;
  secondSearch: Pick<SecondSearch, 'missedIn'>;
}

/**
 * Masks every string of a message but bytes as base64, also what only the real gitleaks finds. Throws SCRUB_FAILED. `method`: of the request that the message belongs to, which decides where
 * the protocol has bytes; '' for a message without any.
 */
export async function maskMessage(
  session: SessionRef,
  message: JsonObject,
  method: string,
  { scrubber, secondSearch }: MaskDeps,
) {
  const taken: string[] = [];
  const open = withoutBytes(message, byteHolders(message, method), taken);
  const first = await scrubber.scrub(session, open as JsonObject);
  const missed = await secondSearch.missedIn(collectLeaves(first.value));
  const again =
    missed.length === 0 ? { value: first.value, secrets: [] } : await scrubber.scrubAgain(session, first.value, missed);
  const value = withBytes(again.value, taken[Symbol.iterator]()) as JsonObject;
  return { value, secrets: [...first.secrets, ...again.secrets] };
}

/** The objects that hold bytes, and under which key. */
type Holders = ReadonlyMap<JsonObject, 'data' | 'blob'>;

function byteHolders(message: JsonObject, method: string): Holders {
  const holders = new Map<JsonObject, 'data' | 'blob'>();
  const resource = (value: JsonObject): void => {
    if (typeof value.uri === 'string') holders.set(value, 'blob');
  };
  const block = (value: JsonObject): void => {
    if ((value.type === 'image' || value.type === 'audio') && typeof value.mimeType === 'string')
      holders.set(value, 'data');
    if (value.type === 'resource') objectsIn(value.resource).forEach(resource);
    if (value.type === 'tool_result') objectsIn(value.content).forEach(block);
  };
  const turn = ({ content }: JsonObject): void => objectsIn(content).forEach(block);
  switch (method) {
    case 'tools/call':
      turn(message);
      break;
    case 'resources/read':
      objectsIn(message.contents).forEach(resource);
      break;
    case 'prompts/get':
    case SAMPLING:
      objectsIn(message.messages).forEach(turn);
      break;
  }
  const { inputRequests } = message;
  if (method === SAMPLING || !isJsonObject(inputRequests)) return holders;
  for (const asked of Object.values(inputRequests))
    if (isJsonObject(asked) && asked.method === SAMPLING && isJsonObject(asked.params))
      objectsIn(asked.params.messages).forEach(turn);
  return holders;
}

const SAMPLING = 'sampling/createMessage';

/** Of a list or of one value. */
function objectsIn(value: Json | undefined): JsonObject[] {
  return [value].flat().filter(isJsonObject);
}

/** Stands for a string that is not searched: a character of no meaning. */
const PLACE = '\u{F0000}';

function withoutBytes(value: Json, holders: Holders, taken: string[], isBytes = false): Json {
  if (typeof value === 'string') {
    if (!(isBytes && BASE64.test(value)) && value !== PLACE) return value;
    taken.push(value);
    return PLACE;
  }
  if (Array.isArray(value)) return value.map((inner: Json) => withoutBytes(inner, holders, taken));
  if (!isJsonObject(value)) return value;
  const key = holders.get(value);
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, withoutBytes(inner, holders, taken, name === key)]),
  );
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

function withBytes(value: Json, taken: Iterator<string>): Json {
  if (value === PLACE) return taken.next().value ?? '';
  if (Array.isArray(value)) return value.map((inner: Json) => withBytes(inner, taken));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withBytes(inner, taken)]));
}
