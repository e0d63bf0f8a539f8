import { isErrno } from '../../core/errors.ts';
import { exactStatAt, identityOf, linkTextAt, realPathOf } from './inode.ts';
import type { LinkState } from './protection.ts';
import type { RawPath } from './raw-path.ts';

/** `replaced`: something else is there now; `redirected`: the same link, but one on its way was changed. */
export interface LinkChange {
  readonly kind: 'none' | 'gone' | 'replaced' | 'redirected';
  /** Of what is there; empty when it is gone or cannot be looked at. */
  readonly identity: string;
}

/** A protected link as it is at this moment. */
export function linkStateAt(path: RawPath): LinkState {
  const target = realPathOf(path);
  const stats = target === null ? null : exactStatAt(target);
  return { text: linkTextAt(path), target, targetIdentity: stats === null ? '' : identityOf(stats) };
}

/** What became of a protected link, which no mount protects. */
export function compareLink(path: RawPath, before: LinkState): LinkChange {
  try {
    const stats = exactStatAt(path);
    if (stats === null) return { kind: 'gone', identity: '' };
    const identity = identityOf(stats);
    if (!stats.isSymbolicLink() || linkTextAt(path) !== before.text) return { kind: 'replaced', identity };
    const now = linkStateAt(path);
    const isSame = now.target === before.target && now.targetIdentity === before.targetIdentity;
    return { kind: isSame ? 'none' : 'redirected', identity };
  } catch (cause) {
    if (isErrno(cause)) return { kind: 'none', identity: '' };
    throw cause;
  }
}
