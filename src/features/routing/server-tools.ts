import type { CatalogTool } from '../../catalog/catalog.ts';
import { type MetaSchemas, serverArguments } from '../../catalog/server-arguments.ts';
import type { GatewaySettings } from '../../config/gateway-schema.ts';
import { ContextdError } from '../../core/errors.ts';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import { schemaSizeFault } from '../../gateway/arguments/schema-size.ts';
import { foreignLine } from '../../text/foreign-line.ts';
import type { UpstreamTool } from '../../upstream/contract.ts';
import { definitionHash } from '../execution/definition-hash.ts';

/** The names of what contextd makes of a result (`features/execution`), and those of MCP for its parts. */
const ANSWER_NAMES = [
  'summary',
  'structured',
  'facts',
  'artifacts',
  'views',
  'handle',
  'media_type',
  'size_bytes',
  'label',
  'error',
  'message',
  'path',
  'content',
  'structured_content',
  'type',
  'text',
  'data',
  'mimeType',
  'resource',
  'uri',
  'blob',
];

/** A tool of an MCP server as every other step of a call knows tools, and what is wrong with its schema. */
export interface ServerTool {
  tool: CatalogTool;
  schema: JsonObject;
  /** Null: nothing. */
  fault: string | null;
}

/** It cannot ask for grants, and its text is foreign: a server says what it likes. */
export function serverTool(
  { id, upstreamName, definition, files }: UpstreamTool,
  limits: GatewaySettings['schemas'],
  metaSchemas: MetaSchemas,
): ServerTool {
  const schema = isJsonObject(definition.inputSchema) ? definition.inputSchema : {};
  const fault = faultOf(schema, limits, metaSchemas);
  const sha256 = definitionHash(definition);
  const description = definition.description ?? definition.title ?? upstreamName;
  const tool: CatalogTool = {
    manifest: {
      name: id,
      purpose: foreignLine(description),
      version: '',
      source: null,
      signature: null,
      grants: [],
      effects: { files, session: 'work' },
      isHost: false,
      budget: 'answer',
      isExact: false,
      text: [],
      answerNames: ANSWER_NAMES,
    },
    origin: 'installed',
    sha256,
    program: {
      kind: 'upstream',
      upstreamName,
      definitionSha256: sha256,
      annotations: isJsonObject(definition.annotations) ? definition.annotations : {},
      declared: declaredOf(definition),
      profile: { minIsolation: 'reduced', limits: {} },
    },
    schemaJson: JSON.stringify(schema),
    toolMd: description
      .split('\n')
      .map((text) => foreignLine(text))
      .join('\n'),
    toolExtendedMd: '',
    arguments: serverArguments(id, schema, fault),
  };
  return { tool, schema, fault };
}

function declaredOf({ title, annotations, outputSchema }: UpstreamTool['definition']): JsonObject {
  return JSON.parse(JSON.stringify({ title, annotations, outputSchema }));
}

function faultOf(schema: JsonObject, limits: GatewaySettings['schemas'], metaSchemas: MetaSchemas): string | null {
  const { max_bytes: maxBytes, max_depth: maxDepth, max_properties: maxProperties } = limits;
  const tooLarge = schemaSizeFault(schema, { maxBytes, maxDepth, maxProperties });
  if (tooLarge !== null) return `it ${tooLarge}`;
  try {
    return metaSchemas.faultOf(schema);
  } catch (thrown) {
    return ContextdError.from(thrown).message;
  }
}
