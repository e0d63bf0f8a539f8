// Original file: proto/contextd/v1/management.proto

import type { UndoFile as _contextd_v1_UndoFile, UndoFile__Output as _contextd_v1_UndoFile__Output } from '../../contextd/v1/UndoFile.ts';

export interface UndoPlan {
  'ref'?: (string);
  'request_id'?: (string);
  'tool'?: (string);
  /**
   * When the call ended, in milliseconds since the epoch.
   */
  'at_ms'?: (number | string);
  'files'?: (_contextd_v1_UndoFile)[];
  /**
   * What changed and is not covered, as "path: why".
   */
  'not_covered'?: (string)[];
  /**
   * Other calls worked in the project meanwhile: some of the changes may be theirs.
   */
  'shared'?: (boolean);
  /**
   * By which the undo itself can be undone; empty in a plan, and if nothing was put back.
   */
  'undone_by'?: (string);
}

export interface UndoPlan__Output {
  'ref': (string);
  'request_id': (string);
  'tool': (string);
  /**
   * When the call ended, in milliseconds since the epoch.
   */
  'at_ms': (number);
  'files': (_contextd_v1_UndoFile__Output)[];
  /**
   * What changed and is not covered, as "path: why".
   */
  'not_covered': (string)[];
  /**
   * Other calls worked in the project meanwhile: some of the changes may be theirs.
   */
  'shared': (boolean);
  /**
   * By which the undo itself can be undone; empty in a plan, and if nothing was put back.
   */
  'undone_by': (string);
}
