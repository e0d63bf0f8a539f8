import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseManifest } from '#src/catalog/manifest.js';
import { checkConfig } from '#src/config/load.js';
import { timeoutLimits } from '#src/dispatch/options.js';

function limitsOf(timeout: object, limits: object = {}) {
  const { config, faults } = checkConfig(JSON.parse(JSON.stringify({ timeout })));
  if (config === undefined) throw new Error(JSON.stringify(faults));
  const manifest = manifestOf(limits);
  return timeoutLimits(config.timeout, manifest, manifest.profile.limits);
}

function manifestOf(limits: object) {
  const value = {
    name: 'one',
    purpose: 'Does one thing.',
    version: '1.0.0',
    grants: [],
    min_isolation: 'reduced',
    limits,
  };
  return parseManifest('tool.json', JSON.stringify(value));
}

describe('NFR-2.2 the time of a call', () => {
  it('NFR-2.2 is 30 s by default and 300 s at most, as a person sets it', () => {
    expect(limitsOf({})).toEqual({ standardMs: 30_000, ceilingMs: 300_000 });
    expect(limitsOf({ default_ms: 5_000, max_ms: 9_000 })).toEqual({ standardMs: 5_000, ceilingMs: 9_000 });
  });

  it('NFR-2.2 is more for a tool that was granted more, and what a person sets for the tool comes first', () => {
    const limits = { timeout_ms: 600_000, default_timeout_ms: 60_000 };
    expect(limitsOf({}, limits)).toEqual({ standardMs: 60_000, ceilingMs: 600_000 });
    expect(limitsOf({ default_ms: 90_000, max_ms: 900_000 }, limits)).toEqual({
      standardMs: 90_000,
      ceilingMs: 900_000,
    });
    const own = { one: { default_ms: 1_000, max_ms: 2_000 } };
    expect(limitsOf({ tools: own }, limits)).toEqual({ standardMs: 1_000, ceilingMs: 2_000 });
    expect(limitsOf({ tools: { one: { max_ms: 2_000 } } }, limits)).toEqual({ standardMs: 2_000, ceilingMs: 2_000 });
  });

  it('NFR-2.2 above 300 s is a grant, and a smaller limit of a tool does not lower what calls may ask for', () => {
    expect(manifestOf({ timeout_ms: 300_001 }).grants).toEqual(['limits:timeout_ms=300001']);
    expect(manifestOf({ timeout_ms: 300_000 }).grants).toEqual([]);
    expect(limitsOf({}, { timeout_ms: 5_000 })).toEqual({ standardMs: 30_000, ceilingMs: 300_000 });
    expect(() => manifestOf({ default_timeout_ms: 300_001 })).toThrow('default_timeout_ms');
  });

  it('NFR-2.2 is two minutes and up to an hour for safe_bash, as its own tool.json says', () => {
    const file = new URL('../../../tools/safe_bash/tool.json', import.meta.url);
    const { timeout } = checkConfig({}).config ?? never();
    const manifest = parseManifest('tool.json', readFileSync(file, 'utf8'));
    expect(timeoutLimits(timeout, manifest, manifest.profile.limits)).toEqual({
      standardMs: 120_000,
      ceilingMs: 3_600_000,
    });
  });
});

function never(): never {
  throw new Error('an empty configuration is valid');
}
