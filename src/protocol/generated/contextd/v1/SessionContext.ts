// Original file: proto/contextd/v1/management.proto


export interface SessionContext {
  'session'?: (string);
  /**
   * Of the newest event that was read.
   */
  'position'?: (number | string);
  'text'?: (string);
  'sha256'?: (string);
  /**
   * What became of every candidate, as a JSON object.
   */
  'stats_json'?: (string);
}

export interface SessionContext__Output {
  'session': (string);
  /**
   * Of the newest event that was read.
   */
  'position': (number);
  'text': (string);
  'sha256': (string);
  /**
   * What became of every candidate, as a JSON object.
   */
  'stats_json': (string);
}
