// Original file: proto/contextd/v1/host.proto


/**
 * A request whose shape is JSON, described in the documentation of its method.
 */
export interface HostRequest {
  'call_id'?: (string);
  'json'?: (Buffer | Uint8Array | string);
}

/**
 * A request whose shape is JSON, described in the documentation of its method.
 */
export interface HostRequest__Output {
  'call_id': (string);
  'json': (Buffer);
}
