// Original file: proto/contextd/v1/management.proto


export interface NewMemories {
  /**
   * Project root.
   */
  'root'?: (string);
  /**
   * One JSON object each, as UTF-8 text: {title, description, content, tags, outcome, task, context}. At most 500.
   */
  'drafts_json'?: (string)[];
  /**
   * Where they come from; empty means that the person wrote them. What is imported is merged only with the same words.
   */
  'source'?: (string);
}

export interface NewMemories__Output {
  /**
   * Project root.
   */
  'root': (string);
  /**
   * One JSON object each, as UTF-8 text: {title, description, content, tags, outcome, task, context}. At most 500.
   */
  'drafts_json': (string)[];
  /**
   * Where they come from; empty means that the person wrote them. What is imported is merged only with the same words.
   */
  'source': (string);
}
