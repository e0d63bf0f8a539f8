import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ContextdError } from '../core/errors.ts';
import { isJsonObject, type JsonObject } from '../core/json.ts';
import type { CompileArguments } from './arguments.ts';
import type { CatalogTool } from './catalog.ts';
import { whyNotForOthers } from './effects.ts';
import { parseManifest } from './manifest.ts';

/** A published bundle, in which one or more tools are. */
export interface Bundle {
  dir: string;
  sha256: string;
  origin: CatalogTool['origin'];
}

/** Reads the tool in `dir`, which is the bundle or a directory of it. Throws SCHEMA_INVALID if a file is not as it must be. */
export async function readTool(dir: string, bundle: Bundle, compile: CompileArguments): Promise<CatalogTool> {
  const [manifestText = '', schemaText = '', toolMd = '', toolExtendedMd = ''] = await Promise.all([
    ...['tool.json', 'schema.json', 'TOOL.md'].map((file) => readFile(join(dir, file), 'utf8')),
    readFile(join(dir, 'TOOL_EXTENDED.md'), 'utf8'),
  ]);
  const { profile, ...manifest } = parseManifest(join(dir, 'tool.json'), manifestText);
  const why = bundle.origin === 'core' ? null : whyNotForOthers(manifest);
  if (why !== null) {
    throw new ContextdError('SCHEMA_INVALID', `tool.json of ${manifest.name} is not valid: ${why}`, {
      remedy: 'Its author must correct the file; then install the tool again.',
    });
  }
  const schemaJson = schemaText.trim();
  return {
    manifest,
    origin: bundle.origin,
    sha256: bundle.sha256,
    program: manifest.isHost ? { kind: 'host', profile } : { kind: 'plugin', bundleDir: bundle.dir, profile },
    schemaJson,
    toolMd,
    toolExtendedMd,
    arguments: compile(manifest.name, parseSchema(manifest.name, schemaJson)),
  };
}

function parseSchema(tool: string, text: string): JsonObject {
  const value: unknown = JSON.parse(text);
  if (isJsonObject(value)) return value;
  throw new ContextdError('SCHEMA_INVALID', `schema.json of ${tool} is not a JSON object`, {
    remedy: 'Correct the file.',
  });
}
