import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { getEncoding } from 'js-tiktoken';
import { describe, expect, it } from 'vitest';
import { ANY, findSecretInputs } from '#src/catalog/secret-inputs.js';

const TOOLS = join(import.meta.dirname, '..', '..', '..', 'tools');
const cl100k = getEncoding('cl100k_base');
const names = readdirSync(TOOLS, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));

function read(name: string, file: string): string {
  return readFileSync(join(TOOLS, name, file), 'utf8');
}

/** As it is installed: without layout. */
function schemaOf(name: string) {
  const schema = JSON.parse(read(name, 'schema.json'));
  return { schema, text: JSON.stringify(schema) };
}

describe.each(names)('%s', (name) => {
  it('FR-2.3 has a closed schema of draft 2020-12', () => {
    const { schema } = schemaOf(name);
    expect(schema.$schema).toBe('https://json-schema.org/draft/2020-12/schema');
    expect(schema.additionalProperties).toBe(false);
    const ajv = new Ajv2020({ strict: true, keywords: ['x-contextd-secret'] });
    expect(ajv.validateSchema(schema)).toBe(true);
    expect(() => ajv.compile(schema)).not.toThrow();
  });

  it('has a schema of at most 180 tokens that repeats no common option', () => {
    const { schema, text } = schemaOf(name);
    expect(cl100k.encode(text).length).toBeLessThanOrEqual(180);
    for (const common of ['max_tokens', 'view', 'continuation', 'timeout_ms', 'dry_run', 'branch'])
      expect(schema.properties).not.toHaveProperty(common);
  });

  it('FR-2.4 CE-1.2 has a TOOL.md of under 100 tokens', () => {
    expect(cl100k.encode(read(name, 'TOOL.md')).length).toBeLessThan(100);
  });

  it('DATA-3 has a TOOL.md of the fixed form', () => {
    expect(read(name, 'TOOL.md')).toMatch(
      new RegExp(
        `^# ${name}\n> .+\n\n\\*\\*Use\\*\\*: .+\n\\*\\*Not\\*\\*: .+ → \`.+\`.*\n\\*\\*Limits\\*\\*: .+\n\\*\\*Ref\\*\\*: \`TOOL_EXTENDED.md\`\n$`,
      ),
    );
  });

  it('FR-2.5 has extended documents that name every argument', () => {
    const extended = read(name, 'TOOL_EXTENDED.md');
    for (const property of Object.keys(schemaOf(name).schema.properties)) expect(extended).toContain(`\`${property}\``);
  });

  it('has examples in its extended documents that fit its schema', () => {
    const validate = new Ajv2020({ keywords: ['x-contextd-secret'] }).compile(schemaOf(name).schema);
    const common = ['max_tokens', 'view', 'timeout_ms'];
    const examples = [...read(name, 'TOOL_EXTENDED.md').matchAll(new RegExp(`^ {4}${name} '(.+)'$`, 'gm'))];
    expect(examples.length).toBeGreaterThan(2);
    for (const [, example = ''] of examples) {
      const own = Object.entries(JSON.parse(example)).filter(([key]) => !common.includes(key));
      expect(validate(Object.fromEntries(own)), example).toBe(true);
    }
  });

  it('has a manifest with the grants it needs and no more', () => {
    expect(JSON.parse(read(name, 'tool.json'))).toEqual({
      name,
      purpose: expect.any(String),
      grants: name === 'safe_bash' ? ['exec'] : [],
      min_isolation: 'reduced',
    });
  });
});

it('SEC-1.4 a secret may become its value in what safe_write writes and in a variable of safe_bash, nowhere else', () => {
  const marked = names.flatMap((name) =>
    findSecretInputs(name, schemaOf(name).schema).map(({ path, purpose }) => [name, ...path, purpose]),
  );
  expect(marked).toEqual([
    ['safe_bash', 'secrets', ANY, 'env'],
    ['safe_write', 'content', 'file'],
  ]);
});

it('CE-1.1 all schemas together are under 1,500 tokens', () => {
  const total = names.reduce((sum, name) => sum + cl100k.encode(schemaOf(name).text).length, 0);
  expect(total).toBeLessThan(1_500);
});
