// Original file: proto/contextd/v1/management.proto


export interface CheckpointItem {
  'id'?: (string);
  'session'?: (string);
  /**
   * Empty: the base of the session.
   */
  'branch'?: (string);
  'name'?: (string);
  /**
   * asked, compaction, restore or import.
   */
  'cause'?: (string);
  /**
   * The last event that it covers; 0 if it was imported.
   */
  'position'?: (number);
  /**
   * Milliseconds since the epoch.
   */
  'created_ms'?: (number | string);
  /**
   * One line. Empty in CheckpointText.
   */
  'summary'?: (string);
}

export interface CheckpointItem__Output {
  'id': (string);
  'session': (string);
  /**
   * Empty: the base of the session.
   */
  'branch': (string);
  'name': (string);
  /**
   * asked, compaction, restore or import.
   */
  'cause': (string);
  /**
   * The last event that it covers; 0 if it was imported.
   */
  'position': (number);
  /**
   * Milliseconds since the epoch.
   */
  'created_ms': (number);
  /**
   * One line. Empty in CheckpointText.
   */
  'summary': (string);
}
