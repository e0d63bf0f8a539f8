import { describe, expect, it } from 'vitest';
import type { ToolInfo } from '#src/call/management.js';
import { formatLock, isOfMachine, lockedTool, parseLock } from '#src/install/lock-file.js';

function installedFrom(source: string): ToolInfo {
  return {
    name: 'weather',
    purpose: 'x',
    origin: 'installed',
    grants: [],
    version: '1.0.0',
    schema_json: '{}',
    tool_md: '',
    tool_extended_md: '',
    bundle_sha256: 'ab'.repeat(32),
    accepted_ms: 0,
    last_used: '',
    schema_tokens: 0,
    state: '',
    installed_from: { source, commit: '', archive_sha256: '', signer: '' },
  };
}

describe('issue 17 part 2: contextd.lock', () => {
  it.each([
    ['/home/me/app/tools/weather', './tools/weather', false],
    ['/home/me/app/weather.tgz//x', './weather.tgz//x', false],
    ['/home/me/app', '.', false],
    ['/home/me/application/weather', '/home/me/application/weather', true],
    ['/srv/weather', '/srv/weather', true],
    ['git::file:///srv/weather@v1', 'git::file:///srv/weather@v1', true],
    ['github.com/org/weather@v1', 'github.com/org/weather@v1', false],
  ])('names %s as %s', (source, written, isOnlyHere) => {
    const entry = lockedTool(installedFrom(source), '/home/me/app');
    if (entry === null) throw new Error('no entry');
    expect(entry.source).toBe(written);
    expect(isOfMachine(entry)).toBe(isOnlyHere);
    expect(parseLock(formatLock([entry]))).toEqual([entry]);
  });

  it('SEC-2.1 takes no source with characters that do not print', () => {
    const entry = lockedTool(installedFrom('./tool'), '/');
    const text = formatLock(entry === null ? [] : [{ ...entry, source: './to\u202eol' }]);
    expect(() => parseLock(text)).toThrowError('"tools.weather" has no usable "source"');
  });
});
