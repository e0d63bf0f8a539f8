import { ContextdError } from '../../core/errors.ts';
import type { LedgerItem } from './ledger-file.ts';
import { toText } from './raw-path.ts';

// Why a decision on a set-aside path was refused.

export function notFound(which: string): ContextdError {
  return new ContextdError('PATH_NOT_FOUND', `nothing that was set aside is named ${JSON.stringify(which)}`, {
    remedy: 'Name an id, or eight or more digits of a hash, from `ctxd quarantine list`.',
  });
}

export function notAccepted(which: string): ContextdError {
  return new ContextdError('PATH_NOT_FOUND', `nothing is accepted at or as ${JSON.stringify(which)}`, {
    remedy: 'Name a path, or eight or more digits of a hash, from `ctxd quarantine list`.',
  });
}

export function isAmbiguous(which: string, items: readonly LedgerItem[]): ContextdError {
  const ids = items.map(({ id, path }) => `${id} (${toText(path)})`);
  return new ContextdError('CONFLICT', `${which} names ${items.length} set-aside paths: ${ids.join(', ')}`, {
    remedy: 'Name one by its id, or by more digits of its hash.',
  });
}

export function isTaken({ id, path }: LedgerItem): ContextdError {
  return new ContextdError('CONFLICT', `${toText(path)} exists, so ${id} cannot be put back there`, {
    remedy: `Move ${toText(path)} away first.`,
  });
}

export function isBusy({ id, path }: LedgerItem): ContextdError {
  return new ContextdError('CONFLICT', `${toText(path)} cannot be put back while a command runs: it could change it`, {
    remedy: `Wait for the command to end, or accept what it holds now: \`ctxd quarantine accept ${id}\`.`,
  });
}

export function hasChanged({ id, moved }: LedgerItem): ContextdError {
  return new ContextdError('CONFLICT', `${toText(moved)} is not what was shown: its content changed`, {
    remedy: `Look at it again: \`ctxd quarantine accept ${id}\`.`,
  });
}
