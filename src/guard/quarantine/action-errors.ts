import { ContextdError } from '../../core/errors.ts';
import { type RawPath, toText } from '../../fs/raw-path.ts';
import type { LedgerItem } from './ledger.ts';

/** Why a person's act on set-aside files fails. Each remedy is a command or an act that lets it succeed. */

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

export function hasNoParent({ id, path }: LedgerItem, parent: RawPath): ContextdError {
  return new ContextdError(
    'PATH_NOT_FOUND',
    `${id} cannot be put back: ${toText(parent)} is not a directory any more`,
    {
      remedy: `Make the directory of ${toText(path)} again, then repeat this.`,
    },
  );
}

export function notRemoved({ path }: LedgerItem, moved: RawPath): ContextdError {
  const text = `the directory ${toText(moved)}, set aside from ${toText(path)}, is not on the file system of contextd's state`;
  return new ContextdError('CONFLICT', text, { remedy: `Remove it yourself: \`rm -r ${toText(moved)}\`.` });
}

export function isInPlace({ id, path }: LedgerItem): ContextdError {
  return new ContextdError('CONFLICT', `${toText(path)} was only reported and is in its place`, {
    remedy: `Accept what it holds: \`ctxd quarantine accept ${id}\`. Otherwise remove the file itself.`,
  });
}

export function isBusy({ id, path }: LedgerItem): ContextdError {
  return new ContextdError('CONFLICT', `${toText(path)} cannot be put back while a command runs: it could change it`, {
    remedy: `Wait for the command to end, or accept what it holds now: \`ctxd quarantine accept ${id}\`.`,
  });
}

export function hasChanged({ id, moved }: LedgerItem): ContextdError {
  return new ContextdError('CONFLICT', `${toText(moved)} is not what was shown: its content changed`, {
    remedy: `Look at it again: \`ctxd quarantine list\` or \`ctxd quarantine accept ${id}\`; then repeat this.`,
  });
}

export function notShown({ moved }: LedgerItem): ContextdError {
  return new ContextdError('CONFLICT', `what ${toText(moved)} holds was not shown to a person yet`, {
    remedy: 'Look at it: `ctxd quarantine list`. Then repeat this.',
  });
}
