import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_EFFECTS, type ToolEffects } from '#src/call/effects.js';
import { parseManifest } from '#src/catalog/manifest.js';

const TOOLS = join(import.meta.dirname, '..', '..', 'tools');

/** What each core tool states. */
export const CORE_EFFECTS: ReadonlyMap<string, ToolEffects> = new Map(
  readdirSync(TOOLS, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => [name, parseManifest(name, readFileSync(join(TOOLS, name, 'tool.json'), 'utf8')).effects]),
);

/** Of a core tool what it states, of any other what holds for a tool that states nothing. */
export function effectsOf(tool: string): ToolEffects {
  return CORE_EFFECTS.get(tool) ?? DEFAULT_EFFECTS;
}
