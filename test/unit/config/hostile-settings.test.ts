import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { checkConfig, loadConfig, valueAt } from '#src/config/load.js';
import { CONFIG_SCHEMA } from '#src/config/schema.js';
import { ContextdError } from '#src/core/errors.js';
import { isJsonObject, type Json } from '#src/core/json.js';
import { propertyRuns } from '../../helpers/property-runs.ts';

const directory = mkdtempSync(join(tmpdir(), 'contextd-settings-'));
const configFile = join(directory, 'config.json');
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** The words of each setting and section, from the schema. */
function settingsIn(schema: unknown, above: readonly string[]): (readonly string[])[] {
  const properties = isJsonObject(schema) && isJsonObject(schema.properties) ? schema.properties : {};
  return Object.entries(properties).flatMap(([name, inner]) =>
    name === '$schema' ? [] : [[...above, name], ...settingsIn(inner, [...above, name])],
  );
}
const SETTINGS = settingsIn(JSON.parse(JSON.stringify(CONFIG_SCHEMA)), []);

const json = fc.jsonValue({ maxDepth: 3 }).map((value): Json => JSON.parse(JSON.stringify(value)));
/** What people and programs put into the place of a number, a flag, a list or a text. */
const value: fc.Arbitrary<Json> = fc.oneof(
  json,
  fc.integer(),
  fc.constantFrom<Json>(
    -1,
    0,
    1,
    2 ** 53,
    1e308,
    '',
    '0',
    'true',
    '1000',
    true,
    null,
    [],
    {},
    ['a', 'a'],
    '../..',
    '/',
    '\0',
  ),
);
const DEFAULTS = checkConfig({}).config;
/** A setting with its default, which is valid, or with any value. */
const setting = fc
  .tuple(fc.constantFrom(...SETTINGS), value, fc.boolean())
  .map(([words, put, isUsual]): readonly [readonly string[], Json] => {
    const usual = valueAt(DEFAULTS, `/${words.join('/')}`);
    return [words, isUsual && usual !== undefined ? usual : put];
  });

/** Settings with the values put in, the later ones over the earlier ones. */
function settingsWith(entries: readonly (readonly [readonly string[], Json])[]): Record<string, Json> {
  const settings: Record<string, Json> = {};
  for (const [words, put] of entries) {
    let at = settings;
    for (const word of words.slice(0, -1)) {
      const inner = at[word];
      const next: Record<string, Json> = isJsonObject(inner) ? { ...inner } : {};
      at[word] = next;
      at = next;
    }
    at[words.at(-1) ?? ''] = put;
  }
  return settings;
}

// Each case compiles the schema.
const runs = { numRuns: propertyRuns('slow') };

describe('settings that somebody wrote', () => {
  it('NFR-2.2: are taken with every value as it is, or refused with a path for each fault, and stay unchanged', () => {
    let taken = 0;
    fc.assert(
      fc.property(fc.array(setting, { minLength: 1, maxLength: 3 }), (entries) => {
        const settings = settingsWith(entries);
        const before = JSON.stringify(settings);
        const { config, faults } = checkConfig(settings);
        expect(JSON.stringify(settings)).toBe(before);
        if (config === undefined) {
          expect(faults.length).toBeGreaterThan(0);
          for (const { path, message } of faults) {
            expect(path).toMatch(/^(\/|$)/);
            expect(message.length).toBeGreaterThan(5);
          }
          return;
        }
        taken += 1;
        for (const [words] of entries) {
          const pointer = `/${words.join('/')}`;
          const written = valueAt(settings, pointer);
          const found = valueAt(config, pointer);
          // A section gets the defaults of what it leaves out.
          if (isJsonObject(written)) expect(found).toMatchObject(written);
          else expect(found).toEqual(written);
        }
      }),
      // The first case is taken for certain: `test:unit` has few.
      { ...runs, examples: [[[[['audit', 'durable'], false]]]] },
    );
    expect(taken).toBeGreaterThan(Math.floor(runs.numRuns / 10));
  });

  it('NFR-2.2: are refused if a name is no setting, wherever it stands', () => {
    const sections = [
      '',
      ...new Set(SETTINGS.filter((words) => words.length > 1).map((words) => words.slice(0, -1).join('/'))),
    ];
    fc.assert(
      fc.property(fc.constantFrom(...sections), fc.string({ minLength: 1 }), value, (section, name, put) => {
        const words = [...section.split('/').filter(Boolean), name];
        const isFree =
          isNamed(CONFIG_SCHEMA, words.slice(0, -1)) || SETTINGS.some((one) => one.join('/') === words.join('/'));
        fc.pre(!isFree && name !== '$schema' && name !== '__proto__');
        const { config, faults } = checkConfig(settingsWith([[words, put]]));
        expect(config).toBeUndefined();
        expect(faults?.length).toBeGreaterThan(0);
      }),
      runs,
    );
  });

  it('NFR-2.2: of any bytes give settings or one error that names the file, and nothing else', async () => {
    const text = fc.oneof(
      fc.string(),
      json.map((one) => JSON.stringify(one)),
      fc.tuple(setting, fc.nat()).map(([entry, at]) => {
        const whole = JSON.stringify(settingsWith([entry]));
        return whole.slice(0, at % (whole.length + 1));
      }),
    );
    const bytes = fc.oneof(
      text.map((one) => Buffer.from(one)),
      fc.uint8Array().map((one) => Buffer.from(one)),
    );
    await fc.assert(
      fc.asyncProperty(bytes, async (written) => {
        writeFileSync(configFile, written);
        const outcome = await loadConfig({ configFile }).catch((thrown: unknown) => thrown);
        if (outcome instanceof Error) {
          expect(outcome).toBeInstanceOf(ContextdError);
          expect(outcome).toMatchObject({ code: 'SCHEMA_INVALID' });
          expect(outcome.message).toContain(configFile);
        } else expect(outcome).toHaveProperty('budget.default_tokens');
      }),
      runs,
    );
  });
});

/** True if the section takes names that a person chooses, such as those of tools. */
function isNamed(schema: unknown, words: readonly string[]): boolean {
  const [first, ...rest] = words;
  if (!isJsonObject(schema)) return false;
  if (first === undefined) return isJsonObject(schema.additionalProperties) || schema.patternProperties !== undefined;
  return isJsonObject(schema.properties) && isNamed(schema.properties[first], rest);
}
