import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { isAskedMethod, MAY_ASK, McpError, type McpMessage } from '../../core/passing.ts';
import { foreignLine, quotedForeign } from '../../text/foreign-line.ts';

/** Characters of a question to a person. */
const QUESTION_MAX_CHARS = 4_000;
/** A server of 2025 answers with this error to let a person open an address. Its data has the questions. */
const URL_ELICITATION_REQUIRED = -32_042;

/**
 * A question of a server as a client gets it: it begins with the name of the server, and its words stand in quotes that they
 * cannot end. Its words were scrubbed before. The names of roots are asked for without words.
 */
export function questionOf(server: string, { method, params }: McpMessage): McpMessage {
  if (method === 'elicitation/create') return { method, params: elicitationOf(server, params) };
  if (method === 'sampling/createMessage') return { method, params: samplingOf(server, params) };
  return { method, params };
}

/** The result of a request of this method with its questions as `questionOf`. Throws McpError if a client is not asked for them. */
export function askingResult(server: string, method: string, result: JsonObject): JsonObject {
  const { resultType, inputRequests } = result;
  if ((resultType === 'input_required' || inputRequests !== undefined) && !MAY_ASK.has(method))
    throw new McpError(-32_603, `the server asks for input in its answer to ${method}, for which no client is asked`);
  if (!isJsonObject(inputRequests)) return result;
  const questions = Object.entries(inputRequests).map(([key, one]) => {
    if (!isJsonObject(one) || typeof one.method !== 'string' || !isAskedMethod(one.method))
      throw new McpError(-32_603, 'the server asks for input that a client is not asked for');
    const { method: asked, params } = one;
    return [key, { ...one, ...questionOf(server, { method: asked, params: isJsonObject(params) ? params : {} }) }];
  });
  return { ...result, inputRequests: Object.fromEntries(questions) };
}

export function isAskingError({ code }: McpError): boolean {
  return code === URL_ELICITATION_REQUIRED;
}

/** Such an error with its questions as `questionOf`, or without them if a client is not asked for this method. */
export function askingError(server: string, method: string, error: McpError): McpError {
  const { elicitations } = isJsonObject(error.data) ? error.data : {};
  if (!MAY_ASK.has(method) || !Array.isArray(elicitations)) return new McpError(-32_603, error.message);
  const named = elicitations.filter(isJsonObject).map((one) => elicitationOf(server, one));
  return new McpError(error.code, error.message, { elicitations: named });
}

function elicitationOf(server: string, { message, requestedSchema, ...others }: JsonObject): JsonObject {
  const words = quotedForeign(typeof message === 'string' ? message : '', QUESTION_MAX_CHARS, () => true);
  return {
    message: `The MCP server ${server} asks: ${words}`,
    ...(requestedSchema === undefined ? {} : { requestedSchema: withPlainTexts(requestedSchema) }),
    ...others,
  };
}

/** A person sees it before the model does, and the model must not take it for words of the client. */
function samplingOf(server: string, { systemPrompt, ...others }: JsonObject): JsonObject {
  const lines = typeof systemPrompt === 'string' ? systemPrompt.split(LINE_END).map((line) => `> ${line}`) : [];
  const whose = `The MCP server ${server} asks for this${lines.length === 0 ? '.' : ', with these words:'}`;
  return { systemPrompt: [whose, ...lines].join('\n'), ...others };
}

const LINE_END = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/;
/** What a form shows of a field besides its values, which come back as they are. */
const TEXTS: ReadonlySet<string> = new Set(['title', 'description']);

/** A schema of a form. A field may be named as one of the texts; then it is an object. */
function withPlainTexts(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(withPlainTexts);
  if (!isJsonObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [
      key,
      typeof value === 'string' && TEXTS.has(key) ? foreignLine(value, () => true) : withPlainTexts(value),
    ]),
  );
}
