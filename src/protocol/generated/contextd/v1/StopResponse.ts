// Original file: proto/contextd/v1/management.proto


export interface StopResponse {
  'pid'?: (number);
  'active_calls'?: (number);
}

export interface StopResponse__Output {
  'pid': (number);
  'active_calls': (number);
}
