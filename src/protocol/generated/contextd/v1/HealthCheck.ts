// Original file: proto/contextd/v1/management.proto


export interface HealthCheck {
  'name'?: (string);
  /**
   * "ok", "warn" or "fail".
   */
  'status'?: (string);
  'detail'?: (string);
  /**
   * How to fix it; empty if ok.
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
   * How to fix it; empty if ok.
   */
  'remedy': (string);
}
