import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ContextdError, ERROR_TABLE } from '#src/core/errors.js';

const document = readFileSync(join(import.meta.dirname, '../../../docs/errors.md'), 'utf8');

describe('the closed table of error codes', () => {
  it('is the same in docs/errors.md and in the code, in both directions', () => {
    const documented = [...document.matchAll(/^\| ([A-Z_]+) \| (\w+) \| (yes|no) \| (\d+) \| (\d+) \|/gm)].map(
      ([, code, type, retryable, exit, http]) => [code, type, retryable, Number(exit), Number(http)],
    );
    const table = Object.entries(ERROR_TABLE).map(([code, row]) => [
      code,
      row.type,
      row.retryable ? 'yes' : 'no',
      row.exitCode,
      row.httpStatus,
    ]);
    expect(documented).toEqual(table);
  });

  it('pins the exit codes that scripts rely on', () => {
    const exits = Object.fromEntries(Object.entries(ERROR_TABLE).map(([code, row]) => [code, row.exitCode]));
    expect(exits).toMatchObject({
      ARGS_INVALID: 2,
      PERMISSION_DENIED: 3,
      INTEGRITY_FAILED: 4,
      DAEMON_UNAVAILABLE: 69,
      SANDBOX_UNAVAILABLE: 71,
      STORAGE_FULL: 74,
      RATE_LIMITED: 75,
      TIMEOUT: 124,
      CANCELLED: 130,
    });
  });

  it('never blames the caller for an unknown error', () => {
    const unknown = ContextdError.from(new TypeError('secret-in-a-message'));
    expect(unknown.code).toBe('INTERNAL_ERROR');
    expect(unknown.message).not.toContain('secret-in-a-message');
  });

  it('recognises a full disk', () => {
    const full = Object.assign(new Error('write'), { code: 'ENOSPC', path: '/x' });
    expect(ContextdError.from(full).code).toBe('STORAGE_FULL');
  });
});
