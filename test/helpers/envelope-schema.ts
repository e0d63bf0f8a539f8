import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Envelope } from '#src/core/envelope.js';
import { loadCounter } from '#src/tokens/counter.js';
import { ENVELOPE_SCHEMA } from './answer-schema.ts';
import { cl100k } from './tiktoken.ts';

const validate = new Ajv2020({
  strict: true,
  allErrors: true,
  allowUnionTypes: true,
  strictRequired: false,
  strictTypes: false,
}).compile(ENVELOPE_SCHEMA);
/**
 * js-tiktoken needs minutes for a long run without a break. Our own counter, which other tests compare with it, stands
 * in.
 */
const ENDLESS = /[^\S\n]{1000}|\p{L}{1000}|[^\s\p{L}\p{N}]{1000}/u;
const ours = loadCounter();

/**
 * Parses a printed line as an envelope. Throws unless it is one line of JSON that fits the published schema and reports
 * its true token count.
 */
export function checkedEnvelope(line: string): Envelope {
  if (line.includes('\n')) throw new Error(`an answer is one line, not ${JSON.stringify(line.slice(0, 200))}`);
  const envelope: Envelope = JSON.parse(line);
  if (!validate(envelope)) {
    const faults = (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
    throw new Error(`the answer does not fit docs/envelope.schema.json: ${faults.join('; ')}\n${line.slice(0, 2000)}`);
  }
  const tokens = ENDLESS.test(line) ? ours.count(line) : cl100k.encode(line, [], []).length;
  if (tokens !== envelope.tokens_used)
    throw new Error(`tokens_used is ${envelope.tokens_used}, the line has ${tokens}`);
  return envelope;
}
