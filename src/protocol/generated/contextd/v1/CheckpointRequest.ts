// Original file: proto/contextd/v1/management.proto


export interface CheckpointRequest {
  /**
   * Project root.
   */
  'root'?: (string);
  /**
   * Only those of this session; empty: of every session. For a list only.
   */
  'session'?: (string);
  /**
   * Of the checkpoint. Not for a list.
   */
  'id'?: (string);
  /**
   * summary, context or full; empty: context. To read one only.
   */
  'level'?: (string);
  /**
   * report: how the files of the project differ; apply: puts them back. Empty: neither. To read one only.
   */
  'files'?: (string);
}

export interface CheckpointRequest__Output {
  /**
   * Project root.
   */
  'root': (string);
  /**
   * Only those of this session; empty: of every session. For a list only.
   */
  'session': (string);
  /**
   * Of the checkpoint. Not for a list.
   */
  'id': (string);
  /**
   * summary, context or full; empty: context. To read one only.
   */
  'level': (string);
  /**
   * report: how the files of the project differ; apply: puts them back. Empty: neither. To read one only.
   */
  'files': (string);
}
