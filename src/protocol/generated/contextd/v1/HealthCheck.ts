// Original file: proto/contextd/v1/management.proto


export interface HealthCheck {
  'name'?: (string);
  /**
   * "ok", "warn" or "fail".
   */
  'status'?: (string);
  'detail'?: (string);
  /**
   * What to do about it; empty when ok.
   */
  'remedy'?: (string);
}

export interface HealthCheck__Output {
  'name': (string);
  /**
   * "ok", "warn" or "fail".
   */
  'status': (string);
  'detail': (string);
  /**
   * What to do about it; empty when ok.
   */
  'remedy': (string);
}
