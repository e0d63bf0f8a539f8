import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readRuleBundle } from '#src/scrub/exact/rule-pack.js';
import { readRuleSources } from '#src/scrub/rule-sources.js';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const BUNDLE = join(ROOT, 'dist', 'core-bundle');

function filesBelow(dir: string): string[] {
  const entries = readdirSync(dir, { recursive: true, withFileTypes: true });
  return entries
    .flatMap((entry) => (entry.isFile() ? [join(entry.parentPath, entry.name).slice(dir.length + 1)] : []))
    .sort();
}

describe('the core bundle', () => {
  it('FR-2.2 holds the program, the rules, their certificates and what each tool is installed from, and nothing else', () => {
    const tools = readdirSync(join(ROOT, 'tools'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
    const documents = ['TOOL.md', 'TOOL_EXTENDED.md', 'schema.json', 'tool.json'];
    const expected = [
      'certified-patterns.txt',
      'main.js',
      'rules.json',
      ...tools.flatMap(({ name }) => documents.map((file) => `tools/${name}/${file}`)),
    ];
    expect(filesBelow(BUNDLE)).toEqual(expected.sort());
  });

  it('SEC-1.2 has every rule of the daemon', () => {
    const rules = readRuleBundle(join(BUNDLE, 'rules.json'));
    expect(rules).toEqual(readRuleSources());
    expect(rules.pack.length).toBeGreaterThan(10);
  });

  it('has schemas on one line, without spaces between tokens', () => {
    for (const name of readdirSync(join(BUNDLE, 'tools'))) {
      const source = readFileSync(join(ROOT, 'tools', name, 'schema.json'), 'utf8');
      expect(readFileSync(join(BUNDLE, 'tools', name, 'schema.json'), 'utf8')).toBe(
        `${JSON.stringify(JSON.parse(source))}\n`,
      );
    }
  });

  it('names no path of the machine it was built on', () => {
    expect(readFileSync(join(BUNDLE, 'main.js'), 'utf8')).not.toContain(ROOT);
  });

  it('does not contain the vault and the guard, which stay in the daemon', () => {
    const program = readFileSync(join(BUNDLE, 'main.js'), 'utf8');
    for (const part of ['scrub/vault', 'scrub/scrubber', 'sandbox/', 'src/config/'])
      expect(program, part).not.toContain(`dist/src/${part.replace('src/', '')}`);
  });
});
