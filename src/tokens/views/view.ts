import type { JsonObject } from '../../core/json.ts';

/** Which part of an output an answer shows (the common option `view`), parsed by read-view.ts. */
export type View = TextView & {
  /** The stream it is about, such as "stderr"; null: all of them, or the first with text if only one is possible. */
  stream: string | null;
  /** False: shown as it is stored, without any densification. */
  densify: boolean;
};

export type TextView =
  /** The first or last lines that fit, at most `lines` of them (null: as many as fit). */
  | { name: 'head' | 'tail'; lines: number | null }
  | { name: 'head_tail' }
  /** Both ends included; lines from 1, bytes from 0; `last` Infinity: to the end. */
  | { name: 'lines' | 'bytes'; first: number; last: number }
  /** RE2 syntax; lines around each match. */
  | { name: 'grep'; pattern: string; before: number; after: number }
  | { name: 'errors'; context: number }
  | { name: 'json_path'; path: string }
  /** `keys` null: which keys there are; else the object with these alone. */
  | { name: 'json_keys'; path: string; keys: readonly string[] | null }
  /** Data rows from 1, both ends included, under their heading. `columns` null: all. */
  | { name: 'rows'; first: number; last: number; columns: readonly string[] | null }
  /** Against an `art_` id; null: the last output of the same command before. */
  | { name: 'diff'; against: string | null }
  | { name: 'digest'; query: string };

export type ViewName = TextView['name'];

/** What a view makes of one text. `facts` are small and go to `meta.view`. */
export type Viewed =
  /** A part of the text itself, UTF-16 offsets. */
  | { kind: 'range'; start: number; end: number; facts: JsonObject }
  /** A text made from it. `cut`: which end stays when it is too long. */
  | { kind: 'text'; text: string; facts: JsonObject; cut: 'head' | 'head_tail' };
