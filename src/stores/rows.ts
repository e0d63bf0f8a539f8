import { ContextdError } from '../core/errors.ts';
import type { Row } from './sqlite.ts';

export function textOf(row: Row, column: string): string {
  const value = row[column];
  return typeof value === 'string' ? value : wrongType(column, 'text');
}

export function integerOf(row: Row, column: string): number {
  const value = row[column];
  return typeof value === 'number' ? value : wrongType(column, 'an integer');
}

export function bytesOf(row: Row, column: string): Buffer {
  const value = row[column];
  return value instanceof Uint8Array
    ? Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    : wrongType(column, 'bytes');
}

function wrongType(column: string, expected: string): never {
  throw new ContextdError('INTERNAL_ERROR', `column ${column} of the state database is not ${expected}`, {
    remedy: 'Run `ctxd doctor`.',
  });
}
