// Original file: proto/contextd/v1/host.proto


export interface ScrubRequest {
  'call_id'?: (string);
  'texts'?: (string)[];
}

export interface ScrubRequest__Output {
  'call_id': (string);
  'texts': (string)[];
}
