import { readOptionalInteger, readOptionalString } from '../../src/sdk/input.ts';
import type { JsonObject, Tool } from '../../src/sdk/tool.ts';

/** `wait 1 ready in`: an action, the number of a job, and the rest as text. */
const WORDS = /^\s*(\S+)(?:\s+(\d{1,9}))?(?:\s+([\s\S]+))?$/;

/**
 * Lists, shows and steers the background jobs of the session. The host adds the output of a job to the answer: it is
 * scrubbed and stored already, so it does not pass through this process.
 */
export const jobs: Tool = {
  name: 'jobs',
  async execute({ host }, input) {
    return { data: await host.ask('Jobs', readRequest(input)) };
  },
};

function readRequest(input: JsonObject): JsonObject {
  const [, action = '', number, rest] = WORDS.exec(readOptionalString(input, 'action') ?? 'list') ?? [];
  const job = readOptionalInteger(input, 'job') ?? (number === undefined ? undefined : Number(number));
  const text = readOptionalString(input, 'text') ?? rest;
  return {
    action,
    ...(job === undefined ? {} : { job }),
    ...(text === undefined ? {} : { text }),
    ...(input.eof === true ? { eof: true } : {}),
  };
}
