import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a test tool is; it says its version, and what it was called with. */
export interface MadeTool {
  name?: string;
  version?: string;
  grants?: readonly string[];
  /** Keys of tool.json instead of those of a shell script. */
  manifest?: object;
  /** The program: a shell script that reads JSON on stdin. */
  script?: string;
  /** Further files, by path. */
  files?: Readonly<Record<string, string>>;
}

/** Writes a tool of the runtime `exec` into `dir`, which is created. */
export function makeTool(dir: string, tool: MadeTool = {}): void {
  const { name = 'weather', version = '1.0.0', grants = [], files = {} } = tool;
  const script = tool.script ?? `#!/bin/sh\nread -r input\nprintf '{"version":"${version}","input":%s}' "$input"\n`;
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    additionalProperties: false,
    properties: { city: { type: 'string', maxLength: 100, description: 'The city.' } },
  };
  const manifest = {
    name,
    purpose: 'Tell the weather of a city.',
    version,
    runtime: 'exec',
    entry: 'main.sh',
    grants,
    ...tool.manifest,
  };
  const brief = [
    `# ${name}`,
    '> Tell the weather of a city.',
    '',
    '**Use**: when the weather of a city matters.',
    '**Not**: files → `safe_read`',
    '**Limits**: one city.',
    '**Ref**: `TOOL_EXTENDED.md`',
  ];
  write(dir, {
    'tool.json': JSON.stringify({ ...manifest, min_isolation: 'reduced' }),
    'schema.json': JSON.stringify(schema),
    'TOOL.md': `${brief.join('\n')}\n`,
    'TOOL_EXTENDED.md': `# ${name}\n\n\`city\`: the city.\n`,
    'main.sh': script,
    ...files,
  });
  chmodSync(join(dir, 'main.sh'), 0o755);
}

function write(dir: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(dir, path, '..'), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
}
