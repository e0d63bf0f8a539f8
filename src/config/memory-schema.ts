import { flag, optional, section, whole } from './schema-parts.ts';
import { SERVER_URL } from './server-url.ts';

export const MEMORY_SCHEMA = section('Memories of earlier work.', {
  holdout: {
    type: 'number',
    default: 0,
    minimum: 0,
    maximum: 0.5,
    description:
      'The share of found memories that a session does not see, so that `ctxd memory report` can say what they change. 0: none.',
  },
  distill: section('A language model that writes memories from recorded calls (`ctxd memory learn`).', {
    url: optional(
      SERVER_URL,
      'Address of an OpenAI-compatible server before /chat/completions, such as http://127.0.0.1:11434/v1; http only on this machine. null: memories are made without a model.',
    ),
    model: { type: 'string', default: '', maxLength: 200, description: 'The name of the model.' },
    api_key_file: optional(
      '^/[^\\0]+$',
      'The file that holds nothing but the key of the server. null: the server asks for none.',
    ),
    timeout_ms: whole(60_000, 100, 600_000, 'Milliseconds after which memories are made without the model.'),
  }),
  embedding: section('A model that ranks memories by meaning too, besides their words.', {
    provider: {
      enum: ['none', 'http', 'local'],
      default: 'none',
      description:
        'none: words only. http: an endpoint as OpenAI defines it, which Ollama, vLLM and others have too. local: a model in a folder.',
    },
    url: optional(
      SERVER_URL,
      'For http: the address before /embeddings, such as http://127.0.0.1:11434/v1; http only on this machine.',
    ),
    model: optional('^\\S{1,200}$', 'For http: the name of the model there, such as nomic-embed-text.'),
    api_key_file: optional(
      '^/[^\\0]+$',
      'The file that holds nothing but the key of the endpoint. null: it asks for none.',
    ),
    folder: optional(
      '^/[^\\0]*[^/\\0]$',
      'For local: the folder with config.json, tokenizer.json and onnx/model.onnx of the model.',
    ),
    revision: {
      type: 'string',
      default: '',
      pattern: '^\\S{0,100}$',
      description: 'Any text; a new one makes all vectors again, when the model changed under the same name.',
    },
    query_prefix: {
      type: 'string',
      default: '',
      maxLength: 1_000,
      description: 'Put before each query, if the model wants it, such as "query: ".',
    },
    document_prefix: {
      type: 'string',
      default: '',
      maxLength: 1_000,
      description: 'Put before each memory, if the model wants it, such as "passage: ". Change revision too.',
    },
    tools: flag(
      false,
      'tool_browse ranks tools by meaning too. Their names and descriptions are embedded in the background at the first browse.',
    ),
    query_timeout_ms: whole(150, 10, 60_000, 'Milliseconds after which a search goes by words only.'),
    timeout_ms: whole(30_000, 100, 600_000, 'Milliseconds for the vectors of 16 memories.'),
  }),
  qdrant: section('A Qdrant server through which machines share memories.', {
    url: optional(
      SERVER_URL,
      'Address of the server, such as https://qdrant.example.com:6333; http only on this machine. null: nothing is shared.',
    ),
    api_key_file: optional(
      '^/[^\\0]+$',
      'The file that holds nothing but the key of the server. null: the server asks for none.',
    ),
    collection: {
      type: 'string',
      default: 'contextd_memories',
      pattern: '^[A-Za-z0-9_-]{1,200}$',
      description: 'The collection, which is created if it is missing.',
    },
    project_ids: {
      type: 'object',
      default: {},
      maxProperties: 1_000,
      description:
        'The projects whose memories are shared: the id that everybody uses, by the root here. Other projects stay on this machine.',
      additionalProperties: false,
      patternProperties: { '^/[^\\0]*$': { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,199}$' } },
    },
    timeout_ms: whole(10_000, 100, 300_000, 'Milliseconds for one write.'),
    search_timeout_ms: whole(300, 10, 60_000, 'Milliseconds after which a search is answered from this machine.'),
    interval_ms: whole(30_000, 1_000, 86_400_000, 'Milliseconds between two looks at what others wrote.'),
  }),
});
