import { resolvedView } from '../../../text/resolved-view.ts';
import type { ViewOf } from '../../../text/view.ts';
import { ascii85Decoded } from './ascii85.ts';
import { base32Decoded } from './base32.ts';
import { base64Decoded } from './base64.ts';
import { inPlainLetters } from './compatibility.ts';
import { inflated } from './compressed.ts';
import { joinedStrings } from './concatenations.ts';
import { dumpsRead } from './dumps.ts';
import { withoutEntities } from './entities.ts';
import { unescaped } from './escapes.ts';
import { hexDecoded } from './hex.ts';
import { withoutInvisible } from './invisible.ts';
import { asShown } from './overwrites.ts';
import { percentDecoded } from './percent.ts';
import { quotedPrintableDecoded } from './quoted-printable.ts';
import { withoutSpacing } from './spaced-letters.ts';
import { withoutTerminalCodes } from './terminal-codes.ts';
import { unwrapped } from './wraps.ts';

export interface ViewKind {
  of: ViewOf;
  /** Views of a view are of its own layer or a deeper one; but what was unescaped or decoded may hold any. */
  layer: 'display' | 'escape' | 'joint' | 'code';
  /** How often one may be taken of the other. */
  times: number;
  /** Whether ordinary text can come to look like a secret in it: then only findings with a mark of their own count. */
  needsMark: boolean;
  /** Read however long the other views are: a later step may show the text like this. Default false. */
  isAlwaysRead?: boolean;
}

/** In the order in which they are tried. */
export const VIEW_KINDS: readonly ViewKind[] = [
  { of: resolvedView, layer: 'display', times: 1, needsMark: false, isAlwaysRead: true },
  { of: withoutTerminalCodes, layer: 'display', times: 1, needsMark: false },
  { of: withoutInvisible, layer: 'display', times: 1, needsMark: false },
  { of: asShown, layer: 'display', times: 1, needsMark: false },
  { of: inPlainLetters, layer: 'display', times: 1, needsMark: false },
  { of: unescaped, layer: 'escape', times: 3, needsMark: false },
  { of: withoutEntities, layer: 'escape', times: 2, needsMark: false },
  { of: percentDecoded, layer: 'escape', times: 2, needsMark: false },
  { of: quotedPrintableDecoded, layer: 'escape', times: 1, needsMark: false },
  { of: unwrapped, layer: 'joint', times: 1, needsMark: true },
  { of: joinedStrings, layer: 'joint', times: 1, needsMark: true },
  { of: withoutSpacing, layer: 'joint', times: 1, needsMark: true },
  { of: base64Decoded, layer: 'code', times: 1, needsMark: false },
  { of: inflated, layer: 'code', times: 1, needsMark: false },
  { of: base32Decoded, layer: 'code', times: 1, needsMark: false },
  { of: ascii85Decoded, layer: 'code', times: 1, needsMark: false },
  { of: hexDecoded, layer: 'code', times: 1, needsMark: false },
  { of: dumpsRead, layer: 'code', times: 1, needsMark: false },
];
