import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { CONFIG_SCHEMA } from '#src/config/schema.js';
import { EVENT_KINDS } from '#src/features/events/event-kinds.js';
import { RPC_NAMES } from '#src/protocol/management-rpcs.js';

// A row of a table compiles also if nothing uses it: a setting that nobody reads is accepted and does nothing.

const ROOT = join(import.meta.dirname, '..');

function sourcesIn(room: string): string {
  const names = readdirSync(join(ROOT, room), { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => name.endsWith('.ts') && !name.includes('generated'));
  return files.map((name) => readFileSync(join(ROOT, room, name), 'utf8')).join('\n');
}

const unusedIn = (text: string, names: readonly string[], use: (name: string) => RegExp): string[] =>
  names.filter((name) => !use(name).test(text));

/** Sections that are read as a whole, key by key. */
const READ_AS_TABLES = ['densify'];

/** The last parts of the keys of all settings that hold a value. */
function settingsBelow(schema: object): string[] {
  const properties = 'properties' in schema ? Object.entries(schema.properties as Record<string, object>) : [];
  return properties
    .filter(([key]) => key !== '$schema' && !READ_AS_TABLES.includes(key))
    .flatMap(([key, inner]) => ('properties' in inner ? settingsBelow(inner) : [key]));
}

it('every setting is read outside of the room that knows all settings', () => {
  const rooms = readdirSync(join(ROOT, 'src')).filter((room) => room !== 'config');
  const text = rooms.map((room) => sourcesIn(`src/${room}`)).join('\n');
  const settings = settingsBelow(CONFIG_SCHEMA);
  expect(settings.length).toBeGreaterThan(100);
  const isRead = (name: string): RegExp => new RegExp(`\\.${name}\\b|[{,]\\s*${name}\\s*[,:}]`);
  expect(unusedIn(text, settings, isRead)).toEqual([]);
});

it('every rpc of management is called by ctxd', () => {
  const called = (name: string): RegExp => new RegExp(`\\.${name}\\b|['{,]\\s*${name}\\b`);
  expect(unusedIn(sourcesIn('src/cli'), RPC_NAMES, called)).toEqual([]);
});

it('every kind of event is appended', () => {
  const appended = (kind: string): RegExp => new RegExp(`\\bkind: [^\\n]*'${kind}'`);
  expect(unusedIn(sourcesIn('src/features'), Object.keys(EVENT_KINDS), appended)).toEqual([]);
});

it('every core tool that has a program is in the bundle of the core tools', () => {
  const bundle = readFileSync(join(ROOT, 'src/runner/core-bundle/main.ts'), 'utf8');
  const tools = readdirSync(join(ROOT, 'tools')).filter(
    (name) => JSON.parse(readFileSync(join(ROOT, 'tools', name, 'tool.json'), 'utf8')).runtime !== 'host',
  );
  const imported = (tool: string): RegExp => new RegExp(`/tools/${tool}/main\\.ts'`);
  expect(unusedIn(bundle, tools, imported)).toEqual([]);
});
